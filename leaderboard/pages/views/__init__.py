"""Views: each finds its objects or answers 404, calls one action and renders a page."""
