"""A benchmark of two tracks for tests, and what teams send to it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any

from leaderboard.actions import benchmark_setup, people, uploads
from leaderboard.actions.run_files import list_run_files
from leaderboard.actions.submissions import SubmittedVersion, SystemDetails, submit_version
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.models import (
    Benchmark,
    Collection,
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
    benchmark = join_tracks(tracks, slug="baking", name="Baking", **fields)
    for member in members:
        people.create_team(benchmark, member, member.username)
    return benchmark


def join_tracks(tracks: Sequence[Track], **fields: Any) -> Benchmark:
    """Make a benchmark of tracks of one owner, in this order, with these fields."""
    benchmark = Benchmark(slug=fields["slug"], name=fields["name"])
    benchmark_setup.make_benchmark(tracks[0].benchmark.owner, benchmark, tracks)
    for name, value in fields.items():
        setattr(benchmark, name, value)
    benchmark.save()
    return benchmark


def send(
    benchmark: Benchmark,
    user: User,
    files: dict[str, str | bytes],
    name: str = "oven",
    **details: Any,
) -> SubmittedVersion:
    """Submit files by name, and let a worker do what follows."""
    sent = list_run_files([upload(file, content) for file, content in files.items()])
    tracks: list[Track] = list(benchmark.tracks.in_order())
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
