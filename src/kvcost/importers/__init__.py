"""Models and measurements from other people's files."""
