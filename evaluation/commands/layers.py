"""Files of marks of answers: what a command asks for them, and reading them.

A check of a run needs these too, so nothing here loads SciPy.
"""

from __future__ import annotations

import argparse
from typing import BinaryIO, TypeAlias

from evaluation.answers.assignment_files import read_assignments
from evaluation.answers.marks import AssignmentLayer, SupportLayer
from evaluation.answers.nugget_files import read_nuggets
from evaluation.answers.nuggets import NuggetBank
from evaluation.answers.support_files import read_support
from evaluation.commands import files
from evaluation.commands.answers.inputs import open_run
from evaluation.problems import Refused

Layer: TypeAlias = AssignmentLayer | SupportLayer


def read_bank(path: str) -> NuggetBank:
    """The nuggets of a file; raises `RefusedOption`, OSError."""
    try:
        with open_run(path) as file:
            return read_nuggets(file, name=path)
    except Refused as refusal:
        raise files.RefusedOption(path, refusal.problems) from None


def read_layer(file: BinaryIO, about: str, bank: NuggetBank | None, run: str = "") -> Layer:
    """The marks of a file, of `run` where it names none; raises `Refused`."""
    if about == "nugget":
        return read_assignments(file, bank, run=run)
    return read_support(file, run=run)


def add_about_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--about", choices=("nugget", "support"), help="the files are marks of answers"
    )
    parser.add_argument("--nuggets", metavar="FILE", help="nuggets that marks name by position")
