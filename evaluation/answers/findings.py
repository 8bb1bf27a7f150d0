"""Problems of an answer run: those of any file, with the topic and the sentence.

>>> findings = Findings()
>>> findings.error("E_EMPTY_SENTENCE", 1, "sentence 2 has no text", topic="t1", sentence=2)
>>> print(*findings)
line 1, sentence 2: E_EMPTY_SENTENCE: sentence 2 has no text
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, NoReturn

from evaluation.problems import FEW, Problem, Problems

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

    made: ClassVar[Callable[..., Problem]] = Finding
    causes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def _end(self, line: int | None) -> NoReturn:
        self.fold()
        super()._end(line)

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
