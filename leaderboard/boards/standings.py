"""The board: every ranked run of an edition in order, with the tests of their differences."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from evaluation.answers.any_measure import parse_measure
from evaluation.answers.lengths import NAMES
from evaluation.significance import Difference, critical_before, detectable_effect
from evaluation.significance.pairwise import FEWEST_TOPICS
from leaderboard.boards.columns import (
    AGAINST,
    AXIS,
    INTERVAL,
    JUDGED,
    LAST,
    LENGTH,
    OF_ANSWERS,
    RANK,
    RUN,
    RUN_OR_LATE,
    STRIP,
    TEAM,
    TYPE,
    Column,
    best_of,
    measure_column,
    parameter_column,
    seen_columns,
    sort_rows,
)
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.few_marked import FewMarked, estimate_columns, find_few_marked
from leaderboard.boards.judges import WhoJudged, describe_who_judged
from leaderboard.boards.rows import (
    AGAINST_ALL,
    AGAINST_BASELINE,
    OF_PARAMETERS,
    Choice,
    FactFilter,
    Limits,
    assign_ranks,
    build_parameter_filter,
    find_fact_filters,
)
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.numbers import counted
from leaderboard.models import Edition, Run, Track
from leaderboard.runs.facts import FILTERS, Parameter, find_parameters
from leaderboard.scoring.answer_marks import find_layer, find_marks
from leaderboard.scoring.answer_runs import find_answer_rules
from leaderboard.scoring.contest_tests import load_pairs, load_tests
from leaderboard.scoring.contests import (
    ALL_PAIRS,
    RowPairs,
    compare_pair,
    compare_within,
    compute_differences,
    contest_on,
    have_too_many_pairs,
)
from leaderboard.scoring.editions import NO_MARKS, with_marks
from leaderboard.scoring.families import (
    BoardFamily,
    find_family,
    match_measure,
    ranking_measure,
)
from leaderboard.scoring.judgments import count_units, is_not_estimated, tested_groups
from leaderboard.scoring.kinds import kind_of
from leaderboard.scoring.scores import BoardFigures, EditionMeans, Figures, load_means
from leaderboard.scoring.verdicts import verdict_of

# The fields of a run that pages of many runs print; its own page prints the others.
RUN_FIELDS = (
    *("tag", "filename", "description", "kind", "facts", "is_primary", "received_at"),
    *("track_id", "team_id", "sha256", "ranking_file", "num_answered"),
    "num_retrieved",
)
# How many measures besides the ranking one have a column by default.
MEASURES_SHOWN = 4


@dataclass(frozen=True, kw_only=True)
class BoardChoice(Choice):
    """A reader's choices for the board of a track."""

    kind: str = ""
    best_per_team: bool = False
    # What a parameter must be, by its name.
    parameters: Mapping[str, Limits] = field(default_factory=dict)
    # The parameters that links to other pages keep, unchanged.
    carried: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_filters(self) -> bool:
        return bool(self.kind or self.best_per_team or self.parameters) or super().has_filters

    @property
    def words_of_facts(self) -> list[str]:
        limits = (f"{name} {limits.words}" for name, limits in self.parameters.items())
        return [*super().words_of_facts, *limits]

    @property
    def is_sorted(self) -> bool:
        """Whether the lines are in another order than that of the ranks."""
        return bool(self.sort) and self.sort not in ("rank", self.measure)


@dataclass(frozen=True)
class Standing:
    """One line of a board; `rank` is None if the measure is undefined for the run."""

    run: Run
    rank: int | None
    scores: dict[str, float | None]
    # None if the viewer sees only means; the fields below then keep their defaults.
    judged_at_10: float | None
    interval: tuple[int, int] | None = None
    against: Difference | None = None
    is_baseline: bool = False
    is_own: bool = False
    verdict: str = ""
    # Every run down to here is significantly better than every run below.
    breaks_after: bool = False
    all_figures: BoardFigures = field(default_factory=BoardFigures, repr=False, compare=False)

    @property
    def figures(self) -> list[Figures]:
        return self.all_figures.of([self.run.pk])

    @property
    def key(self) -> str:
        return str(self.run.pk)

    @property
    def name(self) -> str:
        return str(self.run)

    @property
    def full_name(self) -> str:
        return self.name

    @property
    def has_pseudonym(self) -> bool:
        return bool(self.run.has_pseudonym)

    @property
    def team(self) -> str:
        return str(self.run.team)

    @property
    def at(self) -> datetime:
        received: datetime = self.run.received_at
        return received

    @property
    def facts(self) -> Mapping[str, Any]:
        stated: Mapping[str, Any] = self.run.facts
        return stated

    @property
    def kind(self) -> Kind:
        """How a chart marks the run."""
        return "baseline" if self.is_baseline else "own" if self.is_own else "other"


@dataclass(frozen=True)
class Board:
    """The board of a track as one viewer sees it, with its best run first."""

    noun = "run"

    sight: Sight
    edition: Edition
    measure: str
    measures: list[str]
    # What the reader asks for, sorted by a column that the board may lack.
    asked: BoardChoice
    standings: list[Standing]
    baseline: Run | None
    tests: BoardTests
    teams: list[str] = field(default_factory=list)

    @cached_property
    def choice(self) -> BoardChoice:
        """The reader's choices; a column that the board lacks sorts nothing."""
        if not self.asked.sort:
            return self.asked
        name = self.asked.sorted_by
        sorting = {column.name for column in self.columns_of_table if not column.is_chart}
        column = name if name in sorting else match_measure(name, self.measures)
        sign = "-" if self.asked.is_reversed else ""
        return replace(self.asked, sort="" if column is None else f"{sign}{column}")

    @property
    def family(self) -> str:
        """The question that the tests answer: `baseline` or `all`."""
        return self.tests.question

    @property
    def compares_all(self) -> bool:
        """Whether the board answers which runs differ from which, not from the baseline alone."""
        return self.family == AGAINST_ALL

    @property
    def pairs(self) -> RowPairs | None:
        """The decisions about all pairs of ranked runs, if the board answers that question."""
        return self.tests.pairs

    @property
    def correction(self) -> str:
        """The name of what adjusts p."""
        if self.compares_all:
            return "all pairs"
        return "max t" if self.sight.track.test == Track.Test.MAX_T else "Holm"

    @property
    def test(self) -> str:
        """The name of the test that decides, as it is stored."""
        return name_of_test(self.sight.track, self.family)

    @property
    def num_in_family(self) -> int:
        """How many runs the tests count; more than are ranked where score chose those.

        Runs that the measure is undefined for on every topic do not count.
        """
        return len(self.tests.family.valued)

    @cached_property
    def decisions(self) -> RowPairs | None:
        """The decisions about all pairs of ranked runs; None until a job has made them."""
        family = self.tests.family
        if self.pairs is not None or not family.runs:
            return self.pairs
        return _decide_all_pairs(self.edition, self.measure, family, self.ranked_ids)

    @property
    def has_too_many_runs(self) -> bool:
        """Whether there are too many runs to compare all their pairs."""
        return have_too_many_pairs(self.num_in_family)

    @property
    def lacks_tests(self) -> bool:
        """Whether all pairs are asked about, but there are too many runs to compare them."""
        return self.compares_all and self.has_too_many_runs

    @property
    def awaits_pairs(self) -> bool:
        """Whether a job has yet to compare all pairs of the runs."""
        can_compare = self.has_enough_topics and not self.has_too_many_runs
        return can_compare and len(self.ranked) > 1 and self.decisions is None

    @property
    def ranked_ids(self) -> list[str]:
        return [standing.run.pk for standing in self.ranked]

    def standing_of(self, run: Run) -> Standing | None:
        return self.standing_with(run.pk)

    def standing_with(self, run_id: str) -> Standing | None:
        return next((standing for standing in self.standings if standing.run.pk == run_id), None)

    @property
    def unestimated(self) -> list[str]:
        """The measures that a stratified sample cannot estimate, where scores are shown."""
        if not self.sight.can_see_scores:
            return []
        judgment_set = self.edition.judgment_set
        return [text for text in self.measures if is_not_estimated(text, judgment_set)]

    @cached_property
    def who_judged(self) -> WhoJudged:
        """Who judged; the shares of both only where scores are shown."""
        shows_shares = self.sight.can_see_scores
        runs = [standing.run for standing in self.standings] if shows_shares else []
        return describe_who_judged(self.edition, runs)

    @property
    def uses_pseudonyms(self) -> bool:
        """Whether this viewer sees pseudonyms instead of the teams' names."""
        return self.sight.hides_names

    @property
    def decimals(self) -> int:
        """How many decimals of a mean the tables print."""
        return self.sight.decimals or 3

    @cached_property
    def has_late(self) -> bool:
        """Whether a run on the board was submitted after the deadline."""
        has_deadline = self.sight.track.closes_at is not None
        return has_deadline and any(standing.run.is_late for standing in self.standings)

    @property
    def rows(self) -> list[Standing]:
        return self.standings

    @cached_property
    def shown(self) -> list[Standing]:
        """The runs that the reader's filters leave, in the order asked for; ranks do not change."""
        return _filter_and_sort(self)

    @cached_property
    def fact_filters(self) -> list[FactFilter]:
        """The facts in which the runs differ, and the parameters that are shown or filter."""
        asked, shown = self.choice.parameters, set(self.choice.columns)
        return find_fact_filters(self.standings, self.choice) + [
            build_parameter_filter(each, self.standings, asked.get(each.name, Limits()))
            for each in self.parameters
            if each.name not in FILTERS
            and (each.name in asked or f"{OF_PARAMETERS}{each.name}" in shown)
        ]

    @cached_property
    def parameters(self) -> list[Parameter]:
        """What the runs state in one flat value, under the names that the viewer may see."""
        return find_parameters([standing.facts for standing in self.standings])

    @property
    def home(self) -> str:
        """The name of the column that ranks the runs."""
        return self.measure

    def value_of(self, row: Standing) -> float | None:
        """Return what ranks a run."""
        return row.scores[self.measure]

    @cached_property
    def columns_of_table(self) -> list[Column]:
        """Every column that the board can have, in order."""
        run = RUN_OR_LATE if self.has_late else RUN
        ranking = replace(self._column_of(self.measure), ranks=True, is_fixed=True, on_phone=True)
        others = [
            replace(self._column_of(measure), is_default=place < MEASURES_SHOWN)
            for place, measure in enumerate(self.others)
        ]
        first = [RANK, run, TEAM, TYPE, ranking, AXIS]
        parameters = map(parameter_column, self.parameters)
        last = [*parameters, *seen_columns(LAST, self.sight.can_see_scores)]
        if not self.sight.can_see_scores:
            return [*first, *others, *last]
        topics = counted(self.edition.num_evaluated, "topic")
        details = {"p": self.correction, "wins": topics}
        against = [replace(each, detail=details.get(each.name, each.detail)) for each in AGAINST]
        judged = replace(JUDGED, decimals=self.decimals)
        lengths = self._length_columns
        estimated = estimate_columns(self.drawn)
        return [*first, STRIP, INTERVAL, *others, *estimated, *lengths, judged, *against, *last]

    @cached_property
    def few_marked(self) -> list[FewMarked]:
        """The runs and measures with few marked pairs; none for readers of rounded means."""
        if not (kind_of(self.sight.track).has_texts and self.sight.can_see_scores):
            return []
        runs = {standing.run.pk: standing.run for standing in self.standings}
        return find_few_marked(self.edition, runs, self.measures)

    @property
    def drawn(self) -> list[FewMarked]:
        """The runs and measures with drawn pairs: an estimate, or the reason why there is none."""
        return [each for each in self.few_marked if each.is_drawn]

    @cached_property
    def drawn_by_run(self) -> dict[str, list[FewMarked]]:
        """The same by the ID of the run."""
        found: dict[str, list[FewMarked]] = {}
        for each in self.drawn:
            found.setdefault(each.run.pk, []).append(each)
        return found

    @property
    def _length_columns(self) -> list[Column]:
        """The columns of lengths, where runs are answers."""
        track = self.sight.track
        if not kind_of(track).has_texts:
            return []
        unit = NAMES[find_answer_rules(track).unit]
        return [replace(LENGTH, detail=unit), *OF_ANSWERS[1:]]

    def _column_of(self, measure: str) -> Column:
        return measure_column(
            measure,
            measure,
            lambda standing: standing.scores[measure],
            self.best[measure],
            falls=parse_measure(measure).direction > 0,
            rounded=self.sight.decimals,
            measure=measure,
            detail=" and ".join(self._origins[name] for name in find_marks(measure)),
        )

    @cached_property
    def _origins(self) -> dict[str, str]:
        """Who made the marks that the board reads, by the setting of their layer."""
        track = with_marks(self.edition)
        found = {name: find_layer(track, name) for name in NO_MARKS}
        return {name: "" if layer is None else layer.origin for name, layer in found.items()}

    @property
    def others(self) -> list[str]:
        """The measures besides the one that ranks."""
        return [measure for measure in self.measures if measure != self.measure]

    @property
    def missing(self) -> list[str]:
        """The measures of the track that this board does not have."""
        return [measure for measure in self.sight.track.measures if measure not in self.measures]

    @cached_property
    def best(self) -> dict[str, float | None]:
        """The best value of every measure."""
        return {
            measure: best_of(
                (standing.scores[measure] for standing in self.standings),
                parse_measure(measure).direction,
            )
            for measure in self.measures
        }

    @cached_property
    def ranked(self) -> list[Standing]:
        """The standings with a rank; the measure is undefined for the others."""
        return [standing for standing in self.standings if standing.rank is not None]

    @property
    def unranked(self) -> list[Standing]:
        """The standings that the measure is undefined for on every topic."""
        return [standing for standing in self.standings if standing.rank is None]

    @property
    def leaders(self) -> list[Standing]:
        """The first standing, or several whose values are exactly equal."""
        return [standing for standing in self.ranked if standing.rank == 1]

    @property
    def num_compared(self) -> int:
        """How many runs are tested against the baseline."""
        return max(0, self.num_in_family - 1)

    @property
    def is_untested(self) -> bool:
        """Whether the tests that the board shows are still to be made."""
        if self.compares_all:
            return self.awaits_pairs
        against = [standing.against for standing in self.standings if standing.against is not None]
        known = [difference for difference in against if difference.difference is not None]
        return bool(known) and all(difference.p_adjusted is None for difference in known)

    @property
    def median_judged(self) -> float:
        """The Judged@10 of the run in the middle."""
        return statistics.median(standing.judged_at_10 or 0.0 for standing in self.standings)

    @property
    def has_enough_topics(self) -> bool:
        """Whether there are enough topics, or groups, for a difference to be significant."""
        return self.num_units >= FEWEST_TOPICS

    @cached_property
    def num_units(self) -> int:
        """How many topics, or groups of topics, its tests flip."""
        return count_units(self.edition)

    @cached_property
    def num_groups(self) -> int:
        """How many groups its topics are in; 0 where each is by itself."""
        groups = tested_groups(self.edition)
        return 0 if groups is None else len(set(groups.tolist()))

    @property
    def topics_text(self) -> str:
        """Its topics in words: "25 topics", or "25 topics in 8 groups"."""
        topics = counted(self.edition.num_evaluated, "topic")
        return f"{topics} in {counted(self.num_groups, 'group')}" if self.num_groups else topics

    @cached_property
    def detectable(self) -> Detectable | None:
        """What a run named in advance shows with probability .80 on these topics or groups."""
        units = self.num_units
        if not self.has_enough_topics or self.lacks_tests or self.num_in_family < 2:
            return None
        deviations = [_deviation_of(each.against) for each in self.ranked if each.against]
        known = [deviation for deviation in deviations if deviation]
        # The differences of topics say nothing of those of groups.
        deviation = statistics.median(known) if known and not self.num_groups else None
        rivals = "all" if self.compares_all else "baseline"
        critical = critical_before(units, self.num_in_family, rivals)
        if self.compares_all and self.decisions is not None:
            decisions = self.decisions.decisions
            critical = decisions.critical or critical
            printed = self.edition.num_evaluated if self.decisions.scale.unit == "total" else 1
            is_ratio = self.decisions.scale.unit == "ratio"
            deviation = None if is_ratio else decisions.deviation * printed
        effect = detectable_effect(units, critical)
        if effect is None:
            return None
        return Detectable(effect, effect * deviation if deviation else None)


@dataclass(frozen=True)
class Detectable:
    """A true difference in standard deviations of its topics, and in the measure if it has one."""

    effect: float
    size: float | None


def _deviation_of(against: Difference) -> float | None:
    """Return the standard deviation of a difference over its topics; None of a ratio."""
    if against.unit == "ratio" or not against.effect_size or against.difference is None:
        return None
    return against.difference / against.effect_size


def name_of_test(track: Track, question: str) -> str:
    """Return the stored name of the test that answers a question."""
    return ALL_PAIRS if question == AGAINST_ALL else str(track.test)


@dataclass(frozen=True)
class BoardTests:
    """The tests of a family; empty if the viewer sees only rounded means.

    `question` is "baseline" or "all"; only one of them is answered, so that no two verdicts
    about the same runs can differ.
    """

    question: str = AGAINST_ALL
    family: BoardFamily = field(default_factory=BoardFamily)
    pairs: RowPairs | None = None
    baseline: Run | None = None
    against: Mapping[str, Difference] = field(default_factory=dict)


@dataclass(frozen=True)
class PairTest:
    """The difference of run `b` from run `a`, and the question whose family decides it.

    `is_outside` says that the reader asked about the baseline only, so that a pair without it is
    answered by the decisions about all pairs.
    """

    against: Difference
    question: str
    is_outside: bool


def decide_pair(board: Board, a: Run, b: Run) -> PairTest:
    """Return the difference of `b` from `a` with the verdict of the board about the two."""
    against_baseline = not board.compares_all and board.baseline in (a, b)
    if against_baseline:
        other = b if board.baseline == a else a
        standing = board.standing_of(other)
        found = standing.against if standing is not None else None
        if found is not None:
            return PairTest(found if other == b else found.reversed(), AGAINST_BASELINE, False)
    against = compare_pair(board.edition, board.measure, a.pk, b.pk)
    decisions = board.decisions if board.has_enough_topics else None
    if decisions is not None and {a.pk, b.pk} <= decisions.places.keys():
        against = decisions.decide(against, b.pk, a.pk)
    return PairTest(against, AGAINST_ALL, not board.compares_all)


def find_board(sight: Sight, choice: BoardChoice | None = None) -> Board | None:
    """Return the board of a track with its scores; None if the viewer may not see them."""
    return find_visible_board(sight, choice) if sight.can_see_scores else None


def find_untested_board(sight: Sight, choice: BoardChoice | None = None) -> Board | None:
    """Return the board without its tests, for pages that show none."""
    return find_visible_board(sight, choice, tested=False) if sight.can_see_scores else None


def find_board_with(sight: Sight, choice: BoardChoice, *run_ids: str) -> Board | None:
    """Return a board with these runs; None if the viewer may not see its scores."""
    return find_visible_board_with(sight, choice, *run_ids) if sight.can_see_scores else None


def find_visible_board_with(sight: Sight, choice: BoardChoice, *run_ids: str) -> Board | None:
    """Return the board if it has these runs, otherwise the board of all runs."""
    board = find_visible_board(sight, choice)
    if board is None or all(board.standing_with(run_id) for run_id in run_ids):
        return board
    return find_visible_board(sight.with_every_run(), choice)


def find_visible_board(
    sight: Sight, choice: BoardChoice | None = None, *, tested: bool = True
) -> Board | None:
    """Return the board as this viewer may see it, possibly with rounded means, or None.

    Rounded means have no tests and no intervals, and equal ones share a rank.
    """
    edition = sight.shown_edition
    if edition is None:
        return None
    edition.track = sight.track
    scored = _load_runs(sight, edition)
    runs = {run.pk: run for run in sight.select_board_runs(edition, scored)}
    means = load_means(edition)
    measured = _visible_means(sight, means, runs)
    measures = _complete_measures(sight.track, measured.means.values())
    choice = _valid_choice(choice or BoardChoice(), sight, measures)
    runs = {run_id: run for run_id, run in runs.items() if choice.measure in measured.means[run_id]}
    tests = BoardTests()
    if sight.can_see_scores:
        family = find_family(sight.track, scored, runs.values(), means.by(choice.measure))
        tests = _compare(edition, choice, runs, family, tested)
    standings = _rank(sight, edition, choice.measure, measures, runs, measured, tests)
    return Board(
        sight=sight,
        edition=edition,
        measure=choice.measure,
        measures=measures,
        asked=choice,
        standings=standings,
        baseline=tests.baseline,
        tests=tests,
        teams=sorted({standing.team for standing in standings}),
    )


def _complete_measures(track: Track, means: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the track's measures that every run has, or else those that the board has."""
    counts = Counter(chain.from_iterable(means))
    made = [measure for measure, number in counts.items() if number == max(counts.values())]
    wanted = [measure for measure in track.measures if measure in made or not counts]
    return wanted or sorted(made)


def _valid_choice(choice: BoardChoice, sight: Sight, measures: list[str]) -> BoardChoice:
    track = sight.track
    home = ranking_measure(track, measures)
    measure = match_measure(choice.measure, measures) or home
    baseline = choice.baseline or (track.baseline_id or "")
    return replace(choice, measure=measure, baseline=baseline)


def _load_runs(sight: Sight, edition: Edition) -> list[Run]:
    """Load the scored runs with the fields that boards print; track and teams are shared."""
    # Reading JSON is slow, and only answers have lengths.
    more = ["lengths"] if kind_of(sight.track).has_texts else []
    runs = Run.objects.on_the_board().filter(score_sets__edition=edition)
    scored = list(runs.only(*RUN_FIELDS, *more))
    # Teams are read after the runs, or a team that joined in between would be missing.
    teams = {team.pk: team for team in sight.track.benchmark.teams.all()}
    for run in scored:
        # Setting both attributes would do the same, but takes as long as the whole query.
        run._state.fields_cache |= {"track": sight.track, "team": teams[run.team_id]}
    return scored


def _compare(
    edition: Edition,
    choice: BoardChoice,
    runs: dict[str, Run],
    family: BoardFamily,
    tested: bool,
) -> BoardTests:
    """Make the tests of the question asked: against the baseline if there is one, or all pairs."""
    measure = choice.measure
    baseline = runs.get(choice.baseline) or runs.get(edition.track.baseline_id or "")
    # With too many runs pairs are not compared, whatever the reader asks.
    can_ask_all = not have_too_many_pairs(len(family.valued))
    asks_all = baseline is None or (choice.family == AGAINST_ALL and can_ask_all)
    question = AGAINST_ALL if asks_all else AGAINST_BASELINE
    if not tested:
        return BoardTests(question, family, baseline=baseline)
    if baseline is not None and not asks_all:
        contest = contest_on(edition, measure, family.runs, baseline.pk)
        made = load_tests(contest)
        # Until a job has made the tests the differences are shown without them.
        against = compute_differences(contest, is_tested=False) if made is None else made.against
        return BoardTests(question, family, None, baseline, against)
    pairs = _decide_all_pairs(edition, measure, family, list(runs))
    if baseline is None:
        return BoardTests(question, family, pairs)
    against = compare_within(contest_on(edition, measure, list(runs), baseline.pk), pairs)
    return BoardTests(question, family, pairs, baseline, against)


def _decide_all_pairs(
    edition: Edition, measure: str, family: BoardFamily, run_ids: Sequence[str]
) -> RowPairs | None:
    """Decide about the pairs of these runs; None below six topics or until a job has done it."""
    if count_units(edition) < FEWEST_TOPICS:
        return None
    return load_pairs(contest_on(edition, measure, family.valued), run_ids)


def _rank_intervals(
    pairs: RowPairs | None, ordered: Sequence[str]
) -> tuple[list[tuple[int, int] | None], set[int]]:
    """Return the rank interval of each run, and the places that separate all above from below."""
    if pairs is None:
        return [None] * len(ordered), set()
    # Runs without a value come last, and have no place among the pairs.
    known = [run_id for run_id in ordered if run_id in pairs.places]
    places = np.array([pairs.places[run_id] for run_id in known], dtype=np.int64)
    low, high = pairs.decisions.rank_low[places], pairs.decisions.rank_high[places]
    intervals = list(zip(low.tolist(), high.tolist(), strict=True))
    without: list[tuple[int, int] | None] = [None] * (len(ordered) - len(known))
    return [*intervals, *without], set(pairs.decisions.separated_in(places))


def _rank(
    sight: Sight,
    edition: Edition,
    measure: str,
    measures: list[str],
    runs: dict[str, Run],
    measured: EditionMeans,
    tests: BoardTests,
) -> list[Standing]:
    """Rank the runs by the values shown; equal values share a rank (1, 2, 2, 4)."""
    direction, units = parse_measure(measure).direction, count_units(edition)
    means, figures = measured.means, BoardFigures((edition,))
    baseline = tests.baseline.pk if tests.baseline is not None else sight.track.baseline_id

    values = {run_id: means[run_id].get(measure) for run_id in runs}
    ordered = [run.pk for run in sort_by_value(runs.values(), values, direction)]
    ranks = assign_ranks([values[run_id] for run_id in ordered])
    intervals, breaks = _rank_intervals(tests.pairs, ordered)
    return [
        Standing(
            run=runs[run_id],
            rank=ranks[place],
            scores={measure: means[run_id].get(measure) for measure in measures},
            judged_at_10=measured.judged.get(run_id),
            interval=intervals[place],
            against=tests.against.get(run_id),
            is_baseline=run_id == baseline,
            is_own=sight.owns(runs[run_id]),
            verdict=verdict_of(tests.against.get(run_id), units, direction),
            breaks_after=place in breaks,
            all_figures=figures,
        )
        for place, run_id in enumerate(ordered)
    ]


def _visible_means(sight: Sight, measured: EditionMeans, runs: Iterable[str]) -> EditionMeans:
    """Return the means of these runs as this viewer may see them."""
    means = {run_id: measured.means.get(run_id, {}) for run_id in runs}
    if sight.decimals is not None:
        means = {
            run_id: {measure: sight.round_mean(measure, mean) for measure, mean in of_run.items()}
            for run_id, of_run in means.items()
        }
    return EditionMeans(means, measured.judged if sight.can_see_scores else {})


def sort_by_value(
    runs: Iterable[Run], values: Mapping[str, float | None], direction: int
) -> list[Run]:
    """Sort runs by value: the best first, equal ones by tag, undefined ones last."""

    def key(run: Run) -> tuple[bool, float, str]:
        value = values[run.pk]
        return value is None, -direction * (value or 0.0), run.tag

    return sorted(runs, key=key)


def _filter_and_sort(board: Board) -> list[Standing]:
    """Apply the reader's filters and order; ranks and family do not change."""
    standings, choice = board.standings, _read_text(board)
    if not choice.has_filters and not choice.is_sorted:
        return standings
    shown = [each for each in standings if choice.matches(each)]
    shown = [each for each in shown if choice.kind in ("", each.run.kind)]
    for parameter in board.parameters if choice.parameters else ():
        if parameter.name in choice.parameters:
            limits = choice.parameters[parameter.name]
            shown = [each for each in shown if limits.admit(parameter, each)]
    if choice.best_per_team:
        first: dict[int, Standing] = {}
        for standing in shown:
            first.setdefault(standing.run.team_id, standing)
        shown = list(first.values())
    if not choice.is_sorted:
        return _carry_breaks(shown, standings)
    rows = sort_rows(shown, choice, board.columns_of_table)
    return [replace(standing, breaks_after=False) for standing in rows]


def _read_text(board: Board) -> BoardChoice:
    """Return the choice, whose text "name=value" means a parameter, if the board has it."""
    name, _, word = (part.strip() for part in board.choice.text.partition("="))
    if not word or name not in {parameter.name for parameter in board.parameters}:
        return board.choice
    parameters = {**board.choice.parameters, name: Limits(word)}
    return replace(board.choice, text="", parameters=parameters)


def _carry_breaks(shown: list[Standing], standings: list[Standing]) -> list[Standing]:
    """Move a clean break below a filtered run to the last shown run above it."""
    level, levels = 0, {}
    for standing in standings:
        levels[standing.run.pk] = level
        level += standing.breaks_after
    below = [*(levels[standing.run.pk] for standing in shown[1:]), 0]
    return [
        replace(standing, breaks_after=next_level > levels[standing.run.pk])
        for standing, next_level in zip(shown, below, strict=False)
    ]
