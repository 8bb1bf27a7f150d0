"""What a process has done before the first reader comes."""

from __future__ import annotations

import subprocess
import sys


def test_whoever_comes_first_waits_for_no_import():
    words = "import sys, leaderboard.wsgi; print('leaderboard.pages.views.boards' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert said.stdout == "True\n"
