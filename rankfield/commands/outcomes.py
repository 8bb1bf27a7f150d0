"""How a command that calls a site ends, for scripts and CI."""

from __future__ import annotations

OK = 0
WORSE = 1
REJECTED = 2
NOT_REACHED = 3
CANNOT_TELL = 4

EXIT_STATUS = """
Exit status: 0; 1 with --fail-if-worse or --margin when a run is worse; 2 when a file or the request
is rejected or the command is wrong; 3 when the site is not reached or not done in time; 4 with
--require-pass when the gate cannot tell.
"""
