"""Endpoints for organisers: judge a pool on the site, from the plan to the judgments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, StreamingHttpResponse
from ninja import File, Form, Query, Router, Status, UploadedFile

from evaluation.problems import Refused
from leaderboard.actions import assessments as verbs
from leaderboard.actions.mark_import import ImportedMarks
from leaderboard.actions.mark_import import import_marks as import_mark_files
from leaderboard.api.auth import ORGANISE, PUBLIC, viewer
from leaderboard.api.errors import MOST_PROBLEMS, ApiError, field_error, permission_error
from leaderboard.api.fields import refuse_truncated_body
from leaderboard.api.listing import Page, page_by_number
from leaderboard.api.schemas import (
    AssessmentCounts,
    AssessmentIn,
    AssessmentList,
    AssessmentOut,
    AssessmentSettings,
    AssignmentIn,
    AssignmentList,
    CloseIn,
    DisagreementOut,
    ImportedMarksOut,
    JudgmentsReceipt,
    MarksFormIn,
    Paging,
    SettledOut,
    SettlementIn,
    ThirdOpinionsOut,
    response_schemas,
)
from leaderboard.api.tracks import organised_sight_or_403
from leaderboard.assessments.disagreements import (
    Disagreement,
    find_disagreement,
    load_disagreements,
)
from leaderboard.assessments.judgments import find_outcome
from leaderboard.assessments.kinds import kind_of_judging, kind_of_pool
from leaderboard.assessments.mark_files import ExportFormat, render_marks
from leaderboard.assessments.progress import find_disputes
from leaderboard.assessments.queues import TopicProgress, measure_all_progress
from leaderboard.boards.disclosure import track_or_404
from leaderboard.infrastructure.downloads import streamed_bytes
from leaderboard.models import Assessment, Assignment, Track, User
from leaderboard.models.assessments import GradeText
from leaderboard.models.collections import ImportedVersion
from leaderboard.sight.tracks import Viewer
from leaderboard.sight.visible_rows import can_see_marks

router = Router(tags=["assessments"])

SETTINGS = list(AssessmentSettings.model_fields)
MOST_DISAGREEMENTS = 500
MEDIA_TYPES: dict[ExportFormat, str] = {"jsonl": "application/jsonl", "trec": "text/plain"}


@router.get(
    "/tracks/{slug:slug}/assessments",
    auth=PUBLIC,
    response=response_schemas(AssessmentList),
    exclude_unset=True,
)
def list_assessments(request: HttpRequest, slug: str, paging: Query[Paging]) -> Page[Assessment]:
    """List the assessments of a track (organisers only)."""
    track = organised_track_or_404(viewer(request), slug)
    rows = track.assessments.select_related("pool", "version", "layer").prefetch_related(
        "guidelines"
    )
    return page_by_number(rows, paging)


@router.post(
    "/tracks/{slug:slug}/assessments",
    auth=ORGANISE,
    response=response_schemas(AssessmentOut, 201),
    exclude_unset=True,
)
def create_assessment(request: HttpRequest, slug: str, body: AssessmentIn) -> Status[AssessmentOut]:
    """Plan the judging of an approved pool. It begins when you open it."""
    user = viewer(request)
    track = organised_sight_or_403(user, slug).track
    pool = track.pools.filter(name=body.pool).first()
    if pool is None:
        raise field_error("pool", "is not a pool of this track", body.pool)
    assessment = Assessment(pool=pool, **{name: getattr(body, name) for name in SETTINGS})
    kind = kind_of_pool(pool)
    if not (body.scale or kind.scale):
        raise field_error("scale", "is missing")
    if body.scale and kind.scale:
        raise field_error("scale", "is that of documents; answers have labels of their own")
    scale = kind.scale or [GradeText(**grade.dict()) for grade in body.scale or ()]
    verbs.plan_assessment(assessment, user, body.guideline or kind.text, scale)
    return Status(201, with_counts(assessment))


@router.get(
    "/tracks/{slug:slug}/assessments/{slug:name}",
    auth=PUBLIC,
    response=response_schemas(AssessmentOut),
    exclude_unset=True,
)
def get_assessment(request: HttpRequest, slug: str, name: str) -> AssessmentOut:
    """Get the settings, guideline and counts of an assessment (organisers only)."""
    return with_counts(assessment_or_404(viewer(request), slug, name))


@router.post(
    "/tracks/{slug:slug}/assessments/{slug:name}/open",
    auth=ORGANISE,
    response=response_schemas(AssessmentOut),
    exclude_unset=True,
)
def open_assessment(request: HttpRequest, slug: str, name: str) -> AssessmentOut:
    """Share out the topics among the assessors and let the judging begin."""
    return change_state(request, slug, name, verbs.open_assessment)


@router.post(
    "/tracks/{slug:slug}/assessments/{slug:name}/pause",
    auth=ORGANISE,
    response=response_schemas(AssessmentOut),
    exclude_unset=True,
)
def pause_assessment(request: HttpRequest, slug: str, name: str) -> AssessmentOut:
    """Stop the judging until you resume it."""
    return change_state(request, slug, name, verbs.pause_assessment)


@router.post(
    "/tracks/{slug:slug}/assessments/{slug:name}/resume",
    auth=ORGANISE,
    response=response_schemas(AssessmentOut),
    exclude_unset=True,
)
def resume_assessment(request: HttpRequest, slug: str, name: str) -> AssessmentOut:
    """Continue the judging after a pause."""
    return change_state(request, slug, name, verbs.resume_assessment)


def change_state(
    request: HttpRequest, slug: str, name: str, verb: Callable[[Assessment, User], None]
) -> AssessmentOut:
    """Do a verb to an assessment that the caller organises; return it as it is then."""
    assessment = organised_assessment_or_403(viewer(request), slug, name)
    verb(assessment, viewer(request))
    return get_assessment(request, slug, name)


@router.post(
    "/tracks/{slug:slug}/assessments/{slug:name}/close",
    auth=ORGANISE,
    response=response_schemas(JudgmentsReceipt, 202),
)
def close_assessment(
    request: HttpRequest, slug: str, name: str, body: CloseIn
) -> Status[ImportedVersion]:
    """Close the judging and make its judgments, of answers a layer of marks. You cannot undo this.

    A worker imports them; the board does not change until you choose them.
    """
    user = viewer(request)
    assessment = organised_assessment_or_403(user, slug, name)
    track = assessment.track
    is_of_answers = kind_of_judging(assessment).is_of_answers
    known = track.mark_layers if is_of_answers else track.collection.judgment_sets
    if known.filter(version=body.version).exists():
        noun = known.model.noun
        raise field_error("version", f"already exists; {noun} are never replaced", body.version)
    made = verbs.close_assessment(assessment, user, body.version, is_early=body.early)
    return Status(202, made)


@router.post(
    "/tracks/{slug:slug}/assessments/{slug:name}/third-opinions",
    auth=ORGANISE,
    response=response_schemas(ThirdOpinionsOut),
)
def ask_third(request: HttpRequest, slug: str, name: str) -> dict[str, int]:
    """Let assessors who have not judged a topic judge what others differ on, under rule `agreed`.

    They see no other grade. `left` are those without a free assessor: invite another one.
    """
    assessment = organised_assessment_or_403(viewer(request), slug, name)
    third = verbs.ask_third(assessment, viewer(request))
    return {"given": third.num_given, "left": third.num_left}


@router.get(
    "/tracks/{slug:slug}/assessments/{slug:name}/assignments",
    auth=PUBLIC,
    response=response_schemas(AssignmentList),
)
def list_assignments(
    request: HttpRequest, slug: str, name: str, paging: Query[Paging]
) -> dict[str, Any]:
    """List who judges which topic, under pseudonyms, with progress (organisers only)."""
    assessment = assessment_or_404(viewer(request), slug, name)
    return serialise_assignments(assessment, paging)


@router.post(
    "/tracks/{slug:slug}/assessments/{slug:name}/assignments",
    auth=ORGANISE,
    response=response_schemas(AssignmentList),
)
def change_assignments(
    request: HttpRequest, slug: str, name: str, body: AssignmentIn = None
) -> dict[str, Any]:
    """Share out the free topics, or reassign what is left of one.

    Marks stay with the assessor who made them. The answer is the first page of assignments.
    """
    user, body = viewer(request), body or AssignmentIn()
    assessment = organised_assessment_or_403(user, slug, name)
    if body.assignment is None:
        if body.to:
            raise field_error("assignment", "is missing")
        verbs.share_out(assessment, user)
    else:
        reassign(assessment, user, body.assignment, body.to)
    return serialise_assignments(assessment, Paging())


def reassign(assessment: Assessment, user: Viewer, assignment_id: int, name: str) -> None:
    every = Assignment.objects.filter(assessor__assessment=assessment)
    assignment = every.select_related("assessor", "topic").filter(pk=assignment_id).first()
    if assignment is None:
        raise field_error("assignment", "is not one of this assessment", str(assignment_id))
    to = assessment.assessors.available().filter(name=name).first()
    if to is None:
        raise field_error("to", "is not an assessor who can judge", name)
    verbs.reassign(assignment, user, to)


@router.get(
    "/tracks/{slug:slug}/assessments/{slug:name}/disagreements",
    auth=PUBLIC,
    response=response_schemas(list[DisagreementOut]),
)
def list_disagreements(request: HttpRequest, slug: str, name: str) -> list[dict[str, Any]]:
    """List up to 500 documents on which assessors differ, the widest first (organisers only)."""
    user = viewer(request)
    assessment = assessment_or_404(user, slug, name)
    refuse_own_marks(assessment, user)
    disputes = find_disputes(assessment)[:MOST_DISAGREEMENTS]
    return [serialise_disagreement(each) for each in load_disagreements(assessment, disputes)]


def serialise_disagreement(found: Disagreement) -> dict[str, Any]:
    given = [{"assessor": each.assessor, "grade": each.mark.grade} for each in found.given]
    return {"topic": found.topic.number, "docno": found.docno, "given": given}


@router.post(
    "/tracks/{slug:slug}/assessments/{slug:name}/disagreements",
    auth=ORGANISE,
    response=response_schemas(SettledOut),
)
def settle_disagreement(
    request: HttpRequest, slug: str, name: str, body: SettlementIn
) -> dict[str, Any]:
    """Decide the grade of a document on which assessors differ."""
    user = viewer(request)
    assessment = organised_assessment_or_403(user, slug, name)
    refuse_own_marks(assessment, user)
    topic = assessment.track.collection.topics.filter(number=body.topic).first()
    if topic is None or find_disagreement(assessment, topic, body.docno) is None:
        raise field_error("docno", "is not a document on which assessors differ", body.docno)
    verbs.settle_document(assessment, user, topic, body.docno, body.grade, body.note)
    return {"left": len(find_disputes(assessment))}


def refuse_own_marks(assessment: Assessment, user: Viewer) -> None:
    if not can_see_marks(assessment, user):
        raise permission_error("You judge here yourself. Marks are open to you after closing.")


@router.get("/tracks/{slug:slug}/assessments/{slug:name}/marks", auth=PUBLIC)
def export_marks(
    request: HttpRequest, slug: str, name: str, format: ExportFormat = "jsonl"
) -> StreamingHttpResponse:
    """Download the marks under pseudonyms (organisers only).

    `jsonl` is the whole log, one mark on a line. `trec` has topic, assessor, docno and grade of
    the marks that stand. You cannot read them while you judge in this assessment yourself.
    """
    user = viewer(request)
    assessment = assessment_or_404(user, slug, name)
    refuse_own_marks(assessment, user)
    filename = f"{slug}-{name}-marks.{'jsonl' if format == 'jsonl' else 'qrels'}"
    return streamed_bytes(filename, render_marks(assessment, format), MEDIA_TYPES[format])


@router.post(
    "/tracks/{slug:slug}/assessments/{slug:name}/marks",
    auth=ORGANISE,
    response=response_schemas(ImportedMarksOut),
)
def import_marks(
    request: HttpRequest,
    slug: str,
    name: str,
    form: Form[MarksFormIn],
    file: File[list[UploadedFile]],
) -> ImportedMarks:
    """Import marks that were made elsewhere: all of them, or none if there is an error.

    `file` may be sent several times. Formats: `jsonl` as exported here, `trec` (topic, assessor,
    docno, grade) and exports of `doccano`. A file whose lines name no assessor is named after one,
    such as `ada.qrels`.
    """
    user = viewer(request)
    assessment = organised_assessment_or_403(user, slug, name)
    refuse_truncated_body(request)
    try:
        return import_mark_files(assessment, user, file, form.format)
    except Refused as refusal:
        raise marks_error(refusal) from None


def marks_error(refusal: Refused) -> ApiError:
    """Build the error of files that were refused, with the first of their problems."""
    problems = list(refusal.problems)[:MOST_PROBLEMS]
    first = next(refusal.problems.of("error"))
    return ApiError(422, first.code, f"No mark was imported. {refusal}", problems)


def organised_track_or_404(user: Viewer, slug: str) -> Track:
    sight = track_or_404(user, slug)
    if not sight.is_organiser:
        raise Http404("no assessments to see")
    return sight.track


def assessment_or_404(user: Viewer, slug: str, name: str) -> Assessment:
    """Return an assessment for its organisers; for others it does not exist."""
    return find_assessment(organised_track_or_404(user, slug), name)


def organised_assessment_or_403(user: Viewer, slug: str, name: str) -> Assessment:
    return find_assessment(organised_sight_or_403(user, slug).track, name)


def find_assessment(track: Track, name: str) -> Assessment:
    rows = track.assessments.select_related("pool", "version", "track__collection")
    assessment = rows.filter(name=name).first()
    if assessment is None:
        raise Http404("no such assessment")
    return assessment


def with_counts(assessment: Assessment) -> AssessmentOut:
    answer = AssessmentOut.from_orm(assessment)
    answer.counts = AssessmentCounts.from_orm(find_outcome(assessment))
    return answer


def serialise_assignments(assessment: Assessment, paging: Paging) -> dict[str, Any]:
    every = Assignment.objects.filter(assessor__assessment=assessment)
    page = page_by_number(every.select_related("assessor", "topic"), paging)
    progress = measure_all_progress(page.items)
    items = [serialise_assignment(row, progress[row.pk]) for row in page.items]
    return {"items": items, "next": page.next}


def serialise_assignment(assignment: Assignment, progress: TopicProgress) -> dict[str, Any]:
    return {
        "id": assignment.pk,
        "assessor": assignment.assessor.name,
        "topic": assignment.topic.number,
        "turn": assignment.turn,
        "progress": progress,
        "finished_at": assignment.finished_at,
        "last_seen_at": assignment.assessor.last_seen_at,
    }
