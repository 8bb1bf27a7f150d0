"""The versions of a guideline, what changed between them, and the scale that one begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import ndiff

from leaderboard.models import Assessment, Guideline, Track
from leaderboard.models.assessments import HIGHEST_GRADE, GradeText
from leaderboard.models.pools import OF_ANSWERS


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


USUAL_SCALE = (
    GradeText(3, "Answers in full", "A person who asked needs nothing else"),
    GradeText(2, "Answers in part", "Helps, but something is missing"),
    GradeText(1, "Touches it", "On the subject, but answers nothing"),
    GradeText(0, "Not relevant", "Does not help the person who asked"),
)
TWO_GRADES = (
    GradeText(1, "Relevant", "Helps the person who asked"),
    GradeText(0, "Not relevant", "Does not help the person who asked"),
)


def propose_scale(track: Track) -> Sequence[GradeText]:
    """Return the scale in use: of the last judging of a track, or else of its judgments.

    Without either it is the usual one of four grades.
    """
    of_documents = track.assessments.exclude(pool__method__in=OF_ANSWERS)
    last = of_documents.order_by("-created_at", "-pk").first()
    if last is not None:
        return last.guideline.scale
    used = track.judgment_set.grade_counts if track.judgment_set is not None else {}
    if not used:
        return USUAL_SCALE
    return name_grades(min(max(map(int, used)), HIGHEST_GRADE))


def name_grades(top: int) -> Sequence[GradeText]:
    """Return the grades from `top` to 0, under the usual names as far as there are any.

    >>> [grade.name for grade in name_grades(2)]
    ['Answers in full', 'Answers in part', 'Not relevant']
    >>> [grade.name for grade in name_grades(4)][:2]
    ['Grade 4', 'Answers in full']
    """
    if top <= 1:
        return TWO_GRADES
    *relevant, nothing = USUAL_SCALE
    without_name = [GradeText(grade, f"Grade {grade}") for grade in range(top, len(relevant), -1)]
    usual = relevant[:top]
    named = [
        GradeText(grade, each.name, each.line)
        for grade, each in zip(range(len(usual), 0, -1), usual, strict=True)
    ]
    return (*without_name, *named, nothing)
