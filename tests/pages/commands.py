"""The commands that pages tell, run as a reader would: elsewhere, with the files beside them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path

TAG = re.compile(r"</?span>")
ROOT = Path(__file__).parents[2]


def printed_by(command: str, folder: Path, *more: str) -> str:
    """What a command prints in a folder that holds its files."""
    python, *words = shlex.split(command)
    assert python == "python"
    return subprocess.run(
        [sys.executable, *words, *more],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def commands(page: str) -> list[str]:
    """Those that a page tells, without the marks between which their lines break."""
    return [unescape(TAG.sub("", each)) for each in re.findall(r"<pre>(.*?)</pre>", page)]
