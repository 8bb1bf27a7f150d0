"""The pages: each fetches or says 404, checks, calls one verb, and prints."""
