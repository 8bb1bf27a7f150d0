"""The page of judges: their agreement with people, with intervals, ranks and letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation.agreement import Estimate
from evaluation.agreement.calibration import Calibration, ConfidenceBin
from evaluation.agreement.judges import USUAL, PartOfJudge
from leaderboard.boards.disclosure import Sight
from leaderboard.display.csv_tables import TEAM_COLUMNS, Columns, CsvTable, tabulate
from leaderboard.jobs import calculations
from leaderboard.jobs.calculations import Awaited, Wanted
from leaderboard.models import Calculation, Edition, Run
from leaderboard.runs.facts import find_common_cost, find_figure
from leaderboard.runs.facts.figures import Cost, Figure
from leaderboard.scoring.entrants import LAYOUT, find_basis, judges_of

# The grades of marks, which are in this order, see `evaluation.answers.agreement`.
MARK_LABELS = {"0": "contradicts", "1": "none", "2": "partial", "3": "full"}
# What a reader may rank judges by.
STATISTICS_SHOWN = {
    USUAL: "kappa, squared weights",
    "kappa_linear": "kappa, linear weights",
    "kappa": "kappa",
    "alpha_ordinal": "alpha, ordinal",
}

CALIBRATION_COLUMNS: Columns = [
    ("confident_documents", "calibration.documents"),
    *(
        (head, f"calibration.{part}")
        for name, of in (("brier", "brier"), ("calibration_error", "error"))
        for head, part in (
            (name, f"{of}.value"),
            (f"{name}_low", f"{of}.low"),
            (f"{name}_high", f"{of}.high"),
        )
    ),
    ("too_sure", "calibration.excess"),
]


@dataclass(frozen=True)
class JudgeRow:
    """One judge beside people; no rank where too few documents are judged by both."""

    run: Run
    rank: int | None
    ranks: tuple[int, int] | None
    letters: str
    value: Estimate
    alpha: Estimate
    bias: float
    error: float
    documents: int
    abstained: int
    # The names of grades that it hardly uses.
    unused: list[str]
    is_own: bool
    is_baseline: bool
    # By the grade of people, and by topic.
    by_grade: dict[str, PartOfJudge]
    by_topic: dict[str, PartOfJudge]
    # None unless it says how sure it is.
    calibration: Calibration | None = None
    # The cost that most judges state, if this one does.
    figure: Figure | None = None

    @property
    def kind(self) -> str:
        """How charts draw it."""
        return "own" if self.is_own else "baseline" if self.is_baseline else "other"


@dataclass(frozen=True)
class JudgedPart:
    """Documents of one grade by people or of one topic, and each judge on them in its order.

    None for a judge that graded none of them.
    """

    name: str
    judges: list[PartOfJudge | None]

    @property
    def documents(self) -> int:
        """The most that a judge graded."""
        return max(each.documents for each in self.judges if each is not None)


@dataclass(frozen=True)
class JudgeBin:
    """The documents of a judge with about the same confidence."""

    run: Run
    bin: ConfidenceBin


@dataclass(frozen=True)
class FoundJudges:
    """The judges of a track by one statistic, as far as they are compared."""

    statistic: str
    rows: list[JudgeRow]
    topics: int
    awaited: Awaited
    # The cost that most judges state; None without any.
    cost: Cost | None = None
    # What is graded, and what grades are called where they are marks.
    noun: str = "document"
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def best(self) -> list[JudgeRow]:
        """The judges that may be the best."""
        return [row for row in self.rows if row.ranks is not None and row.ranks[0] == 1]

    @property
    def sure(self) -> list[JudgeRow]:
        """The judges that say how sure they are."""
        return [row for row in self.rows if row.calibration is not None]

    @property
    def by_grade(self) -> list[JudgedPart]:
        """The judges on the documents of each grade by people, the highest first."""
        found = {name for row in self.rows for name in row.by_grade}
        parts = sorted(found, key=int, reverse=True)
        return [
            JudgedPart(self.labels.get(name, name), [row.by_grade.get(name) for row in self.rows])
            for name in parts
        ]

    @property
    def by_topic(self) -> list[JudgedPart]:
        """The judges on each topic, those on which they agree least with people first."""
        found = dict.fromkeys(name for row in self.rows for name in row.by_topic)
        parts = [JudgedPart(name, [row.by_topic.get(name) for row in self.rows]) for name in found]
        return sorted(parts, key=_share_alike)

    @property
    def tables(self) -> dict[str, CsvTable]:
        """Return the tables for other programs by name: judges, their parts, their confidence."""
        return {
            "judges": self._table,
            "by_grade": self._tabulate_parts(self.by_grade, "grade"),
            "by_topic": self._tabulate_parts(self.by_topic, "topic"),
            "calibration": self._calibration_table,
        }

    def _tabulate_parts(self, parts: Sequence[JudgedPart], head: str) -> CsvTable:
        rows = [
            [row.run.pk, row.run.tag, part.name, each.documents, each.same, each.bias]
            for part in parts
            for row, each in zip(self.rows, part.judges, strict=True)
            if each is not None
        ]
        return CsvTable(["run", "tag", head, "documents", "same", "bias"], rows)

    @property
    def _calibration_table(self) -> CsvTable:
        bins = [
            JudgeBin(row.run, each)
            for row in self.rows
            for each in (row.calibration.bins if row.calibration else ())
        ]
        parts = ("low", "high", "documents", "confidence", "right")
        return tabulate(bins, [*TEAM_COLUMNS, *((name, f"bin.{name}") for name in parts)])

    @property
    def _table(self) -> CsvTable:
        columns = [
            *TEAM_COLUMNS,
            *(("rank", "rank"), ("letters", "letters"), (self.statistic, "value.value")),
            *((f"{self.statistic}_{end}", f"value.{end}") for end in ("low", "high")),
            ("best_rank", lambda row: row.ranks and row.ranks[0]),
            ("worst_rank", lambda row: row.ranks and row.ranks[1]),
            ("alpha_ordinal", "alpha.value"),
            *((name, name) for name in ("bias", "error", "documents", "abstained")),
        ]
        if self.sure:
            columns += CALIBRATION_COLUMNS
        if self.cost is not None:
            columns.append((self.cost.name, "figure.value"))
        return tabulate(self.rows, columns)


def find_or_request_judges(sight: Sight, statistic: str = USUAL) -> FoundJudges:
    """Return the judges that a viewer sees, and have a job compare them if that is missing."""
    chosen = statistic if statistic in STATISTICS_SHOWN else USUAL
    edition = sight.edition
    if edition is None:
        return FoundJudges(chosen, [], 0, Awaited.NOTHING)
    edition.track = sight.track
    rel = sight.track.relevance_threshold
    request = {"statistic": chosen, "rel": rel}
    results, awaited = find_or_request_results(edition, f"{chosen} from {rel}", request)
    topics = len(results.get("topics", []))
    rows = [
        _read_row(sight, chosen, packed, run, place)
        for place, (packed, run) in enumerate(list_seen(sight, results.get("judges", [])), 1)
    ]
    cost = find_common_cost([row.run.facts for row in rows])
    if cost is not None:
        rows = [replace(row, figure=find_figure(row.run.facts, cost.name)) for row in rows]
    labels = find_labels(sight)
    return FoundJudges(
        chosen, rows, topics, awaited, cost, "pair" if labels else "document", labels
    )


def find_or_request_results(
    edition: Edition, key: str, request: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Awaited]:
    """Return what a job last found of the entrants; it compares them again if they are others."""
    wanted = Wanted(Calculation.Kind.ENTRANTS, edition, f"{key} {LAYOUT}", request)
    entrants, row, awaited = judges_of(edition), wanted.find(), Awaited.NOTHING
    if entrants and (row is None or row.basis != find_basis(edition, entrants)):
        awaited = calculations.request(wanted)
    return row.results if row is not None else {}, awaited


def list_seen(
    sight: Sight, packed: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], Run]]:
    """Return what a job found of each run, with the run, of those that a viewer sees."""
    seen = sight.runs().on_the_board().select_related("team", "track")
    runs = seen.in_bulk([each["id"] for each in packed])
    return [(each, runs[each["id"]]) for each in packed if each["id"] in runs]


def find_labels(sight: Sight) -> Mapping[str, str]:
    """Return what grades are called where judges mark answers."""
    return MARK_LABELS if sight.track.judged_marks else {}


def _share_alike(part: JudgedPart) -> float:
    shares = [each.same for each in part.judges if each is not None]
    return sum(shares) / len(shares)


def _read_row(
    sight: Sight, statistic: str, packed: Mapping[str, Any], run: Run, place: int
) -> JudgeRow:
    best, worst = packed["ranks"]
    estimates = {name: Estimate(*found) for name, found in packed["statistics"].items()}
    return JudgeRow(
        run=sight.with_shown_name(run),
        rank=place if packed["has_rank"] else None,
        ranks=(best, worst) if packed["has_rank"] else None,
        letters=packed["letters"] if packed["has_rank"] else "",
        value=estimates[statistic],
        alpha=estimates["alpha_ordinal"],
        is_own=sight.owns(run),
        is_baseline=run.pk == sight.track.baseline_id,
        calibration=_read_calibration(packed["calibration"]),
        **{
            parts: {name: PartOfJudge(**part) for name, part in packed[parts].items()}
            for parts in ("by_grade", "by_topic")
        },
        unused=[find_labels(sight).get(str(grade), f"grade {grade}") for grade in packed["unused"]],
        **{name: packed[name] for name in ("bias", "error", "documents", "abstained")},
    )


def _read_calibration(packed: Mapping[str, Any] | None) -> Calibration | None:
    if packed is None:
        return None
    estimates = {name: Estimate(**packed[name]) for name in ("brier", "error")}
    bins = tuple(ConfidenceBin(**each) for each in packed["bins"])
    return Calibration(**{**packed, **estimates, "bins": bins})
