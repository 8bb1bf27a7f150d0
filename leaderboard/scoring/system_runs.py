"""Runs that rank the systems of another track: `system score`, or a list, the best first.

A system is named as its team or the submitter sees it, by its tag or pseudonym, or by its id, which
nobody guesses: organisers of a blind track hand the ids out with the answers. A hidden system gets
the same error as one that does not exist. The ranking file has the ids, on every topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.problems import refuse
from evaluation.reading.containers import unpacked
from evaluation.reading.runs import reader
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.system_rankings import SystemRanking, read_system_ranking
from leaderboard.infrastructure.packed_files import open_unpacked
from leaderboard.models import Run, Track
from leaderboard.scoring.files import open_run, run_limits
from leaderboard.scoring.judgments import load_topic_numbers
from leaderboard.sight.tracks import TrackSight


def read_system_run(run: Run) -> reader.Run:
    """Read and check a ranking of systems. Raises Refused.

    A run without a tag is called like its file.
    """
    truth = run.track.truth
    if truth is None:
        message = "the organisers have not yet chosen whose systems are ranked"
        raise refuse("E_SYSTEMS", message, hint="Wait until they have.")
    known = name_systems(truth, run)
    with (
        open_unpacked(run.file.name) as packed,
        closing(unpacked(packed, run_limits())) as lines,
    ):
        read = read_system_ranking(lines, known)
    ranking = _rank(_resolve(read, known))
    topics = load_topic_numbers(run.track.collection_id)
    _warn_of_missing(read, ranking, run, truth)
    tag = run.tag or Path(run.filename).stem or "ranking"
    rankings = dict.fromkeys(topics, ranking)
    return reader.Run(tag, rankings, len(read.entries), read.problems, read.format)


def _resolve(read: SystemRanking, known: Mapping[str, set[str]]) -> dict[str, float]:
    """Return the scores by the ids of systems; raises Refused."""
    found: dict[str, float] = {}
    line_of: dict[str, int | None] = {}
    for entry, score in zip(read.entries, read.scores.tolist(), strict=True):
        system, *others = known[entry.system]
        if others:
            message, hint = "several systems are called so", "Name each by its id."
            read.problems.error("E_AMBIGUOUS_SYSTEM", entry.line, message, entry.system, hint)
            continue
        if system in found:
            before = line_of[system]
            where = "" if before is None else f", in line {before:,} by another name"
            message, hint = f"this system is named twice{where}", "Keep one of them."
            read.problems.error("E_DUP_SYSTEM", entry.line, message, entry.system, hint)
        found[system], line_of[system] = score, entry.line
    read.problems.raise_if_refused()
    return found


def name_systems(truth: Track, run: Run) -> dict[str, set[str]]:
    """Return the ids of the systems that each name may mean for who submitted a ranking."""
    # A ranking of an archive may have systems that were removed since.
    ids = truth.runs.accepted().values_list("pk", flat=True)
    known = {system_id: {system_id} for system_id in ids}
    for sight in _sights_of(truth, run):
        for system_id, name in _visible_names(sight).items():
            known.setdefault(name, set()).add(system_id)
    return known


def _sights_of(truth: Track, run: Run) -> list[TrackSight]:
    """Return what the team sees of the systems, and what the submitter sees."""
    if not TrackSight.of(run.track, run.submitted_by).can_see_systems:
        return []
    return [_sight_of_team(truth, run), TrackSight.of(truth, run.submitted_by)]


def _sight_of_team(truth: Track, run: Run) -> TrackSight:
    return replace(TrackSight.of_everybody(truth), team=run.team)


def _visible_names(sight: TrackSight) -> dict[str, str]:
    """Return the name of each system that a viewer sees, by its id."""
    systems = sight.runs().accepted().not_removed().select_related("team")
    named = {}
    for system in systems:
        system.track = sight.track
        hidden = sight.hides_names and not (sight.owns(system) or system.team.of_organisers)
        named[system.pk] = system.pseudonym if hidden else str(system)
    return named


def _warn_of_missing(read: SystemRanking, ranking: Ranking, run: Run, truth: Track) -> None:
    """Count the systems that the team sees and did not rank; the count names none of them."""
    if not _sights_of(truth, run):
        return
    ranked = {system.decode() for system in ranking.docnos}
    missing = _visible_names(_sight_of_team(truth, run)).keys() - ranked
    if missing:
        message = "systems that your team sees are not ranked and count as last"
        read.problems.warn("W_MISSING_SYSTEM", None, message, count=len(missing))


def _rank(scores: Mapping[str, float]) -> Ranking:
    """Return scored systems as a ranking, ties by id descending as in every run."""
    ordered = sorted(((score, system.encode()) for system, score in scores.items()), reverse=True)
    docnos = [system for _, system in ordered]
    return Ranking(docnos, np.array([score for score, _ in ordered], dtype=np.float64))


def load_system_scores(run: Run) -> dict[str, float]:
    """Return the scores of an accepted ranking by the ids of systems."""
    ranking = next(iter(open_run(run).rankings.values()))
    pairs = zip(ranking.docnos, ranking.scores.tolist(), strict=True)
    return {system.decode(): score for system, score in pairs}


def render_system_scores(run: Run) -> bytes:
    """Return an accepted ranking as a file of its kind, by the ids of systems."""
    scores = load_system_scores(run)
    if run.format == "order":
        return "".join(f"{system}\n" for system in scores).encode()
    return "".join(f"{system}\t{score!r}\n" for system, score in scores.items()).encode()


def align_systems(run: Run, systems: list[str]) -> NDArray[np.float64]:
    """Return the scores of a ranking as float64[systems], NaN where it has none."""
    scores = load_system_scores(run)
    return np.array([scores.get(system, np.nan) for system in systems], dtype=np.float64)
