"""Slow work, done once: the queue, the table of its kinds, and the workers that do it."""
