"""The judgments of a track's collection beside those on its board."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.boards.disclosure import Sight
from leaderboard.models import Edition, JudgmentSet
from leaderboard.models.collections import ImportState


@dataclass(frozen=True)
class Version:
    """Other judgments; without an edition there is no board of them."""

    judgments: JudgmentSet
    edition: Edition | None


def versions_beside(sight: Sight) -> list[Version]:
    """The latest first: those once on the board, and for organisers those that never were."""
    boards: dict[JudgmentSet, Edition] = {}
    for edition in sight.others:
        boards.setdefault(edition.judgment_set, edition)
    seen = list(boards)
    if sight.organises:
        ready = sight.track.collection.judgment_sets.filter(state=ImportState.READY)
        seen = list(ready.order_by("-ready_at"))
    current = sight.track.edition
    beside = [each for each in seen if current is None or each != current.judgment_set]
    return [Version(each, boards.get(each)) for each in beside]
