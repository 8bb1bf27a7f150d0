"""Who judged: people, a machine, or both, as boards, files and feeds name them.

Nothing here imports `disclosure`: a `Sight` names who judged only to viewers who see means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.core.cache import cache

from leaderboard.assessments.samples import describe_check, find_machine_version
from leaderboard.models import Edition, Judgment, JudgmentSet, MachineCard, Run
from leaderboard.runs.rankings import load_tops

# The shares are of this many documents at the top of each run and topic.
FIRST = 10
# How many seconds the counts of a run are kept; neither runs nor versions ever change.
COUNTS_KEPT = 30 * 24 * 3600
# Stands for the machine of a version without a card.
UNNAMED = "a machine"


@dataclass(frozen=True)
class FirstTen:
    """How many of the first ten documents of runs people judged, the machine, and nobody."""

    people: int
    machine: int
    nobody: int

    @property
    def text(self) -> str:
        """The shares in words, without those that are zero.

        >>> FirstTen(88, 12, 0).text
        'people 88 %, machine 12 % of the first ten'
        """
        total = self.people + self.machine + self.nobody
        parts = {"people": self.people, "machine": self.machine, "unjudged": self.nobody}
        words = [f"{name} {100 * part / total:.0f} %" for name, part in parts.items() if part]
        return f"{', '.join(words)} of the first ten" if words else ""


@dataclass(frozen=True)
class WhoJudged:
    """Who judged a version; `made_by` is "" if nobody has said so."""

    made_by: str = ""
    machine: str = ""
    # Of a version by both, where the viewer sees scores.
    first_ten: FirstTen | None = None
    # How far people agree with the machine on a sample, in words.
    checked: str = ""

    @property
    def has_machine(self) -> bool:
        """Whether a machine judged any document."""
        return self.made_by in (JudgmentSet.MadeBy.MACHINE, JudgmentSet.MadeBy.BOTH)

    @property
    def kind(self) -> str:
        """The class of the badge."""
        return "by-machine" if self.has_machine else "by-people"

    @property
    def text(self) -> str:
        """Who judged, in words; "" if nobody has said so.

        >>> WhoJudged("both", "GPT-4o (prompt 3fa2)").text
        'judged by people and by GPT-4o (prompt 3fa2)'
        """
        if not self.made_by:
            return ""
        names = {
            JudgmentSet.MadeBy.PEOPLE: "people",
            JudgmentSet.MadeBy.MACHINE: self.machine,
            JudgmentSet.MadeBy.BOTH: f"people and by {self.machine}",
        }
        return f"judged by {names[JudgmentSet.MadeBy(self.made_by)]}"

    @property
    def text_with_shares(self) -> str:
        """Who judged, with the shares of both where they are known."""
        shares = self.first_ten.text if self.first_ten is not None else ""
        return f"{self.text}: {shares}" if shares else self.text

    @property
    def full_text(self) -> str:
        """Who judged, with shares and the check by people where they are known."""
        return "; ".join(filter(None, [self.text_with_shares, self.checked]))


def name_who_judged(judgment_set: JudgmentSet) -> WhoJudged:
    """Return who judged a version, without shares."""
    by_machine = find_machine_version(judgment_set)
    card = MachineCard.objects.behind(judgment_set) if by_machine else None
    name = card.name if card is not None else UNNAMED
    checked = describe_check(by_machine) if by_machine else ""
    return WhoJudged(judgment_set.made_by, name, checked=checked)


def describe_who_judged(edition: Edition, runs: Sequence[Run]) -> WhoJudged:
    """Return who judged an edition; of both, also the shares of the first ten of these runs."""
    who = name_who_judged(edition.judgment_set)
    if who.made_by != JudgmentSet.MadeBy.BOTH or not runs:
        return who
    return replace(who, first_ten=count_first_ten(edition, runs))


def count_first_ten(edition: Edition, runs: Sequence[Run]) -> FirstTen:
    """Count who judged the first ten documents of these runs on the evaluated topics.

    The counts of a run are kept, so that a page reads only the runs that came since.
    """
    keys = {_key(edition, run): run for run in runs}
    counts: dict[str, list[int]] = cache.get_many(list(keys))
    missing = {key: run for key, run in keys.items() if key not in counts}
    if missing:
        found = _count_runs(edition, missing)
        cache.set_many(found, COUNTS_KEPT)
        counts |= found
    people, machine, nobody = np.array(list(counts.values())).sum(axis=0).tolist()
    return FirstTen(people, machine, nobody)


def _key(edition: Edition, run: Run) -> str:
    return f"first-ten:{edition.pk}:{run.pk}"


def _count_runs(edition: Edition, runs: Mapping[str, Run]) -> dict[str, list[int]]:
    by_people = _load_judged(edition.judgment_set.people_version_id)
    by_anyone = _load_judged(edition.judgment_set_id)
    topics = edition.track.collection.topics.values_list("position", "number")
    evaluated = {number for position, number in topics if edition.mask[position]}
    return {
        key: _count_tops(_read_tops(run, evaluated), by_people, by_anyone)
        for key, run in runs.items()
    }


def _load_judged(judgment_set_id: int | None) -> set[tuple[str, str]]:
    graded = Judgment.objects.filter(judgment_set=judgment_set_id, grade__gte=0)
    return set(graded.values_list("topic__number", "docno"))


def _read_tops(run: Run, evaluated: set[str]) -> list[tuple[str, str]]:
    return [
        (number, docno)
        for number, docnos in load_tops(run).items()
        if number in evaluated
        for docno in docnos[:FIRST]
    ]


def _count_tops(
    tops: Iterable[tuple[str, str]],
    by_people: set[tuple[str, str]],
    by_anyone: set[tuple[str, str]],
) -> list[int]:
    """Return how many documents people judged, the machine alone, and nobody."""
    found = set(tops)
    people = len(found & by_people)
    judged = len(found & (by_anyone | by_people))
    return [people, judged - people, len(found) - judged]
