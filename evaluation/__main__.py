"""The command line: `python -m evaluation score QRELS RUN -m nDCG@10`.

A command is a module of `evaluation.commands` with `parser()` and `run(options)`; it is
imported only when it is run, so that scoring loads nothing but numpy.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from evaluation.measures import MeasureError

COMMANDS = {
    "score": "score runs against judgments, as trec_eval -q -c does",
    "compare": "compare runs with a baseline: differences, intervals, p-values",
    "pairs": "compare all pairs of runs, with rank intervals and letters",
    "agree": "compare how measures rank runs: Kendall's tau, tau_AP",
    "overlap": "compare two rankings without judgments: rank-biased overlap",
    "kappa": "compare the grades of assessors: kappa, alpha, overlap",
    "settle": "settle the marks of assessors: one grade per document",
    "curve": "print precision and recall, of all topics or of one",
    "bounds": "show how far further judgments could change scores",
    "check": "report all problems of a run or of judgments",
    "pool": "list documents to judge, from the top of each run",
    "simulate": "simulate judging: what each order of judging finds, and when to stop",
    "plan": "plan the number of topics and the depth of a pool",
    "reuse": "test judgments for new runs: exclude one team at a time",
    "measures": "list all measures with formulas and names",
}
USAGE_ERROR = 2
PROGRAM = "python -m evaluation"


def usage() -> str:
    commands = "\n".join(f"  {name:<10}{what}" for name, what in COMMANDS.items())
    return (
        f"usage: {PROGRAM} COMMAND ...\n\n{commands}\n\nSee {PROGRAM} COMMAND --help for options."
    )


def main(arguments: Sequence[str], program: str = PROGRAM) -> int:
    """Run one command and return its exit status, which the help of the command explains.

    `program` is how its help names what was typed before the command.
    """
    if not arguments or arguments[0] not in COMMANDS:
        asked_for = bool(arguments) and arguments[0] in ("-h", "--help")
        print(usage(), file=sys.stdout if asked_for else sys.stderr)
        return 0 if asked_for else USAGE_ERROR
    command = import_module(f"evaluation.commands.{arguments[0]}")
    parser = command.parser()
    parser.prog = f"{program} {arguments[0]}"
    options = parser.parse_intermixed_args(arguments[1:])
    try:
        status: int = command.run(options)
        return status
    except MeasureError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return USAGE_ERROR


def end_with_reader() -> None:
    """End without a traceback if a reader such as `head` closes the pipe early."""
    with contextlib.suppress(AttributeError):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


if __name__ == "__main__":
    end_with_reader()
    sys.exit(main(sys.argv[1:]))
