"""Judging: files of judgments, of assessors' marks and of the grades of machines."""
