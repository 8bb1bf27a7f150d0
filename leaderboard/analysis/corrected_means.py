"""The board of a machine with each mean corrected by the sample that people judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evaluation.correction import MOST_UNCOVERED, PlannedLabels, explain_uncorrected
from evaluation.correction.gains import FEWEST_LABELS
from evaluation.measures import parse_measure
from evaluation.significance import Interval
from leaderboard.analysis.shifts import place_runs
from leaderboard.boards.disclosure import Sight
from leaderboard.display.csv_tables import RUN_COLUMNS, Columns, CsvTable, tabulate
from leaderboard.jobs import calculations
from leaderboard.jobs.calculations import Awaited, Wanted
from leaderboard.models import Calculation, JudgmentSet, Run
from leaderboard.scoring.corrected_means import ClosedSample, find_basis, find_closed_sample
from leaderboard.scoring.families import match_measure
from leaderboard.scoring.judge_boards import family_by_judge, measures_by_judge

LEVEL = 0.05


@dataclass(frozen=True)
class CorrectedValue:
    """A corrected mean or difference, with its interval for these topics and for such topics."""

    value: float
    labels: Interval | None
    topics: Interval | None


@dataclass(frozen=True)
class MachineGain:
    """How much more a run gains from the machine than the others; p over all runs, and alone."""

    value: float
    interval: Interval | None
    p: float
    p_alone: float

    @property
    def is_found(self) -> bool:
        return self.p <= LEVEL


@dataclass(frozen=True)
class CorrectedRun:
    """A run in the machine's order: its mean by the machine, and what people correct.

    `corrected` and `difference` are None where too much of the run lies outside of the frame.
    """

    run: Run
    rank: int
    by_machine: float
    uncovered: float
    corrected: CorrectedValue | None
    difference: CorrectedValue | None
    gain: MachineGain | None


@dataclass(frozen=True)
class CorrectedMeans:
    """The corrected board of a machine by one measure.

    `drawn` of the `documents` of the frame were drawn, and people gave `judged` of them a grade.
    """

    measure: str
    topics: int
    documents: int
    drawn: int
    judged: int
    depth: int
    runs: list[CorrectedRun]
    against: Run | None = None
    slope: float = 1.0
    joined: int = 0
    gain_margin: float = 0.0
    gain_sought: float = 0.0
    power_named: float | None = None
    power_any: float | None = None
    plan: list[PlannedLabels] = field(default_factory=list)
    why_none: str = ""
    computed_at: datetime | None = None

    @property
    def num_without_grade(self) -> int:
        return self.drawn - self.judged

    @property
    def is_testable(self) -> bool:
        """Whether the sample is large enough to ask who gains from the machine."""
        return self.judged >= FEWEST_LABELS and self.power_any is not None

    @property
    def gainers(self) -> list[CorrectedRun]:
        """The runs that gain more than the others, the largest gain first."""
        if not self.is_testable:
            return []
        found = [(each.gain.value, each) for each in self.runs if each.gain and each.gain.is_found]
        return [each for _, each in sorted(found, key=lambda pair: -pair[0])]

    @property
    def outside(self) -> list[CorrectedRun]:
        """The runs with too much weight outside of the frame, such as later ones."""
        return [each for each in self.runs if each.corrected is None]

    @property
    def table(self) -> CsvTable:
        columns = [
            *(*RUN_COLUMNS, ("rank_by_machine", "rank")),
            *(("mean_by_machine", "by_machine"), ("share_outside_frame", "uncovered")),
            *columns_of("corrected"),
            *columns_of("difference"),
            *(("gain_from_machine", "gain.value"), ("p_of_gain", "gain.p")),
        ]
        return tabulate(self.runs, columns)


def columns_of(name: str) -> Columns:
    """Return the columns of a corrected value: it, and the ends of both intervals."""
    return [
        (name, f"{name}.value"),
        *((f"{name}_{end}_these_topics", f"{name}.labels.{end}") for end in ("low", "high")),
        *((f"{name}_{end}_such_topics", f"{name}.topics.{end}") for end in ("low", "high")),
    ]


@dataclass(frozen=True)
class FoundMeans:
    """The corrected means as far as there are any: why not, or what becomes of them.

    `has_old_samples` tells of closed samples without probabilities, which correct nothing.
    """

    by_machine: JudgmentSet
    measures: list[str]
    measure: str
    sample: ClosedSample | None = None
    has_old_samples: bool = False
    why_uncorrected: str = ""
    means: CorrectedMeans | None = None
    awaited: Awaited = Awaited.NOTHING

    @property
    def note(self) -> str:
        """Why there are no corrected means; "" if there are, or will be."""
        if not self.measures:
            return "You cannot see scores of this track, or no measure of it needs grades alone."
        if self.why_uncorrected:
            return f"{self.why_uncorrected}."
        if self.sample is None and self.has_old_samples:
            return (
                f"The closed samples of {self.by_machine} have no stored probabilities: they say"
                " how far people agree with the machine, but cannot correct a mean. Draw a new one."
            )
        if self.sample is None:
            return "People judge a sample first; it counts when its judging is closed."
        return "" if self.means is None else self.means.why_none


def find_corrected_means(
    sight: Sight, by_machine: JudgmentSet, asked: str = "", against: str = ""
) -> FoundMeans:
    """Return the corrected means of a machine, and have a job compute them if they are missing.

    `against` is the id of the run from which differences are; else the baseline.
    """
    track = sight.track
    measures = measures_by_judge(track)
    if not measures or not sight.can_see_scores:
        return FoundMeans(by_machine, [], "")
    measure = match_measure(asked, measures) or measures[0]
    sample = find_closed_sample(track, by_machine)
    if sample is None:
        old = track.pools.filter(checks=by_machine, assessments__state="closed").exists()
        return FoundMeans(by_machine, measures, measure, has_old_samples=old)
    if reason := explain_uncorrected(parse_measure(measure), sample.depth):
        return FoundMeans(by_machine, measures, measure, sample, why_uncorrected=reason)
    family = family_by_judge(track)
    chosen = against if against in family else track.baseline_id
    chosen = chosen if chosen in family else next(iter(family), None)
    request = {"machine": by_machine.pk, "measure": measure, "against": chosen}
    key = f"{measure} by {by_machine.pk} against {chosen}"
    wanted = Wanted(Calculation.Kind.CORRECTED, track, key, request)
    row, awaited = wanted.find(), Awaited.NOTHING
    if row is None or row.basis != find_basis(track, sample):
        awaited = calculations.request(wanted)
    is_known = row is not None and row.results.get("family") == family
    means = _read(row, sample) if row is not None and is_known else None
    return FoundMeans(by_machine, measures, measure, sample, means=means, awaited=awaited)


def _read(row: Calculation, sample: ClosedSample) -> CorrectedMeans:
    results, measure = row.results, row.request["measure"]
    head = {name: results[name] for name in ("topics", "documents", "drawn", "judged")}
    # A row of the page needs no more, and a board may have hundreds.
    found = Run.objects.only("tag", "filename").in_bulk(results["family"])
    if results.get("why_none"):
        return CorrectedMeans(
            measure, **head, depth=sample.depth, runs=[], why_none=results["why_none"]
        )
    gains = results["gains"]
    return CorrectedMeans(
        measure,
        **head,
        depth=sample.depth,
        runs=_read_runs(row, found),
        against=found.get(results["against"]),
        slope=results["slope"],
        joined=results["joined"],
        gain_margin=gains.get("margin", 0.0),
        gain_sought=gains.get("sought", 0.0),
        power_named=gains.get("named"),
        power_any=gains.get("any_run"),
        plan=[PlannedLabels(**each) for each in results["plan"]],
        computed_at=row.computed_at,
    )


def _read_runs(row: Calculation, found: dict[str, Run]) -> list[CorrectedRun]:
    """Return the runs by their rank by the machine."""
    results = row.results
    direction = parse_measure(row.request["measure"]).direction
    highest, family = results["highest"], results["family"]
    places = place_runs(results["by_machine"], direction)
    runs = []
    for number, run_id in enumerate(family):
        is_covered = results["uncovered"][number] <= MOST_UNCOVERED
        difference = results.get("differences") if run_id != results["against"] else None
        runs.append(
            CorrectedRun(
                run=found[run_id],
                rank=places[number].rank,
                by_machine=results["by_machine"][number],
                uncovered=results["uncovered"][number],
                corrected=_read_value(results["means"][number], 0.0, highest)
                if is_covered
                else None,
                difference=_read_value(difference[number], -highest, highest)
                if difference and is_covered
                else None,
                gain=_read_gain(results["gains"], number) if is_covered else None,
            )
        )
    return sorted(runs, key=lambda each: (each.rank, each.run.pk))


def _read_value(packed: Sequence[Any], lowest: float, highest: float) -> CorrectedValue:
    """Return an estimate with its intervals, cut to the range of the measure."""
    value, labels, topics = packed
    intervals = [
        None
        if margin is None
        else Interval(max(value - margin, lowest), min(value + margin, highest))
        for margin in (labels, topics)
    ]
    return CorrectedValue(value, *intervals)


def _read_gain(gains: dict[str, Any], number: int) -> MachineGain | None:
    if not gains:
        return None
    value, margin = gains["values"][number], gains["margins"][number]
    interval = None if margin is None else Interval(value - margin, value + margin)
    return MachineGain(value, interval, gains["adjusted"][number], gains["p"][number])
