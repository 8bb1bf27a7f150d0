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

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

Severity = Literal["error", "warning", "note"]

KEPT = 100_000
ECHOED = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a file; `line` is the physical line from 1, None for the whole file."""

    code: str
    severity: Severity
    line: int | None
    message: str
    found: str = ""
    hint: str = ""

    def __str__(self) -> str:
        where = "" if self.line is None else f"line {self.line}: "
        found = f': "{self.found}"' if self.found else ""
        return f"{where}{self.code}: {self.message}{found}"


class Refused(Exception):
    """A file that cannot be used; `problems` holds all its problems."""

    def __init__(self, problems: Problems) -> None:
        super().__init__(str(next(problems.of("error"), "refused")))
        self.problems = problems


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

    def error(
        self, code: str, line: int | None, message: str, found: str | bytes = "", hint: str = ""
    ) -> None:
        self.errors += 1
        self._add(code, "error", line, message, found, hint)
        if self.errors == self.most:
            message = f"checking stopped after {self.most:,} errors"
            self._add("E_TOO_MANY_ERRORS", "error", line, message, "", "")
            raise Refused(self)

    def warn(
        self, code: str, line: int | None, message: str, found: str | bytes = "", hint: str = ""
    ) -> None:
        self._add(code, "warning", line, message, found, hint)

    def note(
        self, code: str, line: int | None, message: str, found: str | bytes = "", hint: str = ""
    ) -> None:
        self._add(code, "note", line, message, found, hint)

    def _add(
        self,
        code: str,
        severity: Severity,
        line: int | None,
        message: str,
        found: str | bytes,
        hint: str,
    ) -> None:
        self.counts[code] += 1
        if len(self.kept) < self.keep:
            self.kept.append(Problem(code, severity, line, message, shown(found), hint))

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
