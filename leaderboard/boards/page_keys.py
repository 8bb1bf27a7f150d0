"""The version of a track or a benchmark for one viewer: all that an answer depends on besides its
address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import (
    BooleanField,
    Count,
    Exists,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.utils.functional import cached_property

from leaderboard.boards.disclosure import Sight
from leaderboard.models import (
    Assessment,
    Job,
    Notice,
    Participation,
    Team,
    Track,
    TrackChange,
    User,
    Worker,
)
from leaderboard.models.tracks import TrackQuerySet
from leaderboard.sight.tracks import Viewer
from leaderboard.sight.visible_rows import visible_runs

LONG_TEXTS = ("description", "exclusion_reason")


@dataclass(frozen=True)
class SeenTrack:
    """A track as one viewer sees it now, from a single query."""

    sight: Sight
    # Of changes that everyone can see, and of those that teams and organisers see.
    version: int
    inside: int
    num_unread: int
    # Whether jobs wait and no worker is alive, which every page says.
    is_stalled: bool

    @property
    def viewer(self) -> Viewer:
        return self.sight.viewer

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What decides an answer: the track, its version, the viewer's role, and which dates
        have passed."""
        sight, viewer = self.sight, self.sight.viewer
        roles = (
            viewer.is_authenticated,
            viewer.is_staff,
            isinstance(viewer, User) and viewer.may_organise,
            sight.is_organiser,
            None if sight.team is None else sight.team.pk,
            sight.is_assessing,
        )
        phase = sight.phase
        passed = (
            *(str(phase.phase), phase.lead.words, phase.rest.words, str(sight.track.state())),
            *(sight.accepts_runs, sight.can_see_scores, sight.track.shows_scores),
            # A file may appear while nothing else changes.
            *(sight.can_see_topics, sight.can_see_documents, sight.track.offers_judgments),
        )
        return sight.track.pk, self.version, self.inside if sight.is_inside else 0, roles, passed


@dataclass(frozen=True)
class SeenBenchmark:
    """A benchmark as one viewer sees it now: the tracks that this viewer may know, in order."""

    benchmark: int
    organises: bool
    tracks: tuple[SeenTrack, ...]

    @property
    def viewer(self) -> Viewer:
        return self.tracks[0].viewer

    @property
    def num_unread(self) -> int:
        return self.tracks[0].num_unread

    @property
    def is_stalled(self) -> bool:
        return self.tracks[0].is_stalled

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What decides an answer.

        A change of the benchmark itself is one of all its tracks, also of those the viewer knows.
        """
        return self.benchmark, self.organises, tuple(track.key for track in self.tracks)


Seen = SeenTrack | SeenBenchmark


def find_seen_track(viewer: Viewer, slug: str) -> SeenTrack | None:
    """Return the track as the viewer sees it; None if the viewer may not know of it."""
    return next(_look(_track_called, viewer, slug), None)


def find_seen_track_at(viewer: Viewer, address: str) -> SeenTrack | None:
    """Return the track of an address as `find_seen_track` does."""
    return next(_look(_track_at, viewer, address), None)


def find_seen_track_of_run(viewer: Viewer, run_id: str) -> SeenTrack | None:
    """Return the track of a run; None if the viewer may not know of the run."""
    return next(_look(_track_of_run, viewer, run_id), None)


def find_seen_benchmark(viewer: Viewer, slug: str) -> SeenBenchmark | None:
    """Return the benchmark as the viewer sees it; None if the viewer may know no track of it."""
    tracks = tuple(_look(_tracks_of_benchmark, viewer, slug))
    if not tracks:
        return None
    first = tracks[0].sight
    return SeenBenchmark(first.track.benchmark_id, first.is_organiser, tracks)


def _track_called(viewer: Viewer, slug: str) -> TrackQuerySet:
    return Track.objects.filter(slug=slug)


def _track_at(viewer: Viewer, address: str) -> TrackQuerySet:
    return Track.objects.filter(address=address)


def _track_of_run(viewer: Viewer, run_id: str) -> TrackQuerySet:
    return Track.objects.filter(pk__in=visible_runs(viewer).filter(pk=run_id).values("track"))


def _tracks_of_benchmark(viewer: Viewer, slug: str) -> TrackQuerySet:
    return Track.objects.filter(benchmark__slug=slug).in_order()


# They stand for the viewer and for the name in a query that is compiled once.
ANYBODY = -7_205_141
ANY_NAME = "any name"
Ask = Callable[[Viewer, str], TrackQuerySet]


@dataclass(frozen=True)
class CompiledQuery:
    """A query as SQL, with the values that it is made with."""

    sql: str
    values: tuple[Any, ...]


def _look(ask: Ask, viewer: Viewer, name: str) -> Iterator[SeenTrack]:
    is_known, is_staff = viewer.is_authenticated, viewer.is_staff
    query = _compile(ask, is_known, is_staff, connection.vendor, Worker.SILENCE)
    given = {ANYBODY: viewer.pk, ANY_NAME: name}
    values = [given.get(value, value) for value in query.values]
    return (_see(track, viewer) for track in Track.objects.raw(query.sql, values))


@cache
def _compile(ask: Ask, is_known: bool, is_staff: bool, vendor: str, silence: int) -> CompiledQuery:
    """Compile the query for viewers of one kind; Django takes several milliseconds for it."""
    viewer = User(pk=ANYBODY, is_staff=is_staff) if is_known else AnonymousUser()
    tracks = ask(viewer, ANY_NAME).visible_to(viewer).defer(*LONG_TEXTS)
    tracks = tracks.annotate(
        version=_sum_of_changes(is_inside=False),
        inside=_sum_of_changes(is_inside=True),
        is_stalled=Exists(Job.objects.open()) & ~Exists(Worker.objects.alive()),
        **_roles_of(viewer),
    )
    sql, values = tracks.query.sql_with_params()
    return CompiledQuery(sql, values)


def _see(track: Track, viewer: Viewer) -> SeenTrack:
    team = None
    if track.own_team is not None:
        team = Team(pk=track.own_team, benchmark_id=track.benchmark_id)
        deadline = _to_instant(track.own_deadline)
        track.own_deadlines = {} if deadline is None else {team.pk: deadline}
    sight = Sight(track, viewer, bool(track.organises), team, bool(track.is_assessing))
    sums = track.version or 0, track.inside or 0
    return SeenTrack(sight, *sums, track.num_unread or 0, bool(track.is_stalled))


def _to_instant(value: Any) -> datetime | None:
    """Return an instant with its zone, which SQLite does not store."""
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None else found


def _sum_of_changes(is_inside: bool) -> Subquery:
    changes = TrackChange.objects.filter(track=OuterRef("pk"), is_inside=is_inside)
    tokens = changes.order_by().values("track").annotate(sum=Sum("token"))
    return Subquery(tokens.values("sum"))


def _roles_of(viewer: Viewer) -> dict[str, object]:
    """Return the viewer's roles as expressions of a query for tracks."""
    if isinstance(viewer, AnonymousUser) or not viewer.is_authenticated:
        nothing = Value(None, IntegerField())
        no = Value(False, BooleanField())
        return {
            **dict.fromkeys(("own_team", "own_deadline", "num_unread"), nothing),
            **dict.fromkeys(("organises", "is_assessing"), no),
        }
    teams = Team.objects.filter(benchmark=OuterRef("benchmark"), memberships__user=viewer)
    extended = Participation.objects.filter(
        track=OuterRef("pk"), team__memberships__user=viewer
    ).exclude(closes_at=None)
    # Of rankings of systems the scores of these tell as much, see `tracks_behind`.
    ranked = Q(track__slug=OuterRef("systems"), track__benchmark=OuterRef("benchmark"))
    assessed = Assessment.objects.judged_by(viewer).filter(Q(track=OuterRef("pk")) | ranked)
    return {
        "own_team": Subquery(teams.values("pk")[:1]),
        "own_deadline": Subquery(extended.values("closes_at")[:1]),
        "organises": Exists(Track.objects.organised_by(viewer).filter(pk=OuterRef("pk"))),
        "is_assessing": Exists(assessed),
        "num_unread": Subquery(_count(Notice.objects.unread_by(viewer))),
    }


def _count(notices: QuerySet[Notice]) -> QuerySet[Notice]:
    return notices.order_by().values("user").annotate(many=Count("pk")).values("many")
