"""Detection of repeated tags and near-duplicate runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations

import numpy as np
from django.core.files.storage import default_storage
from numpy.typing import NDArray

from evaluation.problems import Problems
from evaluation.reading.likeness import NEARLY, likeness
from leaderboard.models import Run, Track
from leaderboard.models.runs import RunQuerySet
from leaderboard.runs.rankings import TOP, Rankings

# The first documents of every topic, best first.
Tops = dict[str, list[str]]

# How many of a team's runs a new one is compared with, the latest first.
COMPARED = 20
# Runs of two teams with so much overlap are hardly two systems.
ALIKE = 0.98
# A topic whose first documents differ has an overlap of 0.9 at most.
LOST_AT_FIRST = 0.1


def check_tag(run: Run, tag: str, problems: Problems) -> None:
    """E_TAG or W_TAG, as the track has it, where an earlier run of the team has this tag."""
    same = earlier_runs(run).filter(tag=tag).first()
    if same is None:
        return
    message = f"your team already used this tag for run {same.pk}"
    if run.track.repeated_tags == Track.Refusal.REFUSE:
        problems.error("E_TAG", None, message, tag, "Use a new tag for each run.")
    else:
        problems.warn("W_TAG", None, message, tag, "Use a new tag to distinguish them.")


def check_likeness(run: Run, tops: Tops, problems: Problems) -> None:
    """Add W_SAME_RUN where an earlier run of the team has almost the same rankings."""
    for earlier in earlier_runs(run).accepted()[:COMPARED]:
        overlap = likeness(tops, tops_of(earlier), at_least=NEARLY)
        if overlap is not None:
            _warn_of_same(earlier, overlap, problems)
            return


def check_twins(run: Run, problems: Problems) -> None:
    """Add W_SAME_RUN where the team has a published run with the same fingerprint.

    Call it under the lock of the track that publishing takes: two runs that are checked at the
    same time do not see each other before, and the second to publish always sees the first here.
    """
    twin = Run.objects.duplicates_of(run).filter(team=run.team_id).first()
    if twin is not None and "W_SAME_RUN" not in problems.counts:
        _warn_of_same(twin, 1.0, problems)


def _warn_of_same(other: Run, overlap: float, problems: Problems) -> None:
    message = f"the first {TOP} documents of every topic match your run {other}"
    if overlap < 1:
        message = f"the rankings are almost identical to run {other}:"
        message += f" rank-biased overlap {overlap:.5f}"
    problems.warn("W_SAME_RUN", None, message, other.pk, "If one was a mistake, withdraw it.")


def fingerprint_of(tops: Tops) -> str:
    """Digest of the first documents of every topic, regardless of the order of the topics."""
    digest = sha256()
    for number in sorted(tops):
        listed = "\n".join([number, *tops[number]])
        digest.update(listed.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()


@dataclass(frozen=True)
class Alike:
    """Two runs of two teams, and the rank-biased overlap of their first documents."""

    one: Run
    other: Run
    overlap: float


def alike_across_teams(runs: Iterable[Run]) -> list[Alike]:
    """The pairs that hardly differ, the most alike first."""
    known = list(runs)
    tops = [tops_of(run) for run in known]
    firsts = _firsts(tops)
    enough = 1 - (1 - ALIKE) / LOST_AT_FIRST
    found = []
    for a, b in combinations(range(len(known)), 2):
        if known[a].team_id == known[b].team_id or (firsts[a] == firsts[b]).mean() < enough:
            continue
        overlap = likeness(tops[a], tops[b], at_least=ALIKE)
        if overlap is not None:
            found.append(Alike(known[a], known[b], overlap))
    return sorted(found, key=lambda each: -each.overlap)


def _firsts(tops: list[Tops]) -> NDArray[np.int64]:
    """A number for the first document of every run on every topic, int64[runs, topics]."""
    topics = sorted({number for each in tops for number in each})
    numbers: dict[str | None, int] = {}
    rows = [
        [
            numbers.setdefault(each[topic][0] if topic in each else None, len(numbers))
            for topic in topics
        ]
        for each in tops
    ]
    return np.array(rows, dtype=np.int64).reshape(len(tops), len(topics))


def earlier_runs(run: Run) -> RunQuerySet:
    return Run.objects.active().filter(team=run.team_id, received_at__lt=run.received_at)


def tops_of(run: Run) -> Tops:
    with default_storage.open(run.ranking_file.name) as file:
        return Rankings(file).tops
