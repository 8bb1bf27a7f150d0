"""Downloads of results, tracks and whole sites, and their import."""
