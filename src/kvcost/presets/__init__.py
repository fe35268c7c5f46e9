"""Preset files: a deployment in YAML → the words of options, its limits, and where each of them stands."""
