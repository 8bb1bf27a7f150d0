"""Runs become scores, and scores become tests."""
