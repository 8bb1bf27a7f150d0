"""In which form a viewer sees a track: which edition, rounded how, under which names.

Pages, the API and exports ask for a `Sight`, one viewer's view of one track with its board, and
show only what it allows.  What the viewer may see at all, the `TrackSight` below it decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from evaluation.answers.any_measure import parse_measure
from evaluation.measures import DIVERSITY
from leaderboard.assessments.progress import measure_share
from leaderboard.boards.judges import WhoJudged, name_who_judged
from leaderboard.display.phases import PhaseText, phase_of
from leaderboard.models import (
    Assessment,
    Benchmark,
    Edition,
    Run,
    System,
    Team,
    Topic,
    Track,
)
from leaderboard.models.runs import ON_THE_BOARD
from leaderboard.models.tracks import EditionQuerySet
from leaderboard.runs.facts import FILTERS
from leaderboard.scoring.families import find_measures, match_measure, ranking_measure, select_runs
from leaderboard.scoring.ladder import Ladder, build_ladder
from leaderboard.sight.tracks import TrackSight, Viewer
from leaderboard.sight.visible_rows import visible_runs

# What views of a track read beside it, in one statement.
READ_BY_VIEWS = (
    *("collection", "judgment_set", "baseline__team", "benchmark", "battles"),
    *("edition__judgment_set", "public_edition__judgment_set"),
)
# Decimals of a mean in a list of runs, where all may be shown.
DECIMALS = 4
# Facts in fixed words and figures; links and free text can name people, places and systems.
ANONYMOUS_FACTS = {*FILTERS, "efficiency"}


# The times of a run. A pseudonym leaves only the day: the exact second could identify the run.
MOMENTS = ("received_at", "checked_at", "scored_at", "withdrawn_at", "disqualified_at", "hidden_at")


def with_pseudonym(run: Run, track: Track) -> Run:
    """Return a copy of a run on this track under the pseudonym of its team; do not save it.

    Nothing that a run on another track may share with it is left: no hash, no size, no time of day.
    """
    other = copy(run)
    other.has_pseudonym = True
    # Known before its time of day goes.
    other.is_late = run.is_late
    for name in MOMENTS:
        if moment := run.__dict__.get(name):
            setattr(other, name, day_of(moment))
    other.team = copy(run.team)
    other.track = track
    other.team.name = other.team_pseudonym
    other.tag = other.pseudonym
    other.size = 0
    other.sha256 = other.filename = other.description = other.withdrawn_reason = ""
    other.metadata, other.lengths = {}, {}
    other.facts = {name: fact for name, fact in run.facts.items() if name in ANONYMOUS_FACTS}
    return other


def day_of(moment: datetime) -> datetime:
    """Return the beginning of a day in UTC."""
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass(frozen=True)
class Sight(TrackSight):
    """One viewer's view of one track with its board: which edition, rounded how, which names."""

    # The edition to show instead of the one on the board, if another is asked for.
    other_edition: Edition | None = None
    # Whether the board has every run with a mean, regardless of the track's selection rule.
    includes_every_run: bool = False

    @property
    def phase(self) -> PhaseText:
        """The phase of the track in words, with the deadline of the viewer's team."""
        return phase_of(self.track, team=self.team)

    @property
    def decimals(self) -> int | None:
        """How many decimals of a mean may be shown; None means all of them."""
        if self.can_see_scores or self.shown_edition is None:
            return None
        return self.shown_edition.safe_decimals

    @property
    def shown_decimals(self) -> int:
        """How many decimals of a mean a list of runs shows."""
        return DECIMALS if self.decimals is None else self.decimals

    def round_mean(self, measure: str, mean: float | None) -> float | None:
        """Round a mean for this viewer; return None if any digit would reveal judgments."""
        if mean is None or self.decimals is None:
            return mean
        if not hides_judgments(measure):
            return None
        mean = mean if self.ladder is None else self.ladder.rounded(mean)
        return round(mean, self.decimals)

    @cached_property
    def ladder(self) -> Ladder | None:
        """Which runs show a mean, or None if all do."""
        edition = self.shown_edition
        if self.can_see_scores or edition is None or not self.track.ladder_step:
            return None
        edition.track = self.track
        return build_ladder(edition)

    @property
    def shown_edition(self) -> Edition | None:
        """The edition that was asked for, or that of the board if the viewer may see its means."""
        return self.edition or (self.track.live_edition if self.can_see_means else None)

    @cached_property
    def who_judged(self) -> WhoJudged:
        """Who judged the board that this viewer sees; empty without one."""
        edition = self.shown_edition
        return WhoJudged() if edition is None else name_who_judged(edition.judgment_set)

    @property
    def withheld_topics(self) -> list[str]:
        """The topics that the board excludes, whose judgments this viewer cannot download."""
        if self.is_organiser or self.edition is None:
            return []
        left_out: list[str] = self.edition.settings["excluded_topics"]
        return left_out

    def can_download_topic(self, topic: Topic) -> bool:
        """Whether the judgments of a topic may be downloaded."""
        return self.can_download_judgments and topic.number not in self.withheld_topics

    @cached_property
    def judged_percent(self) -> int | None:
        """The share of the pool that is judged, in whole percent, where organisers show it."""
        shown = self.track.assessments.unfinished().filter(shows_progress=True)
        begun = shown.exclude(state=Assessment.State.DRAFT).last()
        return None if begun is None else math.floor(100 * measure_share(begun))

    @property
    def edition(self) -> Edition | None:
        """The edition to show, if the viewer may see its scores."""
        return (self.other_edition or self.track.edition) if self.can_see_scores else None

    @cached_property
    def measures(self) -> list[str]:
        """The measures of the track, or those of another edition that is shown."""
        if self.other_edition is None:
            return self.track.measures
        self.other_edition.track = self.track
        return find_measures(self.other_edition)

    @property
    def primary_measure(self) -> str:
        """The measure that ranks the board unless the reader chooses another."""
        return ranking_measure(self.track, self.measures)

    def measure_or_primary(self, asked: str) -> str:
        """Return the measure that a reader asks for, or the primary one if there is no such."""
        return match_measure(asked, self.measures) or self.primary_measure

    @property
    def other_editions(self) -> EditionQuerySet:
        """The editions besides the board's that this viewer may see; organisers see trials too."""
        if not self.can_see_scores:
            return Edition.objects.none()
        editions = Edition.objects.other_scored(self.track)
        return editions if self.is_organiser else editions.formerly_public(self.track)

    def with_judgments(self, version: str) -> Sight:
        """Return the same view of the board under these judgments; "" means the current board."""
        current = self.shown_edition
        if not version or (current is not None and current.judgment_set.version == version):
            return self
        found = (
            edition for edition in self.other_editions if edition.judgment_set.version == version
        )
        other = next(found, None)
        if other is None:
            raise Http404("no such board")
        return replace(self, other_edition=other)

    def with_every_run(self) -> Sight:
        """Return the same view with the runs that the track's selection rule excludes."""
        return replace(self, includes_every_run=True)

    def select_board_runs(
        self, edition: Edition, runs: Iterable[Run], means: Mapping[str, float | None] | None = None
    ) -> list[Run]:
        """Return the runs on an edition's board under the names that this viewer may see."""
        if self.ladder is not None:
            shown = set(self.ladder.risen if self.includes_every_run else self.ladder.standing)
            return [self.with_shown_name(run) for run in runs if run.pk in shown]
        chosen = runs if self.includes_every_run else select_runs(edition, runs, means)
        return [self.with_shown_name(run) for run in chosen]

    def with_shown_name(self, run: Run) -> Run:
        """Return the run under the name that this viewer may see, possibly a pseudonym.

        The organisers' own runs do not compete and keep their names.
        """
        known = self.owns(run) or run.team.of_organisers
        return run if known or not self.hides_names else with_pseudonym(run, self.track)

    def can_see_means_of(self, run: Run) -> bool:
        """Whether the means of a run may be shown, possibly rounded."""
        shown = not run.removal or self.can_see_file(run)
        shown = shown and (self.ladder is None or run.pk in self.ladder.risen)
        return self.shown_edition is not None and run.state == Run.State.SCORED and shown

    def can_see_scores_of(self, run: Run) -> bool:
        """Whether the scores of a run on each topic may be shown."""
        return self.can_see_scores and self.can_see_means_of(run)

    def can_see_text_of(self, run: Run) -> bool:
        """Whether what a run retrieves or says on each topic may be shown: with its scores.

        It names documents, so not before those are out.
        """
        return self.can_see_data and (self.can_see_file(run) or self.can_see_scores_of(run))


@cache
def hides_judgments(text: str) -> bool:
    """Whether a rounded mean of this measure reveals little about any document.

    Counts, and measures that depend on which documents are judged, reveal too much even if rounded.
    """
    measure = parse_measure(text)
    is_bounded = measure.definition.bounds != "none" or measure.name in DIVERSITY
    shares = measure.definition.range == (0, 1) and is_bounded
    return shares and measure.parameters.get("holes") != "condensed"


def sight_of(track: Track, viewer: Viewer) -> Sight:
    """Return the viewer's view of a track."""
    return Sight.of(track, viewer)


def sights_of(tracks: Sequence[Track], viewer: Viewer) -> list[Sight]:
    """Return the viewer's view of each track, with as few queries as for one."""
    return Sight.of_each(tracks, viewer)


def find_runs_by_tag(sights: Sequence[Sight], text: str, most: int) -> list[Run]:
    """Find runs of these tracks whose shown tag contains the text, in one query."""
    own = _own_runs(sights)
    organised = Q(track__in=[sight.track for sight in sights if sight.is_organiser])
    shown = Q(track__in=[sight.track for sight in sights if sight.can_see_means]) & ON_THE_BOARD
    hidden = Q(track__in=[sight.track for sight in sights if sight.hides_names])
    has_pseudonym = hidden & ~own & ~Q(team__of_organisers=True)
    tagged, called = Q(tag__icontains=text), Q(shown_pseudonym__icontains=text)
    named = (tagged & ~has_pseudonym) | (called & has_pseudonym)
    found = Run.objects.with_pseudonyms().filter(own | organised | shown).filter(named)
    sight_by_track = {sight.track.pk: sight for sight in sights}
    # An order by the tag or the time would tell more than a pseudonym.
    ordered = found.select_related("team", "track").order_by("track__name", "pk")
    return [sight_by_track[run.track_id].with_shown_name(run) for run in ordered[:most]]


def _own_runs(sights: Sequence[Sight]) -> Q:
    """Return what runs of the viewer's teams fulfil, on these tracks alone."""
    inside = [sight for sight in sights if sight.team is not None]
    teams = {sight.team for sight in inside}
    return Q(team__in=teams, track__in=[sight.track for sight in inside])


class SeenTeam(NamedTuple):
    """A team on a track under its own name."""

    name: str
    track_address: str
    track_name: str


def find_teams_by_name(sights: Sequence[Sight], text: str, most: int) -> list[SeenTeam]:
    """Find teams of these tracks whose name contains the text, in two queries.

    A team is found by its runs: those on a board that shows names, and of one's own or of a track
    that one organises all of them.
    """
    own = _own_runs(sights)
    organised = Q(track__in=[sight.track for sight in sights if sight.is_organiser])
    named = [sight.track for sight in sights if sight.can_see_means and not sight.hides_names]
    seen = Run.objects.filter(own | organised | (Q(track__in=named) & ON_THE_BOARD))
    pairs = set(seen.order_by().values_list("team", "track").distinct())
    tracks = {sight.track.pk: sight.track for sight in sights}
    # By their ids, so that PostgreSQL reads no team of other tracks.
    teams = Team.objects.filter(of_organisers=False).in_bulk({team for team, _ in pairs})
    found = [
        SeenTeam(teams[team].name, tracks[track].address, tracks[track].name)
        for team, track in pairs
        if team in teams and text.casefold() in teams[team].name.casefold()
    ]
    return sorted(found, key=lambda seen: (seen.name, seen.track_name))[:most]


class TrackMoved(Http404):
    """The pages of a track that the viewer may know are at another address by now."""

    def __init__(self, address: str) -> None:
        super().__init__(f"moved to {address}")
        self.address = address


def track_or_404(viewer: Viewer, slug: str) -> Sight:
    """Return the viewer's view of a track; raise 404 if the track may not be known."""
    return sight_of(get_object_or_404(_visible_tracks(viewer), slug=slug), viewer)


def track_at_or_404(viewer: Viewer, address: str) -> Sight:
    """Return the viewer's view of the track whose pages are at an address.

    Raises TrackMoved if they were there before a track came to the benchmark or left it, and 404
    if the track may not be known.
    """
    try:
        track = _visible_tracks(viewer).get(address=address)
    except Track.DoesNotExist:
        raise find_moved(viewer, address) from None
    return sight_of(track, viewer)


def _visible_tracks(viewer: Viewer) -> QuerySet[Track]:
    return Track.objects.visible_to(viewer).select_related(*READ_BY_VIEWS)


def find_moved(viewer: Viewer, address: str) -> Http404:
    """Return where the pages of an address are now: of the track of that name, else the first."""
    known = Track.objects.visible_to(viewer)
    inside, name = known.filter(benchmark__slug=address), address.rpartition("/")[2]
    named = inside.filter(slug=name).first() or inside.in_order().first()
    moved = named or known.filter(slug=name).first()
    return TrackMoved(moved.address) if moved is not None else Http404("no such track")


@dataclass(frozen=True)
class BenchmarkSight:
    """One viewer's view of a benchmark: of the tracks that this viewer may know, in order."""

    benchmark: Benchmark
    viewer: Viewer
    is_organiser: bool
    sights: tuple[Sight, ...]

    @property
    def phases(self) -> list[str]:
        """The names of its phases in order; "" is the phase of tracks without a name for it."""
        return list(dict.fromkeys(sight.track.phase for sight in self.sights))

    @property
    def has_dates(self) -> bool:
        """Whether tracks are in an order of time."""
        return sum(bool(sight.track.dated) for sight in self.sights) > 1

    @property
    def accepts_runs(self) -> bool:
        """Whether a track accepts runs of the viewer's team."""
        return any(sight.accepts_runs for sight in self.sights)

    @property
    def can_take_part(self) -> bool:
        """Whether the viewer is in a team, or may join or ask to, without an invitation link."""
        is_in = self.is_organiser or self.team is not None
        return is_in or not self.benchmark.needs_invitation

    @cached_property
    def team(self) -> Team | None:
        """The viewer's team."""
        return self.benchmark.team_of(self.viewer)

    def owns(self, system: System) -> bool:
        """Whether a system is of the viewer's team."""
        return self.team is not None and system.team_id == self.team.pk

    def shows(self, sight: Sight) -> bool:
        """Whether the scores of a track may stand on the board of the benchmark.

        Where a track hides names from this viewer, its runs would be known by those that the same
        system has on other tracks, so that it stands apart until its release.
        """
        return sight.shown_edition is not None and not sight.hides_names


def benchmark_or_404(viewer: Viewer, slug: str) -> BenchmarkSight:
    """Return the viewer's view of a benchmark; raise 404 if the benchmark may not be known."""
    visible = Benchmark.objects.visible_to(viewer).select_related("baseline")
    benchmark = get_object_or_404(visible, slug=slug)
    return benchmark_sight_of(benchmark, viewer)


def benchmark_sight_of(
    benchmark: Benchmark, viewer: Viewer, by_badge: bool = False
) -> BenchmarkSight:
    """Return the viewer's view of a benchmark; the code of its badge opens all but drafts."""
    visible = Track.objects.visible_to(viewer).values("pk")
    if by_badge:
        visible = Track.objects.opened().values("pk")
    sights = tuple(sights_of(_load_tracks(benchmark, visible), viewer))
    return BenchmarkSight(benchmark, viewer, benchmark.is_organised_by(viewer), sights)


def shared_benchmark_sight(benchmark: Benchmark) -> BenchmarkSight:
    """Return what all who may know the tracks of a benchmark see of it alike.

    It has no draft, and no track that hides a score or a name from somebody.
    """
    opened = _load_tracks(benchmark, Track.objects.opened().values("pk"))
    nobody = AnonymousUser()
    sights = [sight for sight in sights_of(opened, nobody) if sight.can_see_snapshots]
    return BenchmarkSight(benchmark, nobody, False, tuple(sights))


def _load_tracks(benchmark: Benchmark, known: QuerySet[Track, Any]) -> list[Track]:
    """Return those tracks of a benchmark, in order, with what their views read."""
    return list(benchmark.tracks.in_order().filter(pk__in=known).select_related(*READ_BY_VIEWS))


@dataclass(frozen=True)
class VisibleRun:
    """A run under its shown name, with the viewer's view of its track."""

    run: Run
    sight: Sight


def run_or_404(viewer: Viewer, run_id: str) -> VisibleRun:
    """Return a run under its shown name with the view of its track; raise 404 if it is hidden."""
    visible = visible_runs(viewer).select_related("track", "team")
    run: Run = get_object_or_404(visible, pk=run_id)
    sight = track_or_404(viewer, run.track.slug)
    if not sight.runs().filter(pk=run_id).exists() and not sight.can_see_removed(run):
        raise Http404("no such run")
    run.track = sight.track
    return VisibleRun(sight.with_shown_name(run), sight)
