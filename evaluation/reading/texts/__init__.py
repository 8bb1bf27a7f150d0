"""Texts: the common form of all formats of topics and documents."""
