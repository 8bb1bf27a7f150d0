"""The documents of a pool that are to be judged, by topic, with the teams that found them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from leaderboard.collections.pools import PoolLine, read_lines, read_topic_lines
from leaderboard.models import Pool, Topic


@dataclass(frozen=True, slots=True)
class PooledDocument:
    """A document to judge, and the teams that could have brought it alone; mostly none."""

    docno: str
    only_teams: frozenset[int]

    def is_only_of(self, team: int | None) -> bool:
        """Whether no run of another team found the document."""
        return team is not None and team in self.only_teams


@lru_cache(maxsize=4)
def _read_topics(pool_id: int, file: str) -> dict[str, tuple[PooledDocument, ...]]:
    pool = Pool.objects.get(pk=pool_id)
    teams = _find_teams_by_tag(pool)
    return {
        number: tuple(_read_document(line, teams) for line in lines)
        for number, lines in groupby(read_lines(pool), key=lambda line: line.number)
    }


def _find_teams_by_tag(pool: Pool) -> dict[str, set[int]]:
    """Return the teams that use each tag, as the file of the pool names runs."""
    teams: dict[str, set[int]] = {}
    for pk, tag, team in pool.runs.values_list("pk", "tag", "team_id"):
        teams.setdefault(tag or pk, set()).add(team)
    return teams


def _read_document(line: PoolLine, teams: Mapping[str, set[int]]) -> PooledDocument:
    """Two teams may use one tag: then the document could be of either of them alone."""
    found = [teams.get(place.rpartition(":")[0], set()) for place in line.places.split()]
    alone = frozenset.intersection(*map(frozenset, found)) if found else frozenset()
    return PooledDocument(line.docno, alone)


def topics_to_judge(pool: Pool) -> Mapping[str, tuple[PooledDocument, ...]]:
    """Return the unjudged documents of an approved pool by topic number, in docno order.

    An approved pool never changes, so it is read once per process.
    """
    return _read_topics(pool.pk, pool.file.name)


def documents_to_judge(pool: Pool, topic: Topic) -> tuple[PooledDocument, ...]:
    """Return the unjudged documents of one topic; the other topics are not read."""
    teams = _find_teams_by_tag(pool)
    return tuple(_read_document(line, teams) for line in read_topic_lines(pool, topic))


@lru_cache(maxsize=4)
def _read_tops(pool_id: int, file: str, rank: int) -> dict[int, frozenset[tuple[str, str]]]:
    pool = Pool.objects.get(pk=pool_id)
    teams = _find_teams_by_tag(pool)
    found: dict[int, set[tuple[str, str]]] = {}
    for line in read_lines(pool):
        for place in line.places.split():
            tag, _, at = place.rpartition(":")
            if int(at) <= rank:
                for team in teams.get(tag, ()):
                    found.setdefault(team, set()).add((line.number, line.docno))
    return {team: frozenset(documents) for team, documents in found.items()}


def top_documents_by_team(pool: Pool, rank: int) -> Mapping[int, frozenset[tuple[str, str]]]:
    """Return topic number and docno of what each team has among the first `rank` of a run."""
    return _read_tops(pool.pk, pool.file.name, rank)
