"""Deployments held to their limits: what is met, what is broken by how much, and the nearest change that mends it."""
