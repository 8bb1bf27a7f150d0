"""Scores of runs, and tests of their differences."""
