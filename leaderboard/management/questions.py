"""Questions about the files of a collection, as commands ask them: each answer is an option."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from leaderboard.collections.preview import (
    CONFLICTS,
    FORMATS,
    GRADES,
    GROUPING,
    JOINING,
    JudgmentsPreview,
)
from leaderboard.collections.questions import (
    describe_conflicts,
    describe_format_questions,
    describe_missing,
    list_conflicts,
)
from leaderboard.display.numbers import counted
from leaderboard.models import JudgmentSet

Question = Mapping[str, Any]
RULES = JudgmentSet.ConflictRule.choices


def explain_questions(
    questions: Sequence[Question], judgments: JudgmentsPreview | None
) -> list[str]:
    """Return what is asked, why, and the option that gives each answer."""
    lines = []
    for question in questions:
        if question["name"] == FORMATS:
            lines += _explain_formats(question)
        elif question["name"] == GRADES:
            lines += [question["because"], *_explain_grades(judgments)]
        elif question["name"] == JOINING:
            lines += [describe_missing(question)]
            lines += ["--join: add them to it", "--replace: they are the whole version"]
        elif question["name"] == CONFLICTS:
            lines += [describe_conflicts(question), *list_conflicts(question)]
            lines += [f"--conflicts {rule}: {said} counts" for rule, said in RULES]
        elif question["name"] == GROUPING:
            lines += _explain_grouping(question)
        else:
            lines += [f"The judgments count the topics 1 to {question['highest']:,}."]
            lines += ["--renumber-topics: number them in the order of their file"]
    return lines


def _explain_grouping(question: Question) -> Iterator[str]:
    sign, groups = question["grouping"], counted(question["count"], "group")
    yield f"The numbers of {question['topics']:,} topics have {groups} before the last {sign}"
    yield f"--grouping {sign}: tests use whole groups, such as conversations"
    yield "--grouping apart: each topic counts alone"


def _explain_formats(question: Question) -> Iterator[str]:
    (asked,) = describe_format_questions([question])
    yield f"The {asked.of} can be read in more than one way. Choose one:"
    for reading in asked.readings:
        evidence = f"{reading.words}. {reading.because}"
        if reading.refused:
            yield f"not read: {evidence} {reading.refused}"
            continue
        yield f"--format {shlex.quote(f'{asked.of}={reading.format}')}: {evidence}"
        yield from (f"    {record}" for record in reading.first)


def _explain_grades(judgments: JudgmentsPreview | None) -> Iterable[str]:
    yield "--grades same: the highest number is the best grade"
    positive = [] if judgments is None else [grade for grade in judgments.grades if grade > 0]
    pairs = zip(positive, reversed(positive), strict=True)
    turned = ",".join(f"{grade}={becomes}" for grade, becomes in pairs)
    if turned:
        yield f"--grades {turned}: 1 is the best grade"
