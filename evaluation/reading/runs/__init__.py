"""Runs: read, checked line by line and as a whole, kept as rankings."""
