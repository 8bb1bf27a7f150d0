"""A track as one file: collection, judgments, runs, scores and board, for another installation.

What a person is here stays here: users, tokens, invitations and memberships are not in it.

    manifest.json                        versions; fields of collection, judgments, track and runs
    topics.jsonl                         in the order of their positions
    docnos.txt or documents.jsonl        where the collection has documents
    judgments.qrels                      as they count: grades are mapped
    runs/<id>  scores/<id>.json          the file as it was sent; its values in the board's edition
    board.csv  board.tex                 as an organiser sees it
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import models
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field

from evaluation.conventions import SCORING_VERSION
from leaderboard import exports
from leaderboard.archives import MANIFEST, PIECE, Member
from leaderboard.columns import ALL, for_papers, shown_columns
from leaderboard.disclosure import look
from leaderboard.documents import open_documents
from leaderboard.models import Collection, Edition, JudgmentSet, Run, Score, Track
from leaderboard.standings import Choice, find_board

# Raised when an older reader could misunderstand what is written.
ARCHIVE_VERSION = 1

# What belongs to this installation, or is found again where the archive is read.
TRACK_LEFT_OUT = {"id", "slug", "invitation", "created_at"}
RUN_LEFT_OUT = {
    *("id", "size", "sha256", "idempotency_key", "state", "reason", "checked_at", "scored_at"),
    *("problems", "problem_totals", "num_lines", "num_answered", "num_retrieved"),
}


class Entry(BaseModel):
    """A part of the manifest, made of the attributes of a row."""

    model_config = ConfigDict(from_attributes=True, extra="forbid")


class CollectionEntry(Entry):
    slug: str
    name: str = Field(max_length=120)
    description: str = Field(max_length=5000)


class JudgmentsEntry(Entry):
    version: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")
    note: str = Field(max_length=2000)
    top_grade: int | None
    pool_depth: int | None
    # Of the file as it was brought, which may have had other grades.
    sha256: str


class TrackEntry(Entry):
    slug: str
    fields: dict[str, Any]
    baseline: str | None


class RunEntry(Entry):
    """`team` is empty for runs of the organisers."""

    id: str
    team: str
    sha256: str
    fields: dict[str, Any]


class Manifest(Entry):
    archive: int
    rankfield: str
    scoring_version: int
    made_at: datetime
    collection: CollectionEntry
    judgments: JudgmentsEntry | None
    track: TrackEntry
    runs: list[RunEntry]


def plain_fields(model: type[models.Model], left_out: set[str]) -> list[models.Field]:
    """The fields that go with an archive: neither relations nor files, nor what is left out."""
    return [
        field
        for field in model._meta.concrete_fields
        if not field.is_relation
        and not isinstance(field, models.FileField)
        and field.name not in left_out
    ]


def plain_values(row: models.Model, left_out: set[str]) -> dict[str, Any]:
    return {field.name: field.value_from_object(row) for field in plain_fields(type(row), left_out)}


def members_of(track: Track, with_documents: bool = False) -> Iterator[Member]:
    """The members of its archive: every accepted run of a track, also those off the board."""
    collection = track.collection
    yield Member("topics.jsonl", as_lines(topics_of(collection)))
    if collection.documents and with_documents:
        yield Member("documents.jsonl", as_lines(documents_of(collection)))
    elif collection.documents:
        docnos = open_documents(collection.documents.name).docnos()
        yield Member("docnos.txt", (f"{docno}\n".encode() for docno in docnos))
    if track.judgment_set is not None:
        yield Member("judgments.qrels", lines_of(track.judgment_set))
    runs = runs_of(track)
    for run in runs:
        yield Member(f"runs/{run.pk}", pieces_of(run))
        yield Member(f"scores/{run.pk}.json", [json.dumps(scores_of(run, track.edition)).encode()])
    yield from board_of(track)
    yield Member(MANIFEST, [manifest_of(track, runs).model_dump_json(indent=1).encode()])


def runs_of(track: Track) -> list[Run]:
    return list(track.runs.accepted().select_related("team").order_by("received_at"))


def as_lines(rows: Iterable[dict[str, str]]) -> Iterator[bytes]:
    return (json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def topics_of(collection: Collection) -> Iterator[dict[str, str]]:
    for topic in collection.topics.iterator():
        yield {
            "number": topic.number,
            "title": topic.title,
            "description": topic.description,
            "narrative": topic.narrative,
        }


def documents_of(collection: Collection) -> Iterator[dict[str, str]]:
    for each in open_documents(collection.documents.name):
        yield {"docno": each.docno, "title": each.title, "text": each.text}


def lines_of(judgment_set: JudgmentSet) -> Iterator[bytes]:
    rows = judgment_set.judgments.order_by("topic__position", "pk")
    for number, docno, grade in rows.values_list("topic__number", "docno", "grade").iterator():
        yield f"{number} 0 {docno} {grade}\n".encode()


def pieces_of(run: Run) -> Iterator[bytes]:
    with default_storage.open(run.file.name) as file:
        yield from file.chunks(PIECE)


def scores_of(run: Run, edition: Edition | None) -> dict[str, Any]:
    """The mean of each measure and its value a topic by position; what is undefined is null."""
    return {
        score.measure: {
            "mean": score.mean,
            "topics": [None if math.isnan(value) else value for value in score.values.tolist()],
        }
        for score in Score.objects.filter(score_set__run=run, score_set__edition=edition)
    }


def board_of(track: Track) -> Iterator[Member]:
    board = find_board(look(track, track.owner), Choice(columns=(ALL,)))
    if board is not None:
        yield Member("board.csv", [exports.as_csv(board, shown_columns(board)).encode()])
        yield Member("board.tex", [exports.as_latex(board, for_papers(board)).encode()])


def manifest_of(track: Track, runs: list[Run]) -> Manifest:
    collection, judgment_set = track.collection, track.judgment_set
    return Manifest(
        archive=ARCHIVE_VERSION,
        rankfield=settings.VERSION,
        scoring_version=SCORING_VERSION,
        made_at=timezone.now(),
        collection=CollectionEntry.model_validate(collection),
        judgments=judgment_set and JudgmentsEntry.model_validate(judgment_set),
        track=TrackEntry(
            slug=track.slug, fields=plain_values(track, TRACK_LEFT_OUT), baseline=track.baseline_id
        ),
        runs=[
            RunEntry(
                id=run.pk,
                team="" if run.team.of_organisers else run.team.name,
                sha256=run.sha256,
                fields=plain_values(run, RUN_LEFT_OUT),
            )
            for run in runs
        ],
    )
