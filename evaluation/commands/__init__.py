"""The commands of `python -m evaluation`, one module each, and what they share."""
