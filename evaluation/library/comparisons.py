"""Runs beside a baseline, and all runs beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from evaluation.comparison import (
    Comparison,
    DecidedPairs,
    Design,
    Family,
    build_records,
    compare_on_measure,
    decide_all_pairs,
)
from evaluation.frames import build_frame
from evaluation.library.runs import Runs, read_runs
from evaluation.library.settings import Measures, Scorer, Settings
from evaluation.phrases import counted
from evaluation.reading.objects import QrelsSource, identifier
from evaluation.significance.baseline import Correction, Test
from evaluation.tables import Table, table_text

DIGITS = 4


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Runs beside a baseline: for each measure the baseline, then the others in their order.

    It iterates over `evaluation.comparison.Comparison`, and `comparisons[measure, run]` is one.
    """

    rows: tuple[Comparison, ...]
    design: Design
    note: str = ""

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: tuple[object, str]) -> Comparison:
        measure, run = key
        for row in self.rows:
            if (row.measure, row.run) == (str(measure), run):
                return row
        raise KeyError(f"no comparison of {run} by {measure}")

    @property
    def baseline(self) -> str:
        return self.rows[0].run

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs, the baseline first."""
        return tuple(dict.fromkeys(row.run for row in self.rows))

    def frame(self) -> Any:
        """Return a pandas DataFrame: a row per measure and run; what is undefined is None."""
        return build_frame((_facts(row) for row in self.rows), "measure", "run")

    def __str__(self) -> str:
        header = ["measure", "run", "verdict", "mean", "difference", "low", "high", "differs on"]
        header.append("p adjusted")
        rows = [[row.measure, row.run, row.verdict, *_cells(row)] for row in self.rows]
        note = self.design.describe(len(self.runs)) + self.note
        return table_text(Table(header, rows, texts=3, note=note))

    __repr__ = __str__


def _cells(row: Comparison) -> list[str]:
    mean, found = f"{row.mean:z.{DIGITS}f}", row.outcome
    if found is None:
        return [mean, "", "", "", "", ""]
    values = (found.difference, found.low, found.high)
    cells = ["" if value is None else f"{value:+z.{DIGITS}f}" for value in values]
    cells.append(f"{found.changed} of {found.topics}")
    return [mean, *cells, "" if found.p_adjusted is None else f"{found.p_adjusted:.3g}"]


def _facts(row: Comparison) -> dict[str, object]:
    found = row.outcome
    facts: dict[str, object] = {
        "measure": row.measure,
        "run": row.run,
        "verdict": row.verdict,
        "mean": row.mean,
    }
    names = ("difference", "low", "high", "p", "p_adjusted", "effect_size")
    counts = ("wins", "losses", "ties", "topics")
    return facts | {name: getattr(found, name, None) for name in (*names, *counts)}


def compare(
    qrels: QrelsSource,
    runs: Runs,
    measures: Measures = "AP",
    *,
    baseline: str | None = None,
    test: Test = "max_t",
    correction: Correction | None = None,
    family: Family = "baseline",
    alpha: float = 0.05,
    region: float | None = None,
    groups: Mapping[Any, Any] | None = None,
    **settings: Unpack[Settings],
) -> Comparisons:
    """Compare runs with a baseline topic by topic, as the command `compare` does.

    `runs` is a list, or a mapping from names to runs, each in any form that `evaluate` takes. The
    baseline is the run of that name, or the first. Runs are compared on all judged topics, or with
    `answered_only` on those that every run answers. p is adjusted for the `family`: all
    comparisons with the baseline, or "all" pairs of runs. `region` is the difference that does
    not matter between two runs that were named before any result was seen. `groups` has the group
    of each topic, such as its conversation: whole groups are flipped then, by the test max_t.

    Raises as `evaluate` does, ValueError for tests that cannot be combined or an unknown baseline.

    >>> qrels = {topic: {"d1": 1} for topic in range(8)}
    >>> bm25 = {topic: {"d2": 2, "d1": 1} for topic in range(8)}
    >>> dense = {topic: {"d1": 3, "d2": 1} for topic in range(8)}
    >>> found = compare(qrels, {"bm25": bm25, "dense": dense}, ["RR", "P@1"])
    >>> found["RR", "dense"].verdict, found["RR", "dense"].outcome.difference
    ('better', 0.5)
    """
    design = Design(test, correction, family, alpha, region)
    scorer = Scorer.of(qrels, measures, settings)
    read = read_runs(runs, scorer)
    design.check(len(read))
    if baseline is not None:
        if baseline not in [run.tag for run in read]:
            raise ValueError(f"no run is named {baseline}")
        read.sort(key=lambda run: run.tag != baseline)
    records = build_records(read, scorer.judgments, scorer.rules, _read_grouping(groups))
    scored = map(records.scored, scorer.asked)
    found = [row for each in scored for row in compare_on_measure(each, design)]
    return Comparisons(tuple(found), design, records.note)


def _read_grouping(groups: Mapping[Any, Any] | None) -> dict[bytes, bytes] | None:
    if groups is None:
        return None
    return {
        identifier(topic, "topic"): identifier(group, "group") for topic, group in groups.items()
    }


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """The ranks that each run may have, all at once with confidence 1 - alpha, best mean first.

    `places[run]` is its best and its worst rank; runs that share a letter do not differ.
    """

    measure: str
    runs: tuple[str, ...]
    means: tuple[float, ...]
    places: dict[str, tuple[int, int]]
    letters: dict[str, str]
    topics: int
    alpha: float
    left_out: tuple[str, ...] = ()
    note: str = ""

    def __getitem__(self, run: str) -> tuple[int, int]:
        return self.places[run]

    def frame(self) -> Any:
        """Return a pandas DataFrame: a row per run, the best mean first."""
        rows = zip(self.runs, self.means, strict=True)
        return build_frame(
            (
                {
                    "run": run,
                    "mean": mean,
                    "best_rank": self.places[run][0],
                    "worst_rank": self.places[run][1],
                    "letters": self.letters[run],
                }
                for run, mean in rows
            ),
            "run",
        )

    def __str__(self) -> str:
        header = ["run", "letters", self.measure, "best rank", "worst rank"]
        rows = [
            [run, self.letters[run], f"{mean:z.{DIGITS}f}", *map(str, self.places[run])]
            for run, mean in zip(self.runs, self.means, strict=True)
        ]
        runs, topics = counted(len(self.runs), "run"), counted(self.topics, "topic")
        note = f"{runs}, {topics}; alpha {self.alpha:g}{self.note}"
        return table_text(Table(header, rows, texts=2, note=note))

    __repr__ = __str__


def rank_intervals(
    qrels: QrelsSource,
    runs: Runs,
    measure: object = "AP",
    *,
    alpha: float = 0.05,
    groups: Mapping[Any, Any] | None = None,
    **settings: Unpack[Settings],
) -> RankIntervals:
    """Return the ranks that runs may have, by the test of all pairs (`pairs --ranks`).

    Two runs are told apart by the studentised maximum of sign flips over all pairs. The best rank
    of a run is one more than the number of runs that are better, and the worst leaves out those
    that are worse (Mogstad, Romano, Shaikh and Wilhelm 2024). `measure` names one measure.
    `groups` are those of `compare`.

    >>> qrels = {topic: {"d1": 1} for topic in range(8)}
    >>> bm25 = {topic: {"d2": 2, "d1": 1} for topic in range(8)}
    >>> dense = {topic: {"d1": 3, "d2": 1} for topic in range(8)}
    >>> print(rank_intervals(qrels, {"bm25": bm25, "dense": dense, "again": dense}, "RR"))
    run    letters      RR  best rank  worst rank
    dense  a        1.0000          1           2
    again  a        1.0000          1           2
    bm25   b        0.5000          3           3
    3 runs, 8 topics; alpha 0.05
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is a number between 0 and 1, not {alpha}")
    scorer = Scorer.of(qrels, str(measure), settings)
    if len(scorer.asked) != 1:
        raise ValueError(f"{measure} names {len(scorer.asked)} measures; name one")
    grouping = _read_grouping(groups)
    records = build_records(read_runs(runs, scorer), scorer.judgments, scorer.rules, grouping)
    found = decide_all_pairs(records.scored(scorer.asked[0]), alpha)
    return _intervals(found, alpha, records.note + found.note)


def _intervals(found: DecidedPairs, alpha: float, note: str) -> RankIntervals:
    pairs, tags, order = found.pairs, found.runs.tags, found.order
    low, high = pairs.rank_low.tolist(), pairs.rank_high.tolist()
    return RankIntervals(
        measure=found.runs.name,
        runs=tuple(tags[run] for run in order),
        means=tuple(found.value(run) for run in order),
        places={tags[run]: (low[run], high[run]) for run in order},
        letters={tags[run]: pairs.letters[run] for run in order},
        topics=pairs.topics,
        alpha=alpha,
        left_out=tuple(found.left_out),
        note=note,
    )
