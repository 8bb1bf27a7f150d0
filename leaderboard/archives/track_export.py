"""Export a track as one file: collection, judgments, runs, scores and boards.

People are not exported: users, tokens, invitations and memberships stay here, and events do not
name who did them.

    manifest.json                        versions; fields of collection, judgments, track and runs
    topics.jsonl                         in the order of their positions
    docnos.txt or documents.jsonl        where the collection has documents
    judgments/<version>.qrels            as they count, with mapped grades
    judgments/<version>.file             the original file
    judgments/<version>.intents          the probabilities of its subtopics, if it has any
    judgments/<version>.replies.jsonl    what the machine said that judged, where it is kept
    runs/<id>                            the original file
    problems/<id>.jsonl                  of a rejected run with many problems
    scores/<edition>/<id>.json           its values in each edition
    board.csv  board.tex                 as an organiser sees it
    pages/<tag>-<id>.txt                 each scored run on a page
    snapshots/<name>.json  pools/<name>.tsv
    pools/<name>.frame.tsv               of a sample: what it was drawn from
    pools/<name>.texts                   of a pool of answers: the texts as assessors read them
    assessments/<name>/documents.jsonl   in the order of judging, by assessor and topic
    assessments/<name>/marks.jsonl       the log of the marks, under pseudonyms
    nuggets/  layers/                    of a track of answers, see `archives/nuggets.py`
    battles/votes.jsonl                  votes on pairs of runs, voters under pseudonyms
    events.jsonl                         what happened
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from pydantic_core import to_json

from evaluation.conventions import SCORING_VERSION
from leaderboard.analysis.precision import read_precision
from leaderboard.analysis.scores import read_scores
from leaderboard.archives.appendices import ScoresByTopic, name_folder, render_appendix
from leaderboard.archives.battles import battle_members, battles_entry
from leaderboard.archives.manifests import (
    ARCHIVE_VERSION,
    LOCAL_FIELDS_OF_REJECTED,
    AssessmentEntry,
    AssignmentEntry,
    CollectionEntry,
    EditionEntry,
    JudgmentsEntry,
    Manifest,
    PoolEntry,
    RunEntry,
    SnapshotEntry,
    TeamEntry,
    TopicRowEntry,
    TrackEntry,
    named_rows,
    plain_values,
    ranking_path,
)
from leaderboard.archives.nuggets import (
    draft_entries,
    layer_entries,
    nugget_entries,
    nugget_members,
)
from leaderboard.archives.zip_files import MANIFEST, ZipEntry, read_chunks
from leaderboard.assessments.mark_files import render_marks
from leaderboard.boards.board_files import render_csv, render_latex
from leaderboard.boards.columns import ALL_COLUMNS, paper_columns, shown_columns
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.exports import file_of
from leaderboard.boards.standings import Board, BoardChoice, find_board
from leaderboard.collections.documents import open_documents
from leaderboard.collections.machine_replies import render_replies
from leaderboard.collections.stored_judgments import render_qrels
from leaderboard.collections.topics import render_json_topics
from leaderboard.models import (
    Assessment,
    AssignedDocument,
    Assignment,
    Benchmark,
    Collection,
    Edition,
    JudgmentSet,
    MachineCard,
    Overview,
    Participation,
    Pool,
    PracticeDocument,
    Run,
    Score,
    Settlement,
    Team,
    Track,
)
from leaderboard.models.collections import ImportState
from leaderboard.models.track_settings import setting_fields
from leaderboard.scoring.system_runs import render_system_scores

# The kinds of events to export; the others are about people or contain their URLs.
EXPORTED_KINDS = (
    *("track", "run", "snapshot", "pool", "assessment"),
    *("judgmentset", "grant", "announcement", "nuggetversion", "marklayer"),
)
# What a pool refers to by name.
POOLED_FROM = ("judged_in", "checks", "nuggets", "marked_in")
EXCLUDED_ACTS = ("add organiser", "remove organiser")


def build_track_members(track: Track, with_documents: bool = False) -> Iterator[ZipEntry]:
    """Build the members of a track's archive, with every run, also removed and rejected ones."""
    collection = track.collection
    yield ZipEntry("topics.jsonl", render_json_topics(collection))
    if collection.documents and with_documents:
        yield ZipEntry("documents.jsonl", render_json_lines(document_rows(collection)))
    elif collection.documents:
        docnos = open_documents(collection.documents.name).docnos()
        yield ZipEntry("docnos.txt", (f"{docno}\n".encode() for docno in docnos))
    for judged in collection.judgment_sets.ready():
        yield ZipEntry(f"judgments/{judged.version}.qrels", render_qrels(judged))
        yield ZipEntry(f"judgments/{judged.version}.file", read_chunks(judged.file))
        if judged.num_intents:
            yield ZipEntry(f"judgments/{judged.version}.intents", read_chunks(judged.intents_file))
        if judged.machine_replies.exists():
            yield ZipEntry(f"judgments/{judged.version}.replies.jsonl", render_replies(judged))
    editions = ready_editions(track)
    for run in accepted_runs(track):
        yield from accepted_run_members(run, editions)
    for run in rejected_runs(track):
        yield from rejected_run_members(run)
    yield from board_members(track)
    for snapshot in track.snapshots.all():
        frozen = plain_values(snapshot)
        yield ZipEntry(f"snapshots/{snapshot.slug}.json", render_json_lines([frozen]))
    yield from pool_members(track)
    yield from assessment_members(track)
    yield from nugget_members(track)
    yield from battle_members(track)
    yield ZipEntry("events.jsonl", render_json_lines(event_rows(track)))
    yield ZipEntry(MANIFEST, [build_manifest(track).model_dump_json(indent=1).encode()])


def accepted_run_members(run: Run, editions: Sequence[Edition]) -> Iterator[ZipEntry]:
    """Yield the file of a run and its scores; of a ranking of systems also their ids."""
    yield ZipEntry(f"runs/{run.pk}", read_chunks(run.file))
    if run.track.ranks_systems:
        yield ZipEntry(ranking_path(run.pk), [render_system_scores(run)])
    for edition in editions:
        scores = json.dumps(run_scores(run, edition)).encode()
        yield ZipEntry(f"scores/{edition.pk}/{run.pk}.json", [scores])


def pool_members(track: Track) -> Iterator[ZipEntry]:
    """Yield the approved pools; of a sample also the documents from which it was drawn."""
    for pool in approved_pools(track):
        yield ZipEntry(f"pools/{pool.name}.tsv", read_chunks(pool.file))
        if pool.frame_file:
            yield ZipEntry(f"pools/{pool.name}.frame.tsv", read_chunks(pool.frame_file))
        if pool.texts_file:
            yield ZipEntry(f"pools/{pool.name}.texts", read_chunks(pool.texts_file))


def ready_judgments(collection: Collection) -> list[JudgmentSet]:
    return list(collection.judgment_sets.filter(state=ImportState.READY))


def ready_editions(track: Track) -> list[Edition]:
    """Return every complete edition, also those no longer on the board.

    Of rankings of systems only the last one: what others compared them with is not in the archive.
    """
    ready = track.editions.filter(state=Edition.State.READY)
    if track.ranks_systems:
        ready = ready.filter(pk=track.edition_id)
    return list(ready.select_related("judgment_set").order_by("pk"))


def approved_pools(track: Track) -> list[Pool]:
    return list(track.pools.filter(state=Pool.State.KEPT).select_related(*POOLED_FROM))


def ordered_assessments(track: Track) -> list[Assessment]:
    return list(track.assessments.select_related("pool", "version"))


def assessment_members(track: Track) -> Iterator[ZipEntry]:
    """Yield the documents that are to be judged, and the marks."""
    every = AssignedDocument.objects.select_related("assignment__assessor", "assignment__topic")
    for assessment in ordered_assessments(track):
        folder = f"assessments/{assessment.name}"
        rows = every.filter(assignment__assessor__assessment=assessment).order_by("pk")
        runs = assessment.pool.summary["runs"]
        values = (assigned_values(document, runs) for document in rows)
        yield ZipEntry(f"{folder}/documents.jsonl", render_json_lines(values))
        yield ZipEntry(f"{folder}/marks.jsonl", render_marks(assessment, "jsonl"))


def assigned_values(document: AssignedDocument, runs: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a document to judge, with its assessor and topic.

    The run from which it was drawn is a number among the runs of the pool.
    """
    assignment = document.assignment
    names: dict[str, Any] = {"assessor": assignment.assessor.name, "topic": assignment.topic.number}
    if document.drawn_from_id in runs:
        names["drawn_from"] = runs.index(document.drawn_from_id)
    return names | plain_values(document)


def event_rows(track: Track) -> Iterator[dict[str, Any]]:
    events = track.events.filter(target_kind__in=EXPORTED_KINDS).exclude(act__in=EXCLUDED_ACTS)
    names = archive_names(track)
    for row in events.order_by("at", "pk").values(
        "at", "act", "target_kind", "target_id", "before", "after"
    ):
        yield {**row, "target_id": names.get((row["target_kind"], row["target_id"]), "")}


def archive_names(track: Track) -> dict[tuple[str, str], str]:
    """Return the archive's names of events' targets by kind and key here."""
    runs = {("run", run_id): run_id for run_id in track.runs.values_list("pk", flat=True)}
    rows = named_rows(track).items()
    return runs | {(kind, str(key)): name for kind, pairs in rows for key, name in pairs}


def accepted_runs(track: Track) -> list[Run]:
    return list(track.runs.accepted().select_related("team").order_by("received_at", "pk"))


def rejected_runs(track: Track) -> list[Run]:
    """Return the runs that were rejected or that failed by our fault."""
    ended = track.runs.filter(state__in=[Run.State.REFUSED, Run.State.FAILED])
    return list(ended.select_related("team").order_by("received_at", "pk"))


def rejected_run_members(run: Run) -> Iterator[ZipEntry]:
    """Yield the stored files of a rejected run."""
    if run.file:
        yield ZipEntry(f"runs/{run.pk}", read_chunks(run.file))
    if run.problems_file:
        yield ZipEntry(f"problems/{run.pk}.jsonl", read_chunks(run.problems_file))


def ordered_teams(track: Track) -> QuerySet[Team]:
    return track.benchmark.teams.order_by("pk")


def render_json_lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for row in rows:
        yield to_json(row) + b"\n"


def document_rows(collection: Collection) -> Iterator[dict[str, str]]:
    for document in open_documents(collection.documents.name):
        yield {"docno": document.docno, "title": document.title, "text": document.text}


def run_scores(run: Run, edition: Edition) -> dict[str, Any]:
    """Return the mean and the topic scores of each measure; undefined scores are null."""
    return {
        score.measure: {
            "mean": score.mean,
            "topics": [None if math.isnan(value) else value for value in score.values.tolist()],
        }
        for score in Score.objects.filter(score_set__run=run, score_set__edition=edition)
    }


def board_members(track: Track) -> Iterator[ZipEntry]:
    sight = sight_of(track, track.benchmark.owner)
    board, whole = (
        find_board(sight, BoardChoice(columns=(ALL_COLUMNS,))),
        find_board(sight.with_every_run()),
    )
    if board is not None and board.standings and whole is not None:
        yield ZipEntry("board.csv", [render_csv(file_of(board, shown_columns(board))).encode()])
        yield ZipEntry("board.tex", [render_latex(file_of(board, paper_columns(board))).encode()])
        yield from page_members(whole)


def page_members(board: Board) -> Iterator[ZipEntry]:
    """Yield a page for each run of the board, as proceedings print them."""
    runs = [standing.run for standing in board.standings]
    precision, scores = read_precision(board), read_scores(board.edition, board.measure, runs)
    for run in scores.runs:
        by_topic = ScoresByTopic(scores.topics, scores.of(run), scores.median)
        page = render_appendix(board, run, precision, by_topic)
        yield ZipEntry(f"pages/{name_folder(run)}.txt", [page.encode()])


def build_manifest(track: Track) -> Manifest:
    judged, page = track.judgment_set, Overview.objects.filter(track=track).first()
    return Manifest(
        archive=ARCHIVE_VERSION,
        rankfield=settings.VERSION,
        scoring_version=SCORING_VERSION,
        made_at=timezone.now(),
        collection=CollectionEntry.model_validate(track.collection),
        judgments=[
            judgments_entry(judgment_set) for judgment_set in ready_judgments(track.collection)
        ],
        track=TrackEntry(
            slug=track.slug,
            fields=plain_values(track) | rules_of(track.benchmark),
            judgments=None if judged is None else judged.version,
            baseline=track.baseline_id,
        ),
        teams=[team_entry(team, track) for team in ordered_teams(track)],
        runs=[run_entry(run) for run in accepted_runs(track)],
        refused=[run_entry(run, LOCAL_FIELDS_OF_REJECTED) for run in rejected_runs(track)],
        announcements=[
            plain_values(announcement) for announcement in track.announcements.order_by("pk")
        ],
        milestones=[plain_values(milestone) for milestone in track.milestones.all()],
        overview=None if page is None else plain_values(page),
        editions=[edition_entry(edition) for edition in ready_editions(track)],
        pools=[pool_entry(pool) for pool in approved_pools(track)],
        assessments=[assessment_entry(row) for row in ordered_assessments(track)],
        nuggets=nugget_entries(track),
        drafts=draft_entries(track),
        layers=layer_entries(track),
        battles=battles_entry(track),
        snapshots=[
            SnapshotEntry(slug=snapshot.slug, edition=str(snapshot.edition_id))
            for snapshot in track.snapshots.all()
        ],
    )


def judgments_entry(judged: JudgmentSet) -> JudgmentsEntry:
    card = MachineCard.objects.filter(judgment_set=judged).first()
    return JudgmentsEntry(
        version=judged.version,
        note=judged.note,
        top_grade=judged.top_grade,
        relevant_from=judged.relevant_from,
        pool_depth=judged.pool_depth,
        sha256=judged.sha256,
        pooled_runs=list(judged.pooled_runs.order_by("pk").values_list("pk", flat=True)),
        format=find_judgment_format(judged),
        fields=judgment_values(judged),
        has_documents=judged.has_documents,
        machine=None if card is None else plain_values(card),
        people_version=None if judged.people_version is None else judged.people_version.version,
        machine_version=None if judged.machine_version is None else judged.machine_version.version,
    )


def judgment_values(judged: JudgmentSet) -> dict[str, Any]:
    """Return the fields of the judgments; versions before this know none of probabilities."""
    values = plain_values(judged)
    if not judged.intents_filename:
        del values["intents_filename"]
    return values


def find_judgment_format(judged: JudgmentSet) -> str:
    """Return the format in which the judgments are printed."""
    if judged.num_subtopics:
        return "subtopics"
    return "strata" if judged.num_strata else "trec"


def rules_of(benchmark: Benchmark) -> dict[str, Any]:
    """Return who may join a track, and how its runs name their code."""
    return {field.name: getattr(benchmark, field.name) for field in setting_fields(Benchmark)}


def team_entry(team: Team, track: Track) -> TeamEntry:
    own = team.participations.filter(track=track).first() or Participation()
    grants = team.grants.filter(track=track).order_by("pk")
    return TeamEntry(
        name=team.name,
        of_organisers=team.of_organisers,
        created_at=team.created_at,
        alias=own.alias,
        closes_at=own.closes_at,
        extension_reason=own.extension_reason,
        grants=[plain_values(grant) for grant in grants],
    )


def run_entry(run: Run, left_out: set[str] | None = None) -> RunEntry:
    return RunEntry(
        id=run.pk,
        team="" if run.team.of_organisers else run.team.name,
        replaces=run.replaces_id,
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
    named = [(name, getattr(pool, name)) for name in POOLED_FROM]
    return PoolEntry(
        name=pool.name,
        runs=list(pool.runs.order_by("pk").values_list("pk", flat=True)),
        **{name: None if row is None else row.version for name, row in named},
        judgments=[
            judgment_set.version
            for judgment_set in pool.judgment_sets.filter(state=ImportState.READY)
        ],
        fields=plain_values(pool),
    )


def assessment_entry(assessment: Assessment) -> AssessmentEntry:
    """Describe an assessment; its assessors by pseudonyms alone."""
    assignments = Assignment.objects.filter(assessor__assessment=assessment).order_by("pk")
    made = assessment.judgment_sets.filter(state=ImportState.READY)
    layers = list(assessment.mark_layers.ready())
    version, layer = assessment.version, assessment.layer
    return AssessmentEntry(
        name=assessment.name,
        pool=assessment.pool.name,
        version=version.version if version in made else None,
        layer=layer.version if layer in layers else None,
        layers=[each.version for each in layers],
        judgments=[judgment_set.version for judgment_set in made],
        fields=plain_values(assessment),
        guidelines=[plain_values(guideline) for guideline in assessment.guidelines.all()],
        assessors=[plain_values(assessor) for assessor in assessment.assessors.all()],
        assignments=[
            assignment_entry(row)
            for row in assignments.select_related("assessor", "topic", "read_guideline")
        ],
        practice=[
            topic_row_entry(row) for row in assessment.practice_documents.select_related("topic")
        ],
        settlements=[
            topic_row_entry(row) for row in assessment.settlements.select_related("topic")
        ],
    )


def assignment_entry(assignment: Assignment) -> AssignmentEntry:
    guideline = assignment.read_guideline
    return AssignmentEntry(
        assessor=assignment.assessor.name,
        topic=assignment.topic.number,
        read_guideline=None if guideline is None else guideline.number,
        fields=plain_values(assignment),
    )


def topic_row_entry(row: PracticeDocument | Settlement) -> TopicRowEntry:
    return TopicRowEntry(topic=row.topic.number, fields=plain_values(row))
