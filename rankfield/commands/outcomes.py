"""How a command that calls a site ends, for scripts and CI."""

from __future__ import annotations

OK = 0
WORSE = 1
REJECTED = 2
NOT_REACHED = 3

EXIT_STATUS = """
Exit status: 0; 1 with --fail-if-worse when a run is significantly worse; 2 when a file or the
request is rejected or the command is wrong; 3 when the site is not reached or not done in time.
"""
