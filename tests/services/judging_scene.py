"""Run by `manage.py shell` on a site: documents of sixteen topics, and who judges them.

The caller adds a call of `make`.
"""

from __future__ import annotations

import json
import time

from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.actions import assessments, pools, submissions, tracks, uploads
from leaderboard.actions.submissions import RunDetails
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.models import Assessment, Collection, Pool, Track, User
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


def make(*names: str, opinions: int = 1, slug: str = "isle") -> None:
    """An assessment on a track of that name; each name has the password `NAME-s-word`."""

    topics = "".join(
        f"<top>\n<num> {n}\n<title> ferry to island {n}\n</top>\n" for n in range(1, TOPICS + 1)
    )
    documents = "".join(
        json.dumps({"_id": f"isle-{n}", "title": f"Paper {n}", "text": text_of(n)}) + "\n"
        for n in range(1, DOCUMENTS + 1)
    )
    run = "".join(
        f"{topic} Q0 isle-{n} {n} {99 - n} secret-run\n"
        for topic in range(1, TOPICS + 1)
        for n in range(1, DOCUMENTS + 1)
    )
    ada, _ = User.objects.get_or_create(username="ada", defaults={"can_organise": True})
    collection = Collection(slug=slug, name=slug.title(), owner=ada, asks_first=False)
    files = CollectionFiles(upload("topics", topics), upload("documents.jsonl", documents))
    uploads.accept_collection(collection, files)
    wait(lambda: Collection.objects.filter(slug=slug, state="ready").exists())
    collection.refresh_from_db()
    track = Track(slug=slug, name=slug.title(), collection=collection, visibility="members")
    track.measures, track.primary_measure = ["AP"], "AP"
    tracks.open_track(track, ada)
    sent = submissions.accept_run(track, ada, upload("a.run", run), RunDetails()).run
    wait(lambda: track.runs.filter(pk=sent.pk, state="valid").exists())
    pool = pools.create_pool(track, ada, [sent], Pool.Method.DEPTH, DOCUMENTS)
    wait(lambda: Pool.objects.filter(pk=pool.pk, state="proposed").exists())
    pools.approve_pool(pool, ada)
    pool.refresh_from_db()
    assessment = Assessment(pool=pool, topics_per_assessor=TOPICS)
    assessment.overlap = "all" if opinions > 1 else "none"
    assessment.overlap_size = opinions
    assessments.plan_assessment(assessment, ada, "Judge what is *written*.", SCALE)
    for name in names:
        user, _ = User.objects.get_or_create(username=name)
        user.set_password(f"{name}-s-word")
        user.save()
        assessments.add_assessor(assessment, user)
    assessments.open_assessment(assessment, ada)
