"""Rankfield: leaderboards for ranked retrieval."""

import os

# Read when numpy is first imported: matrices here are small, and threads of BLAS would only
# take the cores from each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
