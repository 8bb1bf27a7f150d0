"""Fast: all lines of a block of columns, found and counted at once."""
