"""The tests of contests: a request makes small ones itself, and jobs store the others.

What a job stored counts only while the family is still the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import F, Q, Value
from django.db.models.functions import Concat

from evaluation.answers.any_measure import parse_measure
from evaluation.significance import Difference, Loss, scale_of
from leaderboard.infrastructure.process_cache import ProcessCache
from leaderboard.models import Calculation, Edition, Job
from leaderboard.models.calculations import CalculationQuerySet, owned_by
from leaderboard.models.jobs import Progress, Publish
from leaderboard.scoring.contests import (
    ALL_PAIRS,
    BENCHMARK_METHOD,
    EACH_OTHER,
    METHOD,
    AllPairs,
    Contest,
    ContestLead,
    Losses,
    RowPairs,
    UnseenRanks,
    compute_differences,
    compute_p_alone,
    contest_on,
    decide_all_pairs,
    decide_between,
    find_leads,
    find_losses,
    have_too_many_pairs,
    rank_for_unseen,
)
from leaderboard.scoring.families import family_of, with_values
from leaderboard.scoring.ranking_boards import follow_systems
from leaderboard.scoring.scores import load_measure_means

# Rows x topics up to which a request makes the tests itself: 40 ms. A benchmark asks for more.
IMMEDIATE_SCORES, IMMEDIATE_BENCHMARK_SCORES = 5_000, 3_000
# Runs up to which a request compares all pairs itself: 40 ms.
IMMEDIATE_RUNS = 40
# How many tests a process caches; those of 500 runs take half a megabyte.
CACHE_SIZE = 32


@dataclass(frozen=True)
class ContestTests:
    """What the tests of a contest say, by the names of its rows.

    Those of a track have only what was asked for: `pairs`, or `against` the baseline.  `leads` are
    those of the best row over the second and over the baseline, and `alone` is the p of each row
    against the baseline on each part, adjusted for rows and parts.  `unseen` is what several parts
    say about other collections of their kind, `losses` how much more each row loses than the
    baseline on each part after the first, if they are in order.
    """

    family: list[str]
    pairs: AllPairs | None = None
    against: dict[str, Difference] = field(default_factory=dict)
    leads: list[ContestLead] = field(default_factory=list)
    alone: dict[str, list[float | None]] = field(default_factory=dict)
    unseen: UnseenRanks | None = None
    losses: Losses = field(default_factory=list)
    # The edition of the track whose board they are of.
    edition_id: int | None = None


# The id of a calculation and the time it was made.
Stamp = tuple[int, datetime]
tests_cache: ProcessCache[Stamp, ContestTests] = ProcessCache(CACHE_SIZE)


def load_tests(contest: Contest) -> ContestTests | None:
    """Return the tests, stored or made now; None if a job has yet to make them.

    None below two rows too, where no question about pairs is to be answered, and where there are
    too many of them.
    """
    if contest.is_too_large:
        return None
    kept = Calculation.objects.of(contest.kind, contest.owner).filter(key=contest.key)
    for tests in _load_stored(kept):
        if tests.family == contest.names:
            return tests
    has_pairs = contest.baseline is not None or len(contest.rows) > 1
    return compute_tests(contest) if has_pairs and is_immediate(contest) else None


def load_tests_on_first_sight(editions: Sequence[Edition]) -> list[ContestTests]:
    """Return the stored tests by the primary measure of each track that a first look shows.

    These are those against the track's baseline, and of all pairs.
    """
    measure, against = F("edition__track__primary_measure"), Value(" against ")
    baseline, test = F("edition__track__baseline"), F("edition__track__test")
    all_pairs = Concat(Value(f"{ALL_PAIRS} {METHOD} by "), measure, against, Value(EACH_OTHER))
    with_baseline = Concat(test, Value(f" {METHOD} by "), measure, against, baseline)
    tests = Calculation.objects.filter(kind=Calculation.Kind.TESTS, edition__in=editions)
    kept = tests.filter(Q(key=all_pairs) | Q(key=with_baseline))
    found = _load_stored(kept)
    return [each for each in found if not (each.pairs and have_too_many_pairs(len(each.family)))]


def _load_stored(kept: CalculationQuerySet) -> list[ContestTests]:
    """Return the tests that are made; a process reads each once."""

    def read(stamps: Sequence[Stamp]) -> dict[Stamp, ContestTests]:
        rows = Calculation.objects.made().filter(pk__in=[number for number, _ in stamps])
        return {(row.pk, row.computed_at): _read_tests(row) for row in rows}

    stamps = kept.made().values_list("pk", "computed_at")
    return list(tests_cache.get_many(list(stamps), read).values())


def load_pairs(contest: Contest, names: Sequence[str]) -> RowPairs | None:
    """Decide about the pairs of these rows; None if a job has yet to make the tests."""
    tests = load_tests(contest)
    if tests is None or tests.pairs is None:
        return None
    return decide_between(contest, tests.pairs, names)


def is_immediate(contest: Contest) -> bool:
    """Whether a request makes the tests itself."""
    if contest.benchmark is not None:
        return contest.num_scores <= IMMEDIATE_BENCHMARK_SCORES
    compares_all = contest.baseline is None
    is_long = compares_all and len(contest.rows) > IMMEDIATE_RUNS
    return contest.num_scores <= IMMEDIATE_SCORES and not is_long


def compute_tests(contest: Contest) -> ContestTests:
    """Answer the question of a track's contest, or all those of a benchmark's."""
    names, against = contest.names, {}
    if contest.baseline is not None:
        against = compute_differences(contest)
        if contest.benchmark is None:
            return ContestTests(names, against=against)
    decided = decide_all_pairs(contest)
    pairs = AllPairs.of(names, decided)
    if contest.benchmark is None:
        return ContestTests(names, pairs)
    return ContestTests(
        names,
        pairs,
        against,
        leads=find_leads(contest, decided, against),
        alone=compute_p_alone(contest),
        unseen=rank_for_unseen(contest),
        losses=find_losses(contest),
    )


def pack_tests(contest: Contest, tests: ContestTests) -> dict[str, Any]:
    """Return the tests as JSON stores them; the measure decides the unit of a difference."""
    against = {name: asdict(found) for name, found in tests.against.items()}
    for found in against.values():
        del found["unit"]
    pairs = tests.pairs.pack() if tests.pairs is not None else None
    if contest.benchmark is None:
        return {"family": tests.family, "tests": pairs or against}
    return {
        "family": tests.family,
        "pairs": pairs,
        "against": against,
        "leads": [asdict(lead) for lead in tests.leads],
        "alone": tests.alone,
        "unseen": asdict(tests.unseen) if tests.unseen is not None else None,
        "losses": [{name: asdict(loss) for name, loss in of.items()} for of in tests.losses],
    }


def _read_tests(row: Calculation) -> ContestTests:
    """Return what a job stored: the answer to one question on a track, or all of a benchmark."""
    asked, stored = row.request, row.results
    if row.kind == Calculation.Kind.CONTEST:
        [_, measure], *_ = asked["parts"]
        pairs, against = stored["pairs"], stored["against"]
    else:
        measure, has_pairs = asked["measure"], asked["baseline"] is None
        pairs, against = (stored["tests"], {}) if has_pairs else (None, stored["tests"])
    family, unit = stored["family"], scale_of(parse_measure(measure)).unit
    return ContestTests(
        family=family,
        pairs=AllPairs.unpack(pairs) if pairs else None,
        against={name: Difference(**found, unit=unit) for name, found in against.items()},
        leads=[ContestLead.unpack(lead) for lead in stored.get("leads", [])],
        alone=stored.get("alone", {}),
        unseen=UnseenRanks(**unseen) if (unseen := stored.get("unseen")) else None,
        losses=[
            {name: Loss(**loss) for name, loss in of.items()} for of in stored.get("losses", [])
        ],
        edition_id=row.edition_id,
    )


def make_contest_tests(asked: Calculation, progress: Progress) -> Publish:
    """Make the tests of a benchmark's contest; return the function that stores them."""
    if asked.request.get("method") != BENCHMARK_METHOD:
        # Code of another version asked for them, and reads them in another form.
        return lambda: _forget(asked)
    assert asked.benchmark is not None
    contest = Contest.unpack(asked.benchmark, asked.request)
    return partial(asked.keep, pack_tests(contest, compute_tests(contest)))


def compare_edition(edition_id: str, progress: Progress) -> Publish:
    """Make the tests of an edition and return the function that stores them.

    These are all pairs by every measure, the track's baseline by the primary measure, and the
    comparisons that readers asked for.
    """
    edition = Edition.objects.select_related("track").get(pk=edition_id)
    track, family = edition.track, family_of(edition)
    if not family:
        return partial(follow_systems, track)
    measures = {*track.measures, track.primary_measure}
    means = {measure: load_measure_means(edition, measure) for measure in measures}
    scored = [measure for measure in track.measures if means[measure].keys() >= set(family)]
    scored.sort(key=lambda measure: measure != track.primary_measure)
    contests = []
    if track.baseline_id in means[track.primary_measure]:
        contests.append(contest_on(edition, track.primary_measure, family, track.baseline_id))
    valued = {measure: with_values(family, means[measure]) for measure in scored}
    contests += [contest_on(edition, measure, valued[measure]) for measure in scored]
    writes = []
    for asked in Calculation.objects.of(Calculation.Kind.TESTS, edition).waiting():
        measure, baseline = asked.request["measure"], asked.request["baseline"]
        if baseline is None and measure in scored:
            if have_too_many_pairs(len(valued[measure])):
                writes.append(partial(_forget, asked))
            continue
        if asked.request["test"] == track.test and baseline in load_measure_means(edition, measure):
            contests.append(contest_on(edition, measure, family, baseline))
        else:
            writes.append(partial(_forget, asked))
    writes += [
        partial(_store, contest, pack_tests(contest, compute_tests(contest)))
        for contest in contests
        if not contest.is_too_large and (contest.baseline is not None or len(contest.rows) > 1)
    ]
    return lambda: _publish(edition, family, writes)


def _publish(edition: Edition, family: list[str], writes: Sequence[Callable[[], None]]) -> None:
    for write in writes:
        write()
    follow_systems(edition.track)
    # A run scored in the meantime changes the family, and its job found this one still open.
    if family_of(edition) != family:
        Job.objects.enqueue("compare", edition)


def _store(contest: Contest, results: dict[str, Any]) -> None:
    stored, _ = Calculation.objects.get_or_create(
        **owned_by(contest.owner),
        kind=contest.kind,
        key=contest.key,
        defaults={"request": contest.pack()},
    )
    stored.keep(results)


def _forget(asked: Calculation) -> None:
    asked.delete()
