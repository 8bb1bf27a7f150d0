"""A benchmark of two tracks for tests, and what teams send to it."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from leaderboard.actions import uploads
from leaderboard.actions.run_files import list_run_files
from leaderboard.actions.systems import SubmittedVersion, SystemDetails, submit_version
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.models import (
    Benchmark,
    BenchmarkTeam,
    BenchmarkTrack,
    Collection,
    Membership,
    Team,
    Track,
    User,
)
from tests.builders import (
    DOCUMENTS,
    OTHER_RUN,
    QRELS,
    RUN,
    TOPICS,
    make_collection,
    make_track,
    upload,
    work,
)
from tests.recording import recorded


def renumbered(text: str) -> str:
    """The same run, judgments or topics, for topics 11, 12 and 13."""
    lines = text.splitlines(keepends=True)
    return "".join(f"1{line}" if line[:1].isdigit() else line for line in lines)


ROLLS_TOPICS = (
    TOPICS.replace("Number: ", "Number: 1")
    .replace("<num> ", "<num> 1")
    .replace("<num> 1Number", "<num> Number")
)
ROLLS_RUN, ROLLS_OTHER = renumbered(RUN), renumbered(OTHER_RUN)


@recorded
def make_rolls(owner: User) -> Collection:
    """A second collection: the topics 11, 12 and 13."""
    files = CollectionFiles(
        upload("topics.trec", ROLLS_TOPICS),
        upload("documents.jsonl", DOCUMENTS),
        upload("qrels.txt", renumbered(QRELS)),
    )
    collection = Collection(slug="rolls", name="Rolls", owner=owner, asks_first=False)
    uploads.accept_collection(collection, files)
    work()
    collection.refresh_from_db()
    assert collection.state == "ready", collection.problems
    return collection


@recorded
def make_benchmark(owner: User, *members: User, **fields: Any) -> Benchmark:
    """Ada's benchmark of the tracks bread and rolls; each of the members is a team."""
    tracks = [make_track(make_collection(owner), "bread"), make_track(make_rolls(owner), "rolls")]
    benchmark = Benchmark.objects.create(slug="baking", name="Baking", owner=owner, **fields)
    for position, track in enumerate(tracks):
        BenchmarkTrack.objects.create(benchmark=benchmark, track=track, position=position)
    for member in members:
        make_benchmark_team(benchmark, member)
    return benchmark


@recorded
def make_benchmark_team(benchmark: Benchmark, user: User) -> BenchmarkTeam:
    """The team of one user on all tracks of a benchmark."""
    made = BenchmarkTeam.objects.create(benchmark=benchmark)
    for track in benchmark.tracks():
        team = Team.objects.create(track=track, name=user.username, benchmark_team=made)
        role = Membership.Role.LEADER
        Membership.objects.create(track=track, team=team, user=user, role=role)
    return made


def send(
    benchmark: Benchmark,
    user: User,
    files: dict[str, str | bytes],
    name: str = "oven",
    **details: Any,
) -> SubmittedVersion:
    """Submit files by name, and let a worker do what follows."""
    sent = list_run_files([upload(file, content) for file, content in files.items()])
    tracks: list[Track] = list(benchmark.tracks())
    submitted = submit_version(benchmark, user, tracks, sent, SystemDetails(name, **details))
    work()
    return submitted


BOTH = {"bread.run": RUN, "rolls.run": ROLLS_RUN}


def zipped(members: dict[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()
