"""Fill a home with what an upgrade could lose; run by the code that the home belongs to.

Blind, invited and approved tracks, drafts, teams with grants, later deadlines and accepted terms,
a waiting request, co-organisers, snapshots, a benchmark with systems, and a track of an archive.

Before people belonged to benchmarks, each track had teams, terms and organisers of its own; such
code is asked in its own words.
"""

from __future__ import annotations

import os
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
django.setup()

from leaderboard.actions import people, tracks  # noqa: E402
from leaderboard.actions.people import JoinDetails  # noqa: E402
from leaderboard.management.processes import migrate_and_collect  # noqa: E402
from leaderboard.models import Collection, Run, Team, Track, User  # noqa: E402
from tests.benchmark_scene import BOTH, make_benchmark, send  # noqa: E402
from tests.builders import (  # noqa: E402
    OTHER_RUN,
    make_collection,
    make_run,
    make_track,
    make_user,
    work,
)

NOW = timezone.now()
HAS_PEOPLE_OF_BENCHMARKS = hasattr(people, "admit")


def main() -> None:
    migrate_and_collect()
    ada = make_user("ada", can_organise=True)
    ben, cat, dan = make_user("ben"), make_user("cat"), make_user("dan")
    benchmark = make_benchmark(ada, ben, cat, quota_per_day=5, quota_total=30, terms="Be fair.")
    benchmark.co_organisers.add(dan)
    if not HAS_PEOPLE_OF_BENCHMARKS:
        # Who organises a benchmark organises its tracks since; here this one did before, too.
        for track in benchmark.tracks():
            people.add_organiser(track, ada, "dan")
    send(benchmark, ben, BOTH)
    freeze("/benchmarks/baking/", ada)
    collection = make_collection(ada, "cakes")
    make_blind_track(collection, ada, ben)
    make_approved_track(collection, ada, ben, cat)
    make_invited_track(collection, ada, dan)
    make_open_track(collection, ada, ben, cat)
    tracks.create_draft(new_track(collection, "draft"), ada)
    work()


def freeze(home: str, ada: User) -> None:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(ada)
    frozen = client.post(f"{home}manage/freeze/", {"name": "As published"}, follow=True)
    assert "/snapshots/as-published/" in frozen.redirect_chain[-1][0], frozen.content


def new_track(collection: Collection, slug: str) -> Track:
    judged = collection.judgment_sets.first()
    return Track(
        slug=slug,
        name=slug.title(),
        collection=collection,
        judgment_set=judged,
        measures=["AP"],
        primary_measure="AP",
    )


def place_of(track: Track) -> Any:
    """Return what holds the people of a track: its benchmark, or the track itself."""
    return track.benchmark if HAS_PEOPLE_OF_BENCHMARKS else track


def admit(track: Track, user: User, **asking: Any) -> Team:
    act = people.admit if HAS_PEOPLE_OF_BENCHMARKS else people.join_track
    team: Team = act(place_of(track), user, JoinDetails(**asking))
    return team


def on_track(track: Track, team: Team) -> tuple[Any, ...]:
    """Return what names a team on a track."""
    return (track, team) if HAS_PEOPLE_OF_BENCHMARKS else (team,)


def make_blind_track(collection: Collection, ada: User, ben: User) -> None:
    """Names are hidden, terms are accepted, and one team has more runs and a later deadline."""
    track = make_track(
        collection,
        "blind",
        disclosure="blind",
        pseudonyms=True,
        terms="Do not *tune*.",
        quota_per_day=2,
        quota_total=3,
        closes_at=NOW + timedelta(days=3),
    )
    team = admit(track, ben, team_name="Oats", accepts_terms=True)
    make_run(track, ben)
    named = on_track(track, team)
    people.grant_runs(*named, ada, 2, today=False, reason="A broken file")
    people.extend_deadline(*named, ada, NOW + timedelta(days=9), "A holiday")


def make_approved_track(collection: Collection, ada: User, ben: User, cat: User) -> None:
    """One team was let in, one waits, and the track is for its participants."""
    track = make_track(collection, "approved", joining="approval", visibility="members")
    asked = people.request_to_join(place_of(track), ben, JoinDetails(team_name="Rye"))
    people.approve_request(asked, ada)
    people.request_to_join(place_of(track), cat, JoinDetails(team_name="Spelt"))
    make_run(track, ben)


def make_invited_track(collection: Collection, ada: User, dan: User) -> None:
    """A closed track of invited teams, with a co-organiser."""
    track = make_track(collection, "invited", joining="invitation", quota_total=1)
    admit(track, dan, invitation=place_of(track).invitation, team_name="Barley")
    make_run(track, dan)
    people.add_organiser(place_of(track), ada, "ben")


def make_open_track(collection: Collection, ada: User, ben: User, cat: User) -> None:
    """A board with a baseline and a snapshot, and the same track again from its archive."""
    track = make_track(collection, "open")
    tracks.choose_baseline(track, ada, make_run(track, ben))
    make_run(track, cat, OTHER_RUN)
    work()
    track.refresh_from_db()
    freeze("/benchmarks/open/" if HAS_PEOPLE_OF_BENCHMARKS else "/tracks/open/", ada)
    kind = "benchmark" if HAS_PEOPLE_OF_BENCHMARKS else "track"
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "open.zip"
        call_command(f"export_{kind}", "open", str(archive))
        words = ("--owner", "ada", "--track", "again", "--collection", "cakes-again")
        call_command(f"import_{kind}", str(archive), *words)
    assert Run.objects.filter(track__slug="again").count() == 2


if __name__ == "__main__":
    main()
