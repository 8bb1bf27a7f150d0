"""The compiled scanner of Rankfield: a library that reads the lines of a run in one pass.

`evaluation` finds `LIBRARY` where this is installed, and reads the same without it.
"""

from __future__ import annotations

import os
from pathlib import Path

SOURCE = Path(__file__).with_name("scanner.c")
LIBRARY = Path(__file__).with_name("scanner.so")
OPTIONS = ("-std=c11", "-O3", "-fPIC", "-shared", "-Wall", "-Wextra")


def compile_library(target: Path, *options: str) -> None:
    """Compile the library by the compiler that `CC` names, or `cc`, with further options.

    Raises FileNotFoundError without a compiler, CalledProcessError if it refuses.
    """
    # Who only uses the library need not wait for this.
    import subprocess

    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, *OPTIONS, *options, "-o", target, SOURCE], check=True)
