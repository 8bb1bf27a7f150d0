"""A track as one file: collection, judgments, runs, scores and boards, for another installation.

What a person is here stays here: users, tokens, invitations and memberships are not in it, and
what happened is told without who did it.

    manifest.json                        versions; fields of collection, judgments, track and runs
    topics.jsonl                         in the order of their positions
    docnos.txt or documents.jsonl        where the collection has documents
    judgments/<version>.qrels            as they count: grades are mapped
    judgments/<version>.file             as they were brought
    runs/<id>                            the file as it was sent
    problems/<id>.jsonl                  of a refused run, where there are many
    scores/<edition>/<id>.json           its values in each edition
    board.csv  board.tex                 as an organiser sees it
    pages/<tag>-<id>.txt                 each scored run on a page
    snapshots/<name>.json  pools/<name>.tsv
    events.jsonl                         what happened
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import QuerySet
from django.db.models.fields.files import FieldFile
from django.utils import timezone
from pydantic_core import to_json

from evaluation.conventions import SCORING_VERSION
from leaderboard.analysis.precision import read_precision
from leaderboard.analysis.scores import read_scores
from leaderboard.archives.appendices import ByTopic, appendix, folder_of
from leaderboard.archives.manifests import (
    ARCHIVE_VERSION,
    LEFT_OUT_OF_REFUSED,
    CollectionEntry,
    EditionEntry,
    JudgmentsEntry,
    Manifest,
    PoolEntry,
    RunEntry,
    SnapshotEntry,
    TeamEntry,
    TrackEntry,
    named_rows,
    plain_values,
)
from leaderboard.archives.zip_files import MANIFEST, PIECE, Member
from leaderboard.boards import exports
from leaderboard.boards.columns import ALL, for_papers, shown_columns
from leaderboard.boards.disclosure import look
from leaderboard.boards.standings import Board, Choice, find_board
from leaderboard.collections.documents import open_documents
from leaderboard.infrastructure.batches import iterate_batches
from leaderboard.models import Collection, Edition, JudgmentSet, Pool, Run, Score, Team, Track
from leaderboard.models.collections import ImportState

# The judgments of so many topics are in memory at once.
TOPICS = 50
# Whose deeds are told; the others are of people, or name addresses of theirs.
TOLD = ("track", "run", "snapshot", "pool", "judgmentset", "grant", "announcement")
OF_PEOPLE = ("add organiser", "remove organiser")


def members_of(track: Track, with_documents: bool = False) -> Iterator[Member]:
    """The members of its archive: every run of a track, also those off the board or refused."""
    collection = track.collection
    yield Member("topics.jsonl", as_lines(topics_of(collection)))
    if collection.documents and with_documents:
        yield Member("documents.jsonl", as_lines(documents_of(collection)))
    elif collection.documents:
        docnos = open_documents(collection.documents.name).docnos()
        yield Member("docnos.txt", (f"{docno}\n".encode() for docno in docnos))
    for judged in judgments_of(collection):
        yield Member(f"judgments/{judged.version}.qrels", lines_of(judged))
        yield Member(f"judgments/{judged.version}.file", pieces_of(judged.file))
    editions = editions_of(track)
    for run in runs_of(track):
        yield Member(f"runs/{run.pk}", pieces_of(run.file))
        for edition in editions:
            scores = json.dumps(scores_of(run, edition)).encode()
            yield Member(f"scores/{edition.pk}/{run.pk}.json", [scores])
    for run in refused_of(track):
        yield from files_of_refused(run)
    yield from board_of(track)
    for snapshot in track.snapshots.all():
        frozen = plain_values(snapshot)
        yield Member(f"snapshots/{snapshot.slug}.json", as_lines([frozen]))
    for pool in pools_of(track):
        yield Member(f"pools/{pool.name}.tsv", pieces_of(pool.file))
    yield Member("events.jsonl", as_lines(events_of(track)))
    yield Member(MANIFEST, [manifest_of(track).model_dump_json(indent=1).encode()])


def judgments_of(collection: Collection) -> list[JudgmentSet]:
    return list(collection.judgment_sets.filter(state=ImportState.READY))


def editions_of(track: Track) -> list[Edition]:
    """Every complete one, those that left the board as well."""
    ready = track.editions.filter(state=Edition.State.READY)
    return list(ready.select_related("judgment_set").order_by("pk"))


def pools_of(track: Track) -> list[Pool]:
    return list(track.pools.filter(state=Pool.State.KEPT).select_related("judged_in"))


def events_of(track: Track) -> Iterator[dict[str, Any]]:
    told = track.events.filter(target_kind__in=TOLD).exclude(act__in=OF_PEOPLE)
    names = names_of(track)
    for row in told.order_by("at", "pk").values(
        "at", "act", "target_kind", "target_id", "before", "after"
    ):
        yield {**row, "target_id": names.get((row["target_kind"], row["target_id"]), "")}


def names_of(track: Track) -> dict[tuple[str, str], str]:
    """What events are about, by kind and key here, under the name that it has in an archive."""
    runs = {("run", run_id): run_id for run_id in track.runs.values_list("pk", flat=True)}
    rows = named_rows(track).items()
    return runs | {(kind, str(key)): name for kind, pairs in rows for key, name in pairs}


def runs_of(track: Track) -> list[Run]:
    return list(track.runs.accepted().select_related("team").order_by("received_at"))


def refused_of(track: Track) -> list[Run]:
    """Those that never came on a board: refused, or failed by us."""
    ended = track.runs.filter(state__in=[Run.State.REFUSED, Run.State.FAILED])
    return list(ended.select_related("team").order_by("received_at"))


def files_of_refused(run: Run) -> Iterator[Member]:
    """What is still kept of it."""
    if run.file:
        yield Member(f"runs/{run.pk}", pieces_of(run.file))
    if run.problems_file:
        yield Member(f"problems/{run.pk}.jsonl", pieces_of(run.problems_file))


def teams_of(track: Track) -> QuerySet[Team]:
    return track.teams.order_by("pk")


def as_lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for row in rows:
        yield to_json(row) + b"\n"


def topics_of(collection: Collection) -> Iterator[dict[str, str]]:
    for portion in iterate_batches(collection.topics.all(), "position"):
        for topic in portion:
            yield {
                "number": topic.number,
                "title": topic.title,
                "description": topic.description,
                "narrative": topic.narrative,
            }


def documents_of(collection: Collection) -> Iterator[dict[str, str]]:
    for each in open_documents(collection.documents.name):
        yield {"docno": each.docno, "title": each.title, "text": each.text}


def lines_of(judgment_set: JudgmentSet, left_out: Sequence[str] = ()) -> Iterator[bytes]:
    """Qrels, some topics at a time, without those that are left out."""
    told = judgment_set.collection.topics.exclude(number__in=left_out)
    for topics in iterate_batches(told, "position", TOPICS):
        rows = judgment_set.judgments.filter(topic__in=topics).order_by("topic__position", "pk")
        for number, docno, grade in rows.values_list("topic__number", "docno", "grade"):
            yield f"{number} 0 {docno} {grade}\n".encode()


def pieces_of(stored: FieldFile) -> Iterator[bytes]:
    with default_storage.open(stored.name) as file:
        yield from file.chunks(PIECE)


def scores_of(run: Run, edition: Edition) -> dict[str, Any]:
    """The mean of each measure and its value a topic by position; what is undefined is null."""
    return {
        score.measure: {
            "mean": score.mean,
            "topics": [None if math.isnan(value) else value for value in score.values.tolist()],
        }
        for score in Score.objects.filter(score_set__run=run, score_set__edition=edition)
    }


def board_of(track: Track) -> Iterator[Member]:
    sight = look(track, track.owner)
    board, whole = find_board(sight, Choice(columns=(ALL,))), find_board(sight.with_every_run())
    if board is not None and board.standings and whole is not None:
        yield Member("board.csv", [exports.as_csv(board, shown_columns(board)).encode()])
        yield Member("board.tex", [exports.as_latex(board, for_papers(board)).encode()])
        yield from pages_of(whole)


def pages_of(board: Board) -> Iterator[Member]:
    """Each run of the board on a page, as proceedings print them."""
    runs = [standing.run for standing in board.standings]
    precision, scores = read_precision(board), read_scores(board.edition, board.measure, runs)
    for run in scores.runs:
        by_topic = ByTopic(scores.topics, scores.of(run), scores.median)
        page = appendix(board, run, precision, by_topic)
        yield Member(f"pages/{folder_of(run)}.txt", [page.encode()])


def manifest_of(track: Track) -> Manifest:
    judged = track.judgment_set
    return Manifest(
        archive=ARCHIVE_VERSION,
        rankfield=settings.VERSION,
        scoring_version=SCORING_VERSION,
        made_at=timezone.now(),
        collection=CollectionEntry.model_validate(track.collection),
        judgments=[judgments_entry(each) for each in judgments_of(track.collection)],
        track=TrackEntry(
            slug=track.slug,
            fields=plain_values(track),
            judgments=None if judged is None else judged.version,
            baseline=track.baseline_id,
        ),
        teams=[team_entry(team) for team in teams_of(track)],
        runs=[run_entry(run) for run in runs_of(track)],
        refused=[run_entry(run, LEFT_OUT_OF_REFUSED) for run in refused_of(track)],
        announcements=[plain_values(each) for each in track.announcements.order_by("pk")],
        editions=[edition_entry(edition) for edition in editions_of(track)],
        pools=[pool_entry(pool) for pool in pools_of(track)],
        snapshots=[
            SnapshotEntry(slug=each.slug, edition=str(each.edition_id))
            for each in track.snapshots.all()
        ],
    )


def judgments_entry(judged: JudgmentSet) -> JudgmentsEntry:
    return JudgmentsEntry(
        version=judged.version,
        note=judged.note,
        top_grade=judged.top_grade,
        relevant_from=judged.relevant_from,
        pool_depth=judged.pool_depth,
        sha256=judged.sha256,
        pooled_runs=list(judged.pooled_runs.order_by("pk").values_list("pk", flat=True)),
        fields=plain_values(judged),
    )


def team_entry(team: Team) -> TeamEntry:
    grants = [plain_values(each) for each in team.grants.order_by("pk")]
    return TeamEntry(
        name=team.name,
        of_organisers=team.of_organisers,
        created_at=team.created_at,
        alias=team.alias,
        grants=grants,
    )


def run_entry(run: Run, left_out: set[str] | None = None) -> RunEntry:
    return RunEntry(
        id=run.pk,
        team="" if run.team.of_organisers else run.team.name,
        sha256=run.sha256,
        fields=plain_values(run, left_out),
    )


def edition_entry(edition: Edition) -> EditionEntry:
    return EditionEntry(
        name=str(edition.pk),
        judgments=edition.judgment_set.version,
        convention=edition.convention,
        scoring_version=edition.scoring_version,
        settings=edition.settings,
        fields=plain_values(edition),
    )


def pool_entry(pool: Pool) -> PoolEntry:
    return PoolEntry(
        name=pool.name,
        runs=list(pool.runs.order_by("pk").values_list("pk", flat=True)),
        judged_in=None if pool.judged_in is None else pool.judged_in.version,
        judgments=[each.version for each in pool.judgment_sets.filter(state=ImportState.READY)],
        fields=plain_values(pool),
    )
