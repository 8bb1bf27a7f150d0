"""Detection of repeated tags and near-duplicate runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evaluation.problems import Problems
from evaluation.reading.runs.likeness import NEARLY, likeness
from leaderboard.models import Run, Track
from leaderboard.models.runs import RunQuerySet
from leaderboard.runs.topic_files import TOP, Tops
from leaderboard.scoring.kinds import RunKind, kind_of

# A new run is compared with this many of its team's runs, the latest first.
MOST_COMPARED = 20
# Runs of two teams with this much overlap are hardly two systems.
SIMILAR = 0.98
# If the first documents differ, the overlap of a topic is at most 0.9.
FIRST_RANK_WEIGHT = 0.1


def check_tag(run: Run, tag: str, problems: Problems) -> None:
    """Add E_TAG or W_TAG, by the track's setting, if the team has used this tag."""
    same = earlier_runs(run).filter(tag=tag).first()
    if same is None:
        return
    message = f"your team already used this tag for run {same.pk}"
    if run.track.repeated_tags == Track.Refusal.REFUSE:
        problems.error("E_TAG", None, message, tag, "Use a new tag for each run.")
    else:
        problems.warn("W_TAG", None, message, tag, "Use a new tag to distinguish them.")


def check_similarity(run: Run, tops: Tops, problems: Problems) -> None:
    """Add W_SAME_RUN if an earlier run of the team has almost the same rankings."""
    kind = kind_of(run.track)
    for earlier in earlier_runs(run).accepted()[:MOST_COMPARED]:
        overlap = likeness(tops, kind.load_tops(earlier), at_least=NEARLY)
        if overlap is not None:
            _warn_of_duplicate(kind, earlier, overlap, problems)
            return


def check_duplicates(run: Run, problems: Problems) -> None:
    """Add W_SAME_RUN if the team has a published run with the same fingerprint.

    Call it under the track lock of publishing: two runs that are checked at the same time do not
    see each other earlier, and the second one to be published always sees the first here.
    """
    twins = Run.objects.duplicates_of(run).filter(team=run.team_id)
    twin = twins.exclude(pk=run.replaces_id).first()
    if twin is not None and "W_SAME_RUN" not in problems.counts:
        _warn_of_duplicate(kind_of(run.track), twin, 1.0, problems)


def _warn_of_duplicate(kind: RunKind, other: Run, overlap: float, problems: Problems) -> None:
    message = f"the first {TOP} {kind.items} of every topic match your run {other}"
    if overlap < 1:
        message = f"the {kind.items} are almost those of run {other}:"
        message += f" rank-biased overlap {overlap:.5f}"
    problems.warn("W_SAME_RUN", None, message, other.pk, "If one was a mistake, withdraw it.")


def compute_fingerprint(tops: Tops) -> str:
    """Return a digest of the first documents of every topic, in any order of topics."""
    digest = sha256()
    for number in sorted(tops):
        lines = "\n".join([number, *tops[number]])
        digest.update(lines.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()


@dataclass(frozen=True)
class SimilarRuns:
    """Two runs of two teams, and the rank-biased overlap of their first documents."""

    one: Run
    other: Run
    overlap: float


def find_similar_runs(kind: RunKind, runs: Iterable[Run]) -> list[SimilarRuns]:
    """Return pairs of runs of different teams that hardly differ, the most similar first."""
    known = list(runs)
    tops = [kind.load_tops(run) for run in known]
    firsts = _number_first_documents(tops)
    enough = 1 - (1 - SIMILAR) / FIRST_RANK_WEIGHT
    found = []
    for a, b in combinations(range(len(known)), 2):
        if known[a].team_id == known[b].team_id or (firsts[a] == firsts[b]).mean() < enough:
            continue
        overlap = likeness(tops[a], tops[b], at_least=SIMILAR)
        if overlap is not None:
            found.append(SimilarRuns(known[a], known[b], overlap))
    return sorted(found, key=lambda pair: -pair.overlap)


def _number_first_documents(tops: list[Tops]) -> NDArray[np.int64]:
    """Return a number for the first document of every run on every topic, int64[runs, topics]."""
    topics = sorted({number for run_tops in tops for number in run_tops})
    numbers: dict[str | None, int] = {}
    rows = [
        [
            numbers.setdefault(run_tops[topic][0] if topic in run_tops else None, len(numbers))
            for topic in topics
        ]
        for run_tops in tops
    ]
    return np.array(rows, dtype=np.int64).reshape(len(tops), len(topics))


def earlier_runs(run: Run) -> RunQuerySet:
    """Return the earlier active runs of the team, without the one that this run replaces."""
    earlier = Run.objects.active().filter(team=run.team_id, received_at__lt=run.received_at)
    return earlier.exclude(pk=run.replaces_id)
