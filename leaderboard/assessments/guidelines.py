"""The versions of a guideline, and what changed from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import ndiff

from leaderboard.models import Assessment, Guideline
from leaderboard.models.assessments import GradeText


@dataclass(frozen=True)
class ChangedLine:
    """A line that a version added or removed, or that stayed: "+", "-" or " "."""

    sign: str
    text: str

    @property
    def fate(self) -> str:
        return {"+": "added", "-": "removed"}.get(self.sign, "")


@dataclass(frozen=True)
class GuidelineVersion:
    """A version of the guideline with its changes; the first one has none."""

    guideline: Guideline
    lines: list[ChangedLine]

    @property
    def num_changes(self) -> int:
        return sum(line.sign != " " for line in self.lines)


def list_changes(assessment: Assessment) -> list[GuidelineVersion]:
    """Return the versions of the guideline, the latest first, each against the one before."""
    versions = list(assessment.guidelines.select_related("created_by"))
    before: list[Guideline | None] = [None, *versions]
    found = [
        GuidelineVersion(
            version, compare_lines(write_out(last), write_out(version)) if last else []
        )
        for last, version in zip(before, versions, strict=False)
    ]
    return found[::-1]


def write_out(guideline: Guideline) -> list[str]:
    """Return the lines of a guideline, with one line per grade at the end."""
    return [*guideline.text.splitlines(), *map(write_grade, guideline.scale)]


def write_grade(grade: GradeText) -> str:
    """Return a grade in one line.

    >>> write_grade(GradeText(2, "Answers", "in full", "Knead"))
    '2 Answers: in full, e.g. “Knead”'
    """
    line = f": {grade.line}" if grade.line else ""
    example = f", e.g. “{grade.example}”" if grade.example else ""
    return f"{grade.grade} {grade.name}{line}{example}"


def compare_lines(old: Sequence[str], new: Sequence[str]) -> list[ChangedLine]:
    """Return the lines of both texts in one list.

    >>> [line.sign + line.text for line in compare_lines(["a", "b"], ["a", "c"])]
    [' a', '-b', '+c']
    """
    compared = ndiff([*old], [*new], linejunk=None, charjunk=None)
    return [ChangedLine(line[0], line[2:]) for line in compared if line[0] != "?"]
