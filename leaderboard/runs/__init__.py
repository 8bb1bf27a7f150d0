"""The facts of a run, its ranking file, its duplicates and its place in a quota."""
