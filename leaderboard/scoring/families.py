"""Which runs stand on a board: every ranked run that the track's selection rule leaves.

They are the family of all tests on the board.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Max

from evaluation.measures import parse_measure
from leaderboard.infrastructure.process_cache import ProcessCache
from leaderboard.models import Edition, Run, Score, ScoreSet, Track

# Editions whose means a process remembers; those of 500 runs by 10 measures take half a megabyte.
REMEMBERED = 16
# By run and measure; None where a measure is undefined on every topic.
Means = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True)
class Measured:
    """The means of runs, and how many of their first ten are judged; all by run."""

    means: Means
    judged: Mapping[str, float]


# By an edition and what tells that its scores are the same.
remembered: ProcessCache[tuple[object, ...], Measured] = ProcessCache(REMEMBERED)


def measured_in(edition: Edition) -> Measured:
    """Of every run of the edition; read once in a process while no score comes or goes."""
    scores = Score.objects.filter(score_set__edition=edition)
    # A score never changes; its number is not used again but where a transaction was undone.
    made = scores.aggregate(Count("pk"), Max("pk"), Max("score_set__created_at"))
    stamp = edition.pk, *made.values()
    return remembered.get_many([stamp], lambda stamps: {stamp: _read(edition)})[stamp]


def _read(edition: Edition) -> Measured:
    means: dict[str, dict[str, float | None]] = defaultdict(dict)
    rows = Score.objects.filter(score_set__edition=edition)
    for run_id, measure, mean in rows.values_list("score_set__run_id", "measure", "mean"):
        means[run_id][measure] = mean
    judged = ScoreSet.objects.filter(edition=edition).values_list("run_id", "judged_at_10")
    return Measured(means, dict(judged))


# What names a run, and what the selection rules look at.
NAMED = ("tag", "filename", "track", "team__name", "team__alias", "facts")
RULED = ("is_primary", "received_at", "team__of_organisers")


def family_of(edition: Edition) -> list[str]:
    """The runs that are ranked in an edition, by id."""
    return sorted(run.pk for run in selected(edition, runs_of([edition])[edition.pk]))


def runs_of(editions: Sequence[Edition]) -> dict[int, list[Run]]:
    """By edition every run that has scores in it and is in good standing."""
    scored = Run.objects.on_the_board().annotate(scored_in=F("score_sets__edition"))
    runs = scored.filter(scored_in__in=[edition.pk for edition in editions])
    found: dict[int, list[Run]] = defaultdict(list)
    for run in runs.select_related("team").only(*NAMED, *RULED):
        found[run.scored_in].append(run)
    return found


def selected(
    edition: Edition, runs: Iterable[Run], means: Mapping[str, float | None] | None = None
) -> list[Run]:
    """What the rule of the track leaves: all, or one of each team beside those of organisers.

    A late run stands for its team only where the team has none in time.
    """
    track = edition.track
    if track.selection == Track.Selection.ALL:
        return list(runs)
    runs = list(runs)
    if track.selection == Track.Selection.BEST:
        measure = track.primary_measure
        means = means_of(edition, measure) if means is None else means
        if runs and not means:
            # An earlier board may be older than the primary measure.
            measure = ranking_measure(track, measures_of(edition))
            means = means_of(edition, measure)
        ordered = sorted(runs, key=_by_mean(edition, measure, means))
    else:
        ordered = sorted(runs, key=lambda run: (not run.is_primary, run.received_at, run.pk))
    ordered.sort(key=lambda run: track.is_late(run.received_at))
    chosen: dict[int | str, Run] = {}
    for run in ordered:
        # Runs of the organisers are no contenders: they take nobody's place.
        chosen.setdefault(run.pk if run.team.of_organisers else run.team_id, run)
    return list(chosen.values())


def _by_mean(
    edition: Edition, measure: str, means: Mapping[str, float | None]
) -> Callable[[Run], tuple[bool, float, str]]:
    """The best first; of equal ones the first id, and last what is undefined."""
    track = edition.track
    direction = parse_measure(measure).direction
    # Which of two runs stands on the board tells no more than their rounded means.
    decimals = edition.safe_decimals if track.shows_means and not track.shows_scores else None

    def key(run: Run) -> tuple[bool, float, str]:
        mean = means.get(run.pk)
        if mean is None:
            return True, 0.0, run.pk
        return False, -direction * (mean if decimals is None else round(mean, decimals)), run.pk

    return key


def means_of(edition: Edition, measure: str) -> dict[str, float | None]:
    """The mean of every run of the edition on a measure; None where it is undefined."""
    rows = Score.objects.filter(score_set__edition=edition, measure=measure)
    return dict(rows.values_list("score_set__run_id", "mean"))


def measures_of(edition: Edition) -> list[str]:
    """The measures of the track that it has; where it has none, those that it was made with."""
    scores = Score.objects.filter(score_set__edition=edition)
    runs = dict(scores.values_list("measure").annotate(Count("pk")))
    most = max(runs.values(), default=0)
    had = {measure for measure, number in runs.items() if number == most}
    track = edition.track
    return [each for each in track.measures if each in had] or sorted(had) or track.measures


def ranking_measure(track: Track, measures: Sequence[str]) -> str:
    """By which of these a board ranks: the primary one, or the first where that is missing."""
    return track.primary_measure if track.primary_measure in measures else measures[0]
