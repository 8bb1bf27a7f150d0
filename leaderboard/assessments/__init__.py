"""Judging a pool on the site: who judges what, in which order, and every mark."""
