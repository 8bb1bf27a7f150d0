"""The library in Python: whole evaluations from files and objects, as results that print."""
