"""What a run is: its facts, its ranking file, its duplicates and its place in a quota."""
