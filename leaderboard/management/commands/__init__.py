"""The commands of `manage.py`, each a module."""
