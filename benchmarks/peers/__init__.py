"""The programs that others use for the same work: where they are, and how each is asked.

Those from PyPI live in a virtual environment of their own under `benchmarks/cache`, made at the
first use; `trec_eval` is measured where it is on the PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.inputs import CACHE, Input, Kind
from benchmarks.peers.measures import MEASURES

VENV = CACHE / "peers"
PACKAGES = ("pytrec_eval-terrier==0.5.11", "ir_measures==0.4.3", "ranx==0.3.21")
Words = list[str | Path]


@dataclass(frozen=True)
class Program:
    """A program that reads a run and judgments and prints every measure of every topic."""

    name: str
    # The words of its command, from the judgments and the run.
    words: Callable[[Path, Path], Words]

    def command(self, asked: Input, kind: Kind | None = None) -> Words:
        """The command that scores an input, or one as a kind of system writes it."""
        if kind is None:
            return self.words(asked.qrels, asked.run)
        return self.words(asked.qrels_of(kind), asked.run_of(kind))


def _asked() -> list[str]:
    return [word for measure in MEASURES for word in ("-m", measure)]


def ours(name: str = "Rankfield", *options: str) -> Program:
    def words(qrels: Path, run: Path) -> Words:
        head = [sys.executable, "-m", "evaluation", "score", "-q", "-n", "--processes", "1"]
        return [*head, *options, *_asked(), qrels, run]

    return Program(name, words)


def our_reader() -> str:
    """Whether our programs read runs with the compiled scanner."""
    is_used = find_spec("rankfield_scanner") and os.environ.get("RANKFIELD_SCANNER") != "off"
    return f"{'with' if is_used else 'without'} the compiled scanner"


def trec_eval() -> Program | None:
    binary = shutil.which("trec_eval")
    if binary is None:
        return None
    head = [binary, "-q", "-c", *_asked()]
    return Program("trec_eval", lambda qrels, run: [*head, qrels, run])


def from_pypi(module: str) -> Program:
    program = Path(__file__).parent / f"by_{module}.py"
    python = environment() / "bin" / "python"
    return Program(module, lambda qrels, run: [python, program, qrels, run])


def environment() -> Path:
    """The virtual environment of the others, installed where it is missing."""
    if not (VENV / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        subprocess.run([VENV / "bin" / "pip", "install", "-q", *PACKAGES], check=True)
        (VENV / "ready").touch()
    return VENV


def known(name: str) -> list[Program | None]:
    """Those that are measured on an input, None for one that is not on this machine.

    ranx breaks ties otherwise, so its values are the same on L alone, where there are none.
    """
    from_everywhere = [trec_eval(), from_pypi("pytrec_eval")]
    if name == "L":
        return [*from_everywhere, from_pypi("ir_measures"), from_pypi("ranx")]
    return from_everywhere if name == "XL" else [*from_everywhere, from_pypi("ir_measures")]
