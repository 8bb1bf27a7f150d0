"""Numbers as text, and charts."""
