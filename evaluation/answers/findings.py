"""Problems of an answer run: those of any file, with the topic and the sentence.

>>> findings = Findings()
>>> findings.error("E_EMPTY_SENTENCE", 1, "sentence 2 has no text", topic="t1", sentence=2)
>>> print(*findings)
line 1, sentence 2: E_EMPTY_SENTENCE: sentence 2 has no text
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace

from evaluation.problems import FEW, Problem, Problems, Refused, shown

_SPECIFIC = re.compile(r"\S*\d\S*")


@dataclass(frozen=True, slots=True)
class Finding(Problem):
    """A problem of an answer; `sentence` counts from 1, None where it is about no sentence."""

    topic: str = ""
    sentence: int | None = None

    def __str__(self) -> str:
        lines = [] if self.line is None else [f"line {self.line}"]
        place = ", ".join([*lines, *([f"sentence {self.sentence}"] if self.sentence else [])])
        found = f': "{self.found}"' if self.found else ""
        return f"{place}{': ' if place else ''}{self.code}: {self.message}{found}"


@dataclass
class Findings(Problems):
    """The problems of an answer run; of one cause, 50 are kept and the others counted."""

    causes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def error(
        self,
        code: str,
        line: int | None,
        message: str,
        found: str | bytes = "",
        hint: str = "",
        *,
        count: int = 1,
        fix: str = "",
        suggested: str = "",
        topic: str = "",
        sentence: int | None = None,
    ) -> None:
        """Collect an error; raises `Refused` once there are `most`."""
        self.errors += 1
        found = shown(found)
        self._add(
            Finding(
                *(code, "error", line, message, found, hint, count, fix, suggested, topic),
                sentence,
            )
        )
        if self.errors == self.most:
            message = f"checking stopped after {self.most:,} errors"
            self.fold()
            self._add(Finding("E_TOO_MANY_ERRORS", "error", line, message))
            raise Refused(self)

    def warn(
        self,
        code: str,
        line: int | None,
        message: str,
        found: str | bytes = "",
        hint: str = "",
        *,
        count: int = 1,
        fix: str = "",
        topic: str = "",
        sentence: int | None = None,
    ) -> None:
        found = shown(found)
        self._add(
            Finding(*(code, "warning", line, message, found, hint, count, fix, "", topic), sentence)
        )

    def _add(self, problem: Problem) -> None:
        self.counts[problem.code] += 1
        cause = _cause(problem)
        self.causes[cause] += 1
        if self.causes[cause] <= FEW and len(self.kept) < self.keep:
            self.kept.append(problem)

    def fold(self, lines: int = 0) -> None:
        """Join the problems of every cause that was found more than 50 times."""
        kept: dict[tuple[str, str | int], Problem] = {}
        for place, problem in enumerate(self.kept):
            cause = _cause(problem)
            kept.setdefault(cause if self.causes[cause] > FEW else (problem.code, place), problem)
        for cause, count in self.causes.items():
            if count > FEW and cause in kept:
                first = kept[cause]
                message = f"{first.message}, and {count - 1:,} more like it"
                kept[cause] = replace(first, message=message, count=count)
                self.counts[first.code] -= count - 1
                self.errors -= count - 1 if first.severity == "error" else 0
        self.kept = list(kept.values())


def _cause(problem: Problem) -> tuple[str, str]:
    """The code with the message, but for what differs from line to line."""
    return problem.code, _SPECIFIC.sub("#", problem.message)
