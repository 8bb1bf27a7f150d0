"""A further file of judgments: a whole version, or a part that is joined with an earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from evaluation.problems import Problems
from evaluation.reading.judging.joining import Grades, Rule, find_conflicts, join_grades
from evaluation.reading.judging.qrels import Qrels
from leaderboard.collections.preview import (
    CONFLICTS,
    GRADES,
    JOINING,
    NAMES_SHOWN,
    PartFound,
)
from leaderboard.models import JudgmentSet
from leaderboard.models.collections import load_grades


def join_parts(qrels: Qrels, judgment_set: JudgmentSet) -> Qrels:
    """Return the judgments of a file with those of the version that it is a part of.

    While nobody has said whose grade counts, that of the file does.
    """
    whole = judgment_set.part_of
    if whole is None:
        return qrels
    rule = cast(Rule, judgment_set.conflict_rule or "newer")
    return replace(qrels, grades=join_grades(load_grades(whole.pk), qrels.grades, rule))


def count_topics(number: int) -> list[bytes]:
    """
    >>> count_topics(3)
    [b'1', b'2', b'3']
    """
    return [str(place).encode() for place in range(1, number + 1)]


def name_topics(qrels: Qrels, judgment_set: JudgmentSet, numbers: Sequence[str]) -> Qrels:
    """Return judgments with the numbers of the topics, where their file counts 1, 2, 3 instead."""
    if not judgment_set.counts_topics:
        return qrels
    counted = count_topics(len(numbers))
    named = dict(zip(counted, (number.encode() for number in numbers), strict=True))

    def rename(by_topic: dict[bytes, Any]) -> dict[bytes, Any]:
        return {named.get(topic, topic): judged for topic, judged in by_topic.items()}

    return replace(
        qrels,
        grades=rename(qrels.grades),
        strata=rename(qrels.strata),
        subtopics=rename(qrels.subtopics),
    )


def describe_part(judgment_set: JudgmentSet, before: Grades, qrels: Qrels) -> PartFound | None:
    """Return how many judgments there are before and after a file is joined with others."""
    whole = judgment_set.part_of
    if whole is None:
        return None
    conflicts = sum(1 for _ in find_conflicts(before, qrels.grades))
    together = join_grades(before, qrels.grades, "newer")
    return PartFound(whole.version, count_grades(before), count_grades(together), conflicts)


def count_grades(grades: Grades) -> int:
    return sum(len(judged) for judged in grades.values())


def ask_about_part(
    judgment_set: JudgmentSet, earlier: JudgmentSet, before: Grades, qrels: Qrels
) -> Iterator[dict[str, Any]]:
    """Yield what is open: whether the file is a part, what its grades mean, whose grade counts.

    `qrels` are the judgments of the file with the grades that they become.
    """
    if not judgment_set.joining:
        missing = [number for number in before if number not in qrels.grades]
        if missing:
            yield {
                "name": JOINING,
                "since": earlier.version,
                "missing": len(missing),
                "judged": len(before),
                "first": [number.decode() for number in missing[:NAMES_SHOWN]],
            }
    if judgment_set.part_of is None:
        return
    top, its = earlier.top_grade or 0, qrels.top_grade
    if top != its and not judgment_set.grade_map:
        yield {"name": GRADES, "because": describe_scales(earlier.version, top, its)}
    conflicts = list(find_conflicts(before, qrels.grades))
    if conflicts and not judgment_set.conflict_rule:
        first = [
            {
                "topic": each.topic.decode(),
                "docno": each.docno.decode(),
                "before": each.before,
                "after": each.after,
            }
            for each in islice(conflicts, NAMES_SHOWN)
        ]
        yield {
            "name": CONFLICTS,
            "since": earlier.version,
            "count": len(conflicts),
            "first": first,
        }


def describe_scales(version: str, top: int, its: int) -> str:
    """
    >>> describe_scales("v1", 3, 4)
    'The highest grade of v1 is 3, that of this file is 4. Say what its grades mean there.'
    """
    return (
        f"The highest grade of {version} is {top}, that of this file is {its}. "
        "Say what its grades mean there."
    )


def refuse_other_forms(judgment_set: JudgmentSet, qrels: Qrels, problems: Problems) -> None:
    """Refuse to join judgments with strata or subtopics, or of other makers."""
    whole = judgment_set.part_of
    if whole is None:
        return
    if qrels.strata or qrels.subtopics or whole.num_strata or whole.num_subtopics:
        problems.error(
            "E_JOINING",
            None,
            "judgments with strata or subtopics are not joined",
            hint="Upload the whole version.",
        )
    if not judgment_set.has_same_makers(whole):
        problems.error(
            "E_JOINING",
            None,
            f"{whole.version} is by a machine, and grades of people and machines stay apart",
            hint="Fill the unjudged documents of people’s judgments instead.",
        )
