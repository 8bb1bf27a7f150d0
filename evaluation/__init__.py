"""Evaluation of ranked retrieval: read runs and qrels, judge, measure.

Bytes and arrays in, arrays out; this package knows no user, no database and no path.
"""
