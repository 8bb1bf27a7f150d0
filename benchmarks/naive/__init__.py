"""Boards as one would first write them: a row for every run, measure and topic."""
