"""A collection of ten topics with one relevant document each, and runs whose scores one can see.

A run that has the relevant document at rank r of a topic has AP 1/r there.
"""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.actions import tracks, uploads
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.models import Collection, Run, Score, ScoreSet, Track, User
from tests.builders import make_run, make_track, upload, work
from tests.recording import recorded

NUMBERS = range(1, 11)
TOPICS = "".join(f"<top>\n<num> {n}\n<title> about {n}\n</top>\n" for n in NUMBERS)
QRELS = "".join(f"{n} 0 good{n} 1\n{n} 0 bad{n} 0\n" for n in NUMBERS)


@recorded
def make_ten_topics(owner: User) -> Collection:
    files = CollectionFiles(upload("topics.trec", TOPICS), None, upload("qrels.txt", QRELS))
    collection = Collection(slug="ten", name="Ten", owner=owner, asks_first=False)
    uploads.accept_collection(collection, files)
    work()
    collection.refresh_from_db()
    return collection


def ten_track(owner: User, **fields: object) -> Track:
    return make_track(make_ten_topics(owner), slug="ten", measures=["AP", "RR", "P@5"], **fields)


def run_of(tag: str, ranks: int | Sequence[int]) -> str:
    """A run that has the relevant document of each topic at these ranks."""
    places = [ranks] * 10 if isinstance(ranks, int) else ranks
    return "".join(
        f"{n} Q0 {'good' if place == rank else f'other{place}-'}{n} {place} {50 - place} {tag}\n"
        for n, rank in zip(NUMBERS, places, strict=True)
        for place in range(1, rank + 1)
    )


def send(track: Track, user: User, tag: str, ranks: int | Sequence[int]) -> Run:
    return make_run(track, user, run_of(tag, ranks))


def with_baseline(track: Track, user: User, ranks: int | Sequence[int] = 2) -> Run:
    """The organisers' run `base`, with which the board compares."""
    run = send_baseline(track, user, ranks)
    track.refresh_from_db()
    return run


@recorded
def send_baseline(track: Track, user: User, ranks: int | Sequence[int]) -> Run:
    run = send(track, user, "base", ranks)
    tracks.choose_baseline(track, user, run)
    work()
    return run


def copies(run: Run, number: int) -> None:
    """So many more runs of the team, each a little better than the one before."""
    original = run.score_sets.get()
    runs = [
        Run(
            track=run.track,
            team=run.team,
            submitted_by=run.submitted_by,
            tag=f"{run.tag}-{n}",
            sha256=f"{n:064}",
            state=Run.State.SCORED,
        )
        for n in range(number)
    ]
    Run.objects.bulk_create(runs)
    sets = [ScoreSet(run=each, edition=original.edition, record=original.record) for each in runs]
    ScoreSet.objects.bulk_create(sets)
    Score.objects.bulk_create(
        Score(
            score_set=each,
            measure=score.measure,
            resolved=score.resolved,
            mean=score.mean * n / number,
            by_topic=(score.values * n / number).tobytes(),
        )
        for score in original.scores.all()
        for n, each in enumerate(sets)
    )
