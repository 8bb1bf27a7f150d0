"""Run by `manage.py shell` on a site: documents of sixteen topics, and who judges them.

The caller adds a call of `make`, or of `make_answers`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.actions import assessments, pools, submissions, tracks, uploads, versions
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.assessments.kinds import kind_of_pool
from leaderboard.models import Assessment, Collection, NuggetVersion, Pool, Run, Track, User
from leaderboard.models.assessments import GradeText

TOPICS, DOCUMENTS = 16, 25
LONG = "\n\n".join(["Nothing of interest stands in this plain sentence."] * 400)
# One long document, one from right to left, and one without a text.
ODD = {
    1: f"{LONG}\n\nThe ferry to the island sails at noon.\n\n{LONG}",
    2: "العبارة إلى الجزيرة تبحر ظهرا",
    3: "",
}
SCALE = [
    GradeText(2, "Answers it", "Names the ferry"),
    GradeText(1, "Touches it"),
    GradeText(0, "Not relevant"),
]


def wait(done) -> None:
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end, "no worker did it"
        time.sleep(0.05)


def upload(name: str, text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def text_of(number: int) -> str:
    return ODD.get(number, f"🚢 Ferry {number} sails to the island. It takes {number} minutes.")


def open_isle(slug: str, **fields: object) -> Track:
    """A track of that name on documents about ferries."""
    topics = "".join(
        f"<top>\n<num> {n}\n<title> ferry to island {n}\n</top>\n" for n in range(1, TOPICS + 1)
    )
    documents = "".join(
        json.dumps({"_id": f"isle-{n}", "title": f"Paper {n}", "text": text_of(n)}) + "\n"
        for n in range(1, DOCUMENTS + 1)
    )
    ada, _ = User.objects.get_or_create(username="ada", defaults={"can_organise": True})
    collection = Collection(slug=slug, name=slug.title(), owner=ada, asks_first=False)
    files = CollectionFiles(upload("topics", topics), upload("documents.jsonl", documents))
    uploads.accept_collection(collection, files)
    wait(lambda: Collection.objects.filter(slug=slug, state="ready").exists())
    collection.refresh_from_db()
    track = Track(
        slug=slug, name=slug.title(), collection=collection, visibility="members", **fields
    )
    track.measures, track.primary_measure = ["AP"], "AP"
    tracks.open_track(track, ada)
    return track


def send_run(track: Track, text: str) -> Run:
    ada = track.benchmark.owner
    sent = submissions.accept_run(track, ada, upload("a.run", text)).run
    wait(lambda: track.runs.filter(pk=sent.pk, state="valid").exists())
    return sent


def keep_pool(track: Track, method: str, size: int) -> Pool:
    ada = track.benchmark.owner
    pool = pools.create_pool(track, ada, list(track.runs.all()), method, size)
    wait(lambda: Pool.objects.filter(pk=pool.pk, state="proposed").exists())
    pools.approve_pool(pool, ada)
    pool.refresh_from_db()
    return pool


def judge(
    pool: Pool, names: tuple[str, ...], opinions: int, scale: Sequence[GradeText] = SCALE
) -> None:
    """An open assessment; each name has the password `NAME-s-word`."""
    ada = pool.track.benchmark.owner
    assessment = Assessment(pool=pool, topics_per_assessor=TOPICS)
    assessment.overlap = "all" if opinions > 1 else "none"
    assessment.overlap_size = opinions
    assessments.plan_assessment(assessment, ada, "Judge what is *written*.", scale)
    for name in names:
        user, _ = User.objects.get_or_create(username=name)
        user.set_password(f"{name}-s-word")
        user.save()
        assessments.add_assessor(assessment, user)
    assessments.open_assessment(assessment, ada)


def make(*names: str, opinions: int = 1, slug: str = "isle") -> None:
    """Documents to judge on a track of that name."""
    track = open_isle(slug)
    send_run(
        track,
        "".join(
            f"{topic} Q0 isle-{n} {n} {99 - n} secret-run\n"
            for topic in range(1, TOPICS + 1)
            for n in range(1, DOCUMENTS + 1)
        ),
    )
    judge(keep_pool(track, Pool.Method.DEPTH, DOCUMENTS), names, opinions)


NUGGETS = (
    "the ferry sails at noon",
    "it takes an hour",
    "the harbour closes in a storm",
    "tickets are sold on board",
    "bicycles travel free",
    "there is no sailing on Sundays",
)


def make_answers(
    *names: str,
    opinions: int = 2,
    slug: str = "answers",
    answers: int = 10,
    facts: Sequence[str] = NUGGETS,
    said_of_each: int = 4,
) -> None:
    """Answers with every fact as a nugget, and sentences with a document, on the first topic."""
    track = open_isle(slug, run_kind="answers")
    for number in range(1, answers + 1):
        said = [
            {
                "text": f"Ferry {number} sails at noon, and {fact}.",
                "citations": [f"isle-{4 + place % (DOCUMENTS - 4)}"],
            }
            for place, fact in enumerate(facts[:said_of_each])
        ]
        metadata = {"run_id": f"secret-{number}", "topic_id": "1"}
        send_run(track, json.dumps({"metadata": metadata, "responses": said}) + "\n")
    nuggets = [{"text": text, "importance": "vital"} for text in facts]
    version = NuggetVersion(
        track=track, version="v1", created_by=track.benchmark.owner, asks_first=False
    )
    lines = json.dumps({"qid": "1", "nuggets": nuggets}) + "\n"
    versions.accept_version(version, upload("nuggets.jsonl", lines))
    wait(lambda: NuggetVersion.objects.filter(pk=version.pk, state="ready").exists())
    for method in (Pool.Method.ANSWERS, Pool.Method.CITATIONS):
        pool = keep_pool(track, method, 3)
        judge(pool, names, opinions, kind_of_pool(pool).scale)
