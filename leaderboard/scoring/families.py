"""The family of a board: the runs that its tests count.

These are the ranked runs that the track's selection rule leaves.  Where the rule chooses by score,
the best run of each team, every run that could have been chosen counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Count, F

from evaluation.answers.any_measure import parse_measure
from evaluation.measures import MeasureError
from leaderboard.models import Edition, Run, Score, Track
from leaderboard.scoring.scores import load_measure_means

# No text that names a measure is longer.
LONGEST_MEASURE = 128
# The fields that name a run, and those that the selection rules read.
NAME_FIELDS = ("tag", "filename", "track", "team__name", "facts")
SELECTION_FIELDS = ("is_primary", "received_at", "team__of_organisers")


def family_of(edition: Edition) -> list[str]:
    """Return the ids of the runs that an edition's tests count, sorted."""
    runs = load_runs([edition])[edition.pk]
    return family_ids(edition.track, runs, select_runs(edition, runs))


@dataclass(frozen=True)
class BoardFamily:
    """The runs that the tests of a board count by a measure; `undefined` ones have no value."""

    runs: tuple[str, ...] = ()
    undefined: frozenset[str] = frozenset()

    @cached_property
    def valued(self) -> list[str]:
        """The runs that all pairs compare."""
        return [run_id for run_id in self.runs if run_id not in self.undefined]


def find_family(
    track: Track, scored: Iterable[Run], ranked: Iterable[Run], means: Mapping[str, float | None]
) -> BoardFamily:
    """Return the family of a board by the measure that these means are by."""
    runs = tuple(run_id for run_id in family_ids(track, scored, ranked) if run_id in means)
    return BoardFamily(runs, frozenset(runs) - frozenset(with_values(runs, means)))


def family_ids(track: Track, scored: Iterable[Run], ranked: Iterable[Run]) -> list[str]:
    """Return the sorted ids of the ranked runs, or of all scored ones if score selected them."""
    chosen_by_score = track.selection == Track.Selection.BEST
    return sorted(run.pk for run in (scored if chosen_by_score else ranked))


def with_values(family: Iterable[str], means: Mapping[str, float | None]) -> list[str]:
    """Return the runs of a family that have a value of the measure.

    One that it is undefined for on every topic would take all topics from the test of all pairs.
    """
    return [run_id for run_id in family if means.get(run_id) is not None]


def load_runs(editions: Sequence[Edition]) -> dict[int, list[Run]]:
    """Return the runs of each edition that have scores in it and may be on the board."""
    scored = Run.objects.on_the_board().annotate(scored_in=F("score_sets__edition"))
    runs = scored.filter(scored_in__in=[edition.pk for edition in editions])
    found: dict[int, list[Run]] = defaultdict(list)
    for run in runs.select_related("team").only(*NAME_FIELDS, *SELECTION_FIELDS):
        found[run.scored_in].append(run)
    return found


def select_runs(
    edition: Edition, runs: Iterable[Run], means: Mapping[str, float | None] | None = None
) -> list[Run]:
    """Return the runs that the track's rule selects: all, or one of each team.

    Organisers' runs always count.  A late run counts only if its team has none in time.
    """
    track = edition.track
    if track.selection == Track.Selection.ALL:
        return list(runs)
    runs = list(runs)
    if track.selection == Track.Selection.BEST:
        measure = track.primary_measure
        means = load_measure_means(edition, measure) if means is None else means
        if runs and not means:
            # An earlier board may be older than the primary measure.
            measure = ranking_measure(track, find_measures(edition))
            means = load_measure_means(edition, measure)
        ordered = sorted(runs, key=_mean_key(edition, measure, means))
    else:
        ordered = sorted(runs, key=lambda run: (not run.is_primary, run.received_at, run.pk))
    ordered.sort(key=lambda run: track.is_late(run.received_at, run.team))
    chosen: dict[int | str, Run] = {}
    for run in ordered:
        # Organisers' runs do not compete, so each of them has its own key.
        chosen.setdefault(run.pk if run.team.of_organisers else run.team_id, run)
    return list(chosen.values())


def _mean_key(
    edition: Edition, measure: str, means: Mapping[str, float | None]
) -> Callable[[Run], tuple[bool, float, str]]:
    """Return a sort key: the best mean first, equal ones by id, undefined ones last."""
    track = edition.track
    direction = parse_measure(measure).direction
    # The choice between two runs must reveal no more than their rounded means.
    decimals = edition.safe_decimals if track.shows_means and not track.shows_scores else None

    def key(run: Run) -> tuple[bool, float, str]:
        mean = means.get(run.pk)
        if mean is None:
            return True, 0.0, run.pk
        return False, -direction * (mean if decimals is None else round(mean, decimals)), run.pk

    return key


def find_measures(edition: Edition) -> list[str]:
    """Return the track's measures that the edition has, or else those it was made with."""
    scores = Score.objects.filter(score_set__edition=edition)
    runs = dict(scores.values_list("measure").annotate(Count("pk")))
    most = max(runs.values(), default=0)
    had = {measure for measure, number in runs.items() if number == most}
    track = edition.track
    found = [measure for measure in track.measures if measure in had]
    return found or sorted(had) or track.measures


def match_measure(text: str, measures: Sequence[str]) -> str | None:
    """Return the measure that a text names, however it is spelled; None if it is not among them.

    >>> match_measure("MAP", ["P@5", "AP"]), match_measure("RR", ["AP", "MRR"])
    ('AP', 'MRR')
    """
    if text in measures or not 0 < len(text) <= LONGEST_MEASURE:
        return text if text in measures else None
    try:
        wanted = parse_measure(text)
    except MeasureError:
        return None
    return next((each for each in measures if parse_measure(each) == wanted), None)


def ranking_measure(track: Track, measures: Sequence[str]) -> str:
    """Return the measure that ranks a board: the primary one, or the first if that is missing."""
    return track.primary_measure if track.primary_measure in measures else measures[0]
