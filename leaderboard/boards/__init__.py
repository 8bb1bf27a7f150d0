"""What a board shows, and who sees it."""
