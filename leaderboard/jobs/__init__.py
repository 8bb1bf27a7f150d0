"""The queue of slow work, the table of its kinds, and the workers that do it."""
