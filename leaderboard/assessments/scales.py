"""The scale that a new judging begins with."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.models import Track
from leaderboard.models.assessments import HIGHEST_GRADE, GradeText

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
    last = track.assessments.order_by("-created_at", "-pk").first()
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
