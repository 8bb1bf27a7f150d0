"""The page of rankings of systems: how near each is to the board of their scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evaluation.agreement import Estimate, ranks
from evaluation.agreement.system_rankings import USUAL_ORDER
from evaluation.answers.any_measure import parse_measure
from leaderboard.analysis.entrants import find_or_request_results, list_seen
from leaderboard.boards.disclosure import Sight, sight_of
from leaderboard.display.csv_tables import RUN_COLUMNS, TEAM_COLUMNS, Columns, CsvTable, tabulate
from leaderboard.jobs.calculations import Awaited
from leaderboard.models import Run, Track

# What a reader may rank entrants by.
ORDERS_SHOWN = {"tau": "τ", "tau_ap": "τ AP", "top": "τ of the first ten"}


@dataclass(frozen=True)
class RankingRow:
    """One ranking beside the truth; no rank where too few topics decide."""

    run: Run
    rank: int | None
    ranks: tuple[int, int] | None
    letters: str
    value: Estimate
    statistics: Mapping[str, Estimate]
    named: int
    # None for a list without scores.
    error: float | None
    bias: float | None
    is_own: bool
    is_baseline: bool
    # The rank that it gives each system, by its id; those that it does not name share the last.
    rank_of: Mapping[str, int]

    @property
    def kind(self) -> str:
        """How charts draw it."""
        return "own" if self.is_own else "baseline" if self.is_baseline else "other"


@dataclass(frozen=True)
class PlacedSystem:
    """A system with its place on the board of scores, and in each ranking in their order."""

    run: Run
    rank: int
    mean: float
    places: list[int]


@dataclass(frozen=True)
class FoundRankings:
    """The rankings of a track by one statistic, as far as they are compared."""

    statistic: str
    rows: list[RankingRow]
    systems: list[PlacedSystem]
    topics: int
    awaited: Awaited
    # The track of the systems and the measure of its board; None while none is chosen.
    truth: Track | None = None
    measure: str = ""
    num_systems: int = 0

    @property
    def best(self) -> list[RankingRow]:
        """The rankings that may be the best."""
        return [row for row in self.rows if row.ranks is not None and row.ranks[0] == 1]

    @cached_property
    def tables(self) -> dict[str, CsvTable]:
        """Return the tables for other programs by name: the rankings, and the systems in each."""
        columns: Columns = [
            *TEAM_COLUMNS,
            *(("rank", "rank"), ("letters", "letters")),
            ("best_rank", lambda row: row.ranks and row.ranks[0]),
            ("worst_rank", lambda row: row.ranks and row.ranks[1]),
            *(
                (f"{name}{end}", _end_of(name, part))
                for name in ORDERS_SHOWN
                for end, part in (("", "value"), ("_low", "low"), ("_high", "high"))
            ),
            *((name, name) for name in ("error", "bias", "named")),
        ]
        systems: Columns = [
            *RUN_COLUMNS,
            *(("rank", "rank"), ("mean", "mean")),
            *((f"rank_by_{row.run.pk}", _place(at)) for at, row in enumerate(self.rows)),
        ]
        return {
            "judges": tabulate(self.rows, columns),
            "systems": tabulate(self.systems, systems),
        }


def _end_of(name: str, part: str) -> Callable[[RankingRow], float | None]:
    return lambda row: getattr(row.statistics[name], part)


def _place(at: int) -> Callable[[PlacedSystem], int]:
    return lambda row: row.places[at]


def find_or_request_rankings(sight: Sight, statistic: str = USUAL_ORDER) -> FoundRankings:
    """Return the rankings that a viewer sees, and have a job compare them if that is missing."""
    chosen = statistic if statistic in ORDERS_SHOWN else USUAL_ORDER
    edition, truth = sight.edition, sight.track.truth
    if edition is None or truth is None:
        return FoundRankings(chosen, [], [], 0, Awaited.NOTHING, truth)
    edition.track = sight.track
    request = {"statistic": chosen}
    results, awaited = find_or_request_results(edition, f"systems by {chosen}", request)
    measure = edition.settings["ranked_runs"]["measure"]
    systems = results.get("systems", [])
    ids = [system["id"] for system in systems]
    rows = [
        _read_row(sight, chosen, packed, run, place, ids, measure)
        for place, (packed, run) in enumerate(list_seen(sight, results.get("judges", [])), 1)
    ]
    return FoundRankings(
        statistic=chosen,
        rows=rows,
        systems=_read_systems(sight_of(truth, sight.viewer), systems, rows, measure),
        topics=results.get("topics", 0),
        awaited=awaited,
        truth=truth,
        measure=measure,
        num_systems=len(systems),
    )


def _read_row(
    sight: Sight,
    statistic: str,
    packed: Mapping[str, Any],
    run: Run,
    place: int,
    systems: Sequence[str],
    measure: str,
) -> RankingRow:
    estimates = {name: Estimate(*found) for name, found in packed["statistics"].items()}
    has_rank, (best, worst) = packed["has_rank"], packed["ranks"]
    # Of a list without scores the first is always the best.
    direction = parse_measure(measure).direction if run.format == "scores" else 1
    scores = direction * np.array(packed["scores"], dtype=np.float64)
    order = ranks(np.nan_to_num(scores, nan=-np.inf)).tolist()
    return RankingRow(
        run=sight.with_shown_name(run),
        rank=place if has_rank else None,
        ranks=(best, worst) if has_rank else None,
        letters=packed["letters"] if has_rank else "",
        value=estimates[statistic],
        statistics=estimates,
        is_own=sight.owns(run),
        is_baseline=run.pk == sight.track.baseline_id,
        rank_of=dict(zip(systems, order, strict=True)),
        **{name: packed[name] for name in ("named", "error", "bias")},
    )


def _read_systems(
    truth: Sight, packed: Sequence[Mapping[str, Any]], rows: Sequence[RankingRow], measure: str
) -> list[PlacedSystem]:
    """Return the systems that the viewer sees under their shown names, the best first."""
    if not packed or not truth.can_see_scores:
        return []
    runs = {run.pk: run for _, run in list_seen(truth, packed)}
    means = np.array([each["mean"] for each in packed])
    places = ranks(means, parse_measure(measure).direction).tolist()
    found = [
        PlacedSystem(
            run=truth.with_shown_name(runs[each["id"]]),
            rank=place,
            mean=each["mean"],
            places=[row.rank_of[each["id"]] for row in rows],
        )
        for each, place in zip(packed, places, strict=True)
        if each["id"] in runs
    ]
    return sorted(found, key=lambda row: (row.rank, row.run.pk))
