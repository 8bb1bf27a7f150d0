"""The job that makes a baseline run of a track by BM25 from the titles of its topics."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from numpy.typing import NDArray

from leaderboard.collections.documents import open_documents
from leaderboard.collections.word_index import K1, B, split_words, word_index_of
from leaderboard.models import Job, Run, Track
from leaderboard.models.jobs import Progress, Publish

TAG = "bm25"
DESCRIPTION = f"BM25 with k1 = {K1} and b = {B} on words without stemming; titles of the topics."


@dataclass(frozen=True)
class Hit:
    docno: str
    score: float


def make_baseline(track_id: str, progress: Progress) -> Publish:
    """Rank the documents for every topic and store the run file; then the run is checked."""
    track = Track.objects.select_related("collection").get(pk=track_id)
    text = "".join(_lines(track, progress)).encode()
    run = Run(
        track=track,
        team=track.benchmark.teams.get(of_organisers=True),
        submitted_by=track.benchmark.owner,
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
    same = Run.objects.active().filter(track=run.track, team=run.team, sha256=run.sha256)
    known = same.first()
    if known is None:
        run.save(force_insert=True)
        Job.objects.enqueue("check_run", run, share=f"team {run.team_id}")
    Track.objects.filter(pk=run.track_id, baseline=None).update(baseline=known or run)


def _lines(track: Track, progress: Progress) -> Iterator[str]:
    topics = list(track.collection.topics.order_by("position"))
    index = word_index_of(track.collection)
    docnos = list(open_documents(track.collection.documents.name).docnos())
    for done, topic in enumerate(topics, start=1):
        hits = find_best(index.score(Counter(split_words(topic.label))), docnos, track.depth)
        progress(done, len(topics))
        for rank, hit in enumerate(hits, start=1):
            yield f"{topic.number} Q0 {hit.docno} {rank} {hit.score:.6f} {TAG}\n"


def find_best(scores: NDArray[np.float64], docnos: Sequence[str], depth: int) -> list[Hit]:
    """Return the documents with the highest scores above 0; equal ones by docno, descending.

    Without any match it is the first document with score 0, so that every topic has an answer.

    >>> find_best(np.array([0.5, 0, 2, 0.5]), ["d1", "d2", "d3", "d4"], 2)
    [Hit(docno='d3', score=2.0), Hit(docno='d4', score=0.5)]
    """
    matched = np.flatnonzero(scores)
    if len(matched) == 0:
        return [Hit(docno, 0.0) for docno in docnos[:1]]
    if len(matched) > depth:
        least = np.partition(scores[matched], len(matched) - depth)[len(matched) - depth]
        matched = matched[scores[matched] >= least]
    hits = [Hit(docnos[place], round(float(scores[place]), 6)) for place in matched]
    return sorted(hits, key=lambda hit: (hit.score, hit.docno), reverse=True)[:depth]
