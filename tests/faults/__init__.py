"""Faults made for real on real processes, and the invariants that hold after each of them."""
