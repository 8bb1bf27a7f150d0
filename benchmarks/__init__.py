"""How fast, how small, against what: every table that this project claims, made again here."""

import os

# As on a site, and before numpy is loaded: threads that wait for each other count as work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
