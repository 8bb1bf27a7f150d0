"""Problems in a submitted file, with hints for its author.

A reader does not stop at the first error: it collects a `Problem` for each and raises `Refused`
with all of them after the whole file has been read.

    >>> problems = Problems()
    >>> problems.error("E_SCORE", 12, "the score is not a finite number", found="nan")
    >>> problems.warn("W_BLANK", 13, "blank lines are ignored")
    >>> problems.totals()
    {'E_SCORE': 1, 'W_BLANK': 1}
    >>> problems.raise_if_refused()
    Traceback (most recent call last):
    evaluation.problems.Refused: line 12: E_SCORE: the score is not a finite number: "nan"
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NoReturn, TypedDict, Unpack

Severity = Literal["error", "warning", "note"]

KEPT = 100_000
ECHOED = 200
# More faults of one kind than this, in nearly every line, are one problem.
FEW = 50
NEARLY_ALL = 0.9
# How to fix an error, where its reader gives no better hint.
MENDS = {
    "E_EMPTY": "Is this the right file, and was it written to its end?",
    "E_COLUMNS": "Is a value missing in this line, or is a blank or a separator within one?",
    "E_TOPIC": "Give each topic a number of one word.",
    "E_DOCID": "Give each document a docno of one word.",
    "E_DUP_ID": "Keep one of them, or give it a docno of its own.",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a file; `line` is the physical line from 1, None for the whole file.

    `count` is how often it occurs, `line` the first of them. Where it can be repaired, `fix`
    names the repair, of `reading.repairs.FIXES`, and the hint ends with it as a question;
    `suggested` is the tag that the repair would use.
    """

    code: str
    severity: Severity
    line: int | None
    message: str
    found: str = ""
    hint: str = ""
    count: int = 1
    fix: str = ""
    suggested: str = ""

    def __str__(self) -> str:
        where = "" if self.line is None else f"line {self.line}: "
        found = f': "{self.found}"' if self.found else ""
        return f"{where}{self.code}: {self.message}{found}"


class Refused(Exception):
    """A file that cannot be used; `problems` holds all its problems."""

    def __init__(self, problems: Problems) -> None:
        super().__init__(str(next(problems.of("error"), "refused")))
        self.problems = problems


class More(TypedDict, total=False):
    """What else a problem says of itself; `topic` and `sentence` are of answers alone."""

    count: int
    fix: str
    suggested: str
    topic: str
    sentence: int | None


@dataclass
class Problems:
    """The problems of one file in the order in which they were found.

    Every problem is counted; the first `keep` are stored. Reading ends with E_TOO_MANY_ERRORS
    after `most` errors.
    """

    keep: int = KEPT
    most: int | None = None
    kept: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    errors: int = 0

    made: ClassVar[Callable[..., Problem]] = Problem

    def error(
        self,
        code: str,
        line: int | None,
        message: str,
        found: str | bytes = "",
        hint: str = "",
        **more: Unpack[More],
    ) -> None:
        """Collect an error; raises `Refused` once there are `most`."""
        self.errors += 1
        hint = hint or MENDS.get(code, "")
        self._add(self.made(code, "error", line, message, shown(found), hint, **more))
        if self.errors == self.most:
            self._end(line)

    def warn(
        self,
        code: str,
        line: int | None,
        message: str,
        found: str | bytes = "",
        hint: str = "",
        **more: Unpack[More],
    ) -> None:
        self._add(self.made(code, "warning", line, message, shown(found), hint, **more))

    def note(
        self, code: str, line: int | None, message: str, found: str | bytes = "", hint: str = ""
    ) -> None:
        self._add(self.made(code, "note", line, message, shown(found), hint))

    def _end(self, line: int | None) -> NoReturn:
        message = f"checking stopped after {self.most:,} errors"
        self._add(self.made("E_TOO_MANY_ERRORS", "error", line, message))
        raise Refused(self)

    def _add(self, problem: Problem) -> None:
        self.counts[problem.code] += 1
        if len(self.kept) < self.keep:
            self.kept.append(problem)

    def fold(self, lines: int) -> None:
        """Join problems that report the same fault on nearly all `lines` of the file.

        >>> problems = Problems()
        >>> for line in range(1, 101):
        ...     problems.error("E_SCORE", line, "the score is not a number", found="nan")
        >>> problems.fold(100)
        >>> print(*problems)
        line 1: E_SCORE: the score is not a number, in all 100 lines: "nan"
        """
        if len(self.kept) <= FEW:
            return
        alike: dict[tuple[str, str], list[Problem]] = defaultdict(list)
        for problem in self.kept:
            if problem.line is not None:
                alike[problem.code, problem.message].append(problem)
        for (code, message), group in alike.items():
            if len(group) <= FEW or len(group) < NEARLY_ALL * min(lines, self.keep - 1):
                continue
            # What was counted beyond those kept is of the same kind.
            count = self.counts[code] - sum(p.code == code for p in self.kept) + len(group)
            self.counts[code] -= count - 1
            self.errors -= count - 1 if group[0].severity == "error" else 0
            where = among(count, max(count, lines))
            folded = replace(group[0], message=message + where, count=count)
            left_out = set(map(id, group[1:]))
            self.kept = [p for p in self.kept if id(p) not in left_out]
            self.kept[self.kept.index(group[0])] = folded

    def copy(self) -> Problems:
        """The same problems so far; what is added to one is not added to the other."""
        return replace(self, kept=list(self.kept), counts=self.counts.copy())

    def of(self, severity: Severity) -> Iterator[Problem]:
        return (problem for problem in self.kept if problem.severity == severity)

    def totals(self) -> dict[str, int]:
        """Return the count of each code, in the order of first occurrence."""
        return dict(self.counts)

    def raise_if_refused(self) -> None:
        if self.errors:
            raise Refused(self)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.kept)

    def __len__(self) -> int:
        return self.counts.total()


def among(count: int, lines: int) -> str:
    """
    >>> among(7, 7), among(2, 7)
    (', in all 7 lines', ', in 2 of 7 lines')
    """
    return f", in all {count:,} lines" if count == lines else f", in {count:,} of {lines:,} lines"


def shown(found: str | bytes) -> str:
    """Return untrusted text, truncated and made printable.

    >>> shown(b"caf\\xe9\\x00")
    'caf\\\\xe9\\\\x00'
    """
    if isinstance(found, bytes):
        found = found[: ECHOED + 1].decode("utf-8", "backslashreplace")
    found = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in found[: ECHOED + 1]
    )
    return found if len(found) <= ECHOED else found[: ECHOED - 1] + "…"


def refuse(
    code: str, message: str, found: str | bytes = "", hint: str = "", line: int | None = None
) -> Refused:
    """Return a Refused exception with a single problem."""
    problems = Problems()
    problems.error(code, line, message, found, hint)
    return Refused(problems)
