"""What a board shows, and in which form."""
