"""The job that makes a baseline run of a track by BM25 from the titles of its topics."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from leaderboard.collections.bm25 import K1, B, Query, rank_queries
from leaderboard.collections.documents import open_documents
from leaderboard.models import Job, Run, Track
from leaderboard.models.jobs import Progress, Publish

TAG = "bm25"
DESCRIPTION = f"BM25 with k1 = {K1} and b = {B} on words without stemming; titles of the topics."
MOST_DOCUMENTS = 1_000_000


def make_baseline(track_id: str, progress: Progress) -> Publish:
    """Rank the documents for every topic and store the run file; then the run is checked."""
    track = Track.objects.select_related("collection").get(pk=track_id)
    text = "".join(_lines(track, progress)).encode()
    run = Run(
        track=track,
        team=track.teams.get(of_organisers=True),
        submitted_by=track.owner,
        description=DESCRIPTION,
        filename=f"{TAG}.run",
        size=len(text),
        sha256=hashlib.sha256(text).hexdigest(),
        received_at=timezone.now(),
    )
    name = f"runs/{run.pk}/file-{secrets.token_hex(4)}"
    run.file.name = default_storage.save(name, ContentFile(text))
    return lambda: publish_baseline(run)


def publish_baseline(run: Run) -> None:
    """Show the run, queue its check, and compare with it unless there is a baseline already."""
    known = Run.objects.active().filter(team=run.team, sha256=run.sha256).first()
    if known is None:
        run.save(force_insert=True)
        Job.objects.enqueue("check_run", run, share=f"team {run.team_id}")
    Track.objects.filter(pk=run.track_id, baseline=None).update(baseline=known or run)


def _lines(track: Track, progress: Progress) -> Iterator[str]:
    topics = list(track.collection.topics.order_by("position"))
    queries = [Query(topic.number, topic.title or topic.description) for topic in topics]
    documents = open_documents(track.collection.documents.name)
    for done, (query, hits) in enumerate(rank_queries(documents, queries, track.depth), start=1):
        progress(done, len(queries))
        for rank, hit in enumerate(hits, start=1):
            yield f"{query.number} Q0 {hit.docno} {rank} {hit.score:.6f} {TAG}\n"
