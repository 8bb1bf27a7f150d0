"""Readers of uploaded files: containers, runs, qrels, topics, documents.

A reader takes a binary file, never a path, and decides by the bytes alone. Strict readers scan
the whole file and raise `Refused` with every problem; lenient ones accept what trec_eval accepts.
"""
