"""The command line: `python -m evaluation score QRELS RUN -m nDCG@10`.

A command is a module of `evaluation.commands` with `parser()` and `run(options)`; it is
imported only when it is run, so that scoring loads nothing but numpy. The module of a command of
two words, such as `answers check`, is in the package of the first.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from evaluation.commands.arguments import add_json_option
from evaluation.measures import MeasureError

COMMANDS = {
    "score": "score runs against judgments, as trec_eval -q -c does",
    "compare": "compare runs with a baseline: differences, intervals, p-values",
    "pairs": "compare all pairs of runs, with rank intervals and letters",
    "agree": "compare how measures rank runs: Kendall's tau, tau_AP",
    "overlap": "compare two rankings without judgments: rank-biased overlap",
    "kappa": "compare the grades of assessors: kappa, alpha, overlap",
    "judges": "rank judges by their agreement with people, and compare them",
    "battles": "rank runs by votes on pairs: strengths, intervals, ranks and letters",
    "settle": "settle the marks of assessors: one grade per document",
    "curve": "print precision and recall, of all topics or of one",
    "bounds": "show how far further judgments could change scores",
    "check": "report all problems of a run or of judgments",
    "convert": "write judgments or a golden set in another format",
    "pool": "list documents to judge, from the top of each run",
    "simulate": "simulate judging: what each order of judging finds, and when to stop",
    "plan": "plan the number of topics and the depth of a pool",
    "reuse": "test judgments for new runs: exclude one team at a time",
    "measures": "list all measures with formulas and names",
    "answers check": "report all problems of a run of answers",
    "answers compare": "compare runs of answers with a baseline, as compare does",
    "answers convert": "write answers, nuggets or marks in another format",
    "answers pairs": "compare all pairs of runs of answers, as pairs does",
    "answers ranking": "write the documents of a run of answers as a run",
    "answers score": "score runs of answers by nuggets, support and documents",
}
OF_ANSWERS = "--answers"
USAGE_ERROR = 2
PROGRAM = "python -m evaluation"


def usage() -> str:
    commands = "\n".join(f"  {name:<17}{what}" for name, what in COMMANDS.items())
    return (
        f"usage: {PROGRAM} COMMAND ...\n\n{commands}\n\nSee {PROGRAM} COMMAND --help for options."
    )


def find_command(arguments: Sequence[str]) -> str:
    """Return the command that the first one or two words name; empty if they name none.

    >>> find_command(["score", "qrels"]), find_command(["answers", "check"]), find_command([])
    ('score', 'answers check', '')
    """
    names = (" ".join(arguments[:words]) for words in (1, 2))
    return next((name for name in names if name in COMMANDS), "")


def spell_out(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with `compare --answers` as `answers compare`.

    >>> spell_out(["compare", "a", "b", "--answers"]), spell_out(["measures", "--answers"])
    (['answers', 'compare', 'a', 'b'], ['measures', '--answers'])
    """
    is_of_answers = OF_ANSWERS in arguments and f"answers {arguments[0]}" in COMMANDS
    if not is_of_answers:
        return list(arguments)
    return ["answers", *(each for each in arguments if each != OF_ANSWERS)]


def module_of(command: str) -> str:
    return f"evaluation.commands.{command.replace(' ', '.')}"


def main(arguments: Sequence[str], program: str = PROGRAM) -> int:
    """Run one command and return its exit status, which the help of the command explains.

    `program` is how its help names what was typed before the command.
    """
    arguments = spell_out(arguments)
    name = find_command(arguments)
    if not name:
        asked_for = bool(arguments) and arguments[0] in ("-h", "--help")
        print(usage(), file=sys.stdout if asked_for else sys.stderr)
        return 0 if asked_for else USAGE_ERROR
    command = import_module(module_of(name))
    parser = command.parser()
    parser.prog = f"{program} {name}"
    add_json_option(parser)
    options = parser.parse_intermixed_args(arguments[len(name.split()) :])
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
