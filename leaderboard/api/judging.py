"""Endpoints for assessors: what there is to judge, the next documents, and marks.

No answer has a docno, a run, a rank, a score or anything of another assessor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Prefetch, Q
from django.http import Http404, HttpRequest
from ninja import Query, Router

from leaderboard.actions.assessments import accept_judging, finish_topic
from leaderboard.api.auth import READ, SUBMIT, viewer
from leaderboard.api.errors import ApiError, field_error
from leaderboard.api.fields import Tab
from leaderboard.api.listing import Page, page_by_number
from leaderboard.api.schemas import (
    JudgeIn,
    MarkIn,
    MarksAnswer,
    MarksIn,
    NextDocuments,
    OwnAssessmentList,
    OwnAssignment,
    OwnMarkList,
    Paging,
    response_schemas,
)
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.items import JudgedItem
from leaderboard.assessments.kinds import kind_of_judging, read_items
from leaderboard.assessments.marking import MarkError, SentMark, record_mark
from leaderboard.assessments.queues import (
    FETCHED,
    TopicProgress,
    lease_documents,
    measure_all_progress,
    measure_progress,
)
from leaderboard.collections.documents import find_documents
from leaderboard.models import (
    Assessment,
    Assessor,
    AssignedDocument,
    Assignment,
    Invitation,
    Mark,
)

router = Router(tags=["judging"])

MOST_FETCHED = 20


@router.get("/assessments", auth=READ, response=response_schemas(OwnAssessmentList))
def list_own_assessments(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """List the assessments in which you judge, with your topics and progress."""
    user = viewer(request)
    assignments = Assignment.objects.of_user(user).select_related("topic")
    mine = Assessor.objects.active().filter(user=user)
    mine = mine.select_related("assessment__track").prefetch_related(
        Prefetch("assignments", assignments), "assessment__guidelines"
    )
    page = page_by_number(mine, paging)
    rows = [row for assessor in page.items for row in assessor.assignments.all()]
    progress = measure_all_progress(rows)
    return {"items": [serialise_own(row, progress) for row in page.items], "next": page.next}


def serialise_own(assessor: Assessor, progress: dict[int, TopicProgress]) -> dict[str, Any]:
    assessment = assessor.assessment
    return {
        "track": assessment.track.slug,
        "name": assessment.name,
        "state": assessment.state,
        "assessor": assessor.name,
        "due_on": assessment.due_on,
        "guideline": assessment.guidelines.all(),
        "assignments": [
            serialise_own_assignment(row, progress[row.pk]) for row in assessor.assignments.all()
        ],
    }


def serialise_own_assignment(assignment: Assignment, progress: TopicProgress) -> dict[str, Any]:
    topic = assignment.topic
    return {
        "id": assignment.pk,
        "topic": topic.number,
        "title": topic.title,
        "description": topic.description,
        "narrative": topic.narrative,
        "progress": progress,
        "finished_at": assignment.finished_at,
    }


@router.post("/assessments/join", auth=SUBMIT, response=response_schemas(OwnAssessmentList))
def join_assessment(request: HttpRequest, body: JudgeIn) -> dict[str, Any]:
    """Become an assessor by an invitation; returns what you judge."""
    user = viewer(request)
    invited = Invitation.objects.to_judge().filter(code=body.invitation).values("assessment")
    known = Assessment.objects.filter(Q(invitation=body.invitation) | Q(pk__in=invited))
    assessment = known.select_related("track").first()
    if assessment is None:
        raise field_error("invitation", "is not one to judge")
    accept_judging(assessment, user, body.invitation)
    return list_own_assessments(request, Paging())


@router.get(
    "/assignments/{int:assignment_id}/next", auth=READ, response=response_schemas(NextDocuments)
)
def get_next_documents(
    request: HttpRequest,
    assignment_id: int,
    tab: Tab = "api",
    most: int = Query(FETCHED, ge=1, le=MOST_FETCHED),
) -> dict[str, Any]:
    """Get the next documents of a topic. They are held for this `tab` for two minutes.

    Documents that you put off come last. Other tabs get others meanwhile.
    """
    assignment = own_assignment_or_404(request, assignment_id)
    if not assignment.accepts_marks:
        state = assignment.assessor.assessment.state
        reason = "You have finished this topic." if state == "open" else f"The judging is {state}."
        raise ApiError(409, "E_CLOSED", reason)
    return serialise_next(assignment, tab, most)


@router.post(
    "/assignments/{int:assignment_id}/marks", auth=SUBMIT, response=response_schemas(MarksAnswer)
)
def create_marks(request: HttpRequest, assignment_id: int, body: MarksIn) -> dict[str, Any]:
    """Store marks in their order. The answer has a result for each, and the next documents.

    A mark that is not stored does not stop those after it.
    """
    assignment = own_assignment_or_404(request, assignment_id)
    results = [take_mark(assignment, mark) for mark in body.marks]
    progress = measure_progress(assignment)
    return serialise_next(assignment, body.tab, FETCHED) | {
        "results": results,
        "progress": progress,
    }


@router.get(
    "/assignments/{int:assignment_id}/marks", auth=READ, response=response_schemas(OwnMarkList)
)
def list_own_marks(request: HttpRequest, assignment_id: int, paging: Query[Paging]) -> Page[Mark]:
    """List your marks on a topic in the order in which you made them, also those replaced."""
    assignment = own_assignment_or_404(request, assignment_id)
    marks = Mark.objects.filter(document__assignment=assignment)
    return page_by_number(marks.select_related("guideline", "replaces"), paging)


@router.post(
    "/assignments/{int:assignment_id}/finish", auth=SUBMIT, response=response_schemas(OwnAssignment)
)
def finish_assignment(request: HttpRequest, assignment_id: int) -> dict[str, Any]:
    """Finish a topic once every document has an answer."""
    finish_topic(own_assignment_or_404(request, assignment_id))
    assignment = own_assignment_or_404(request, assignment_id)
    return serialise_own_assignment(assignment, measure_progress(assignment))


def own_assignment_or_404(request: HttpRequest, assignment_id: int) -> Assignment:
    """Return an assignment of the caller; for anyone else it does not exist."""
    own = Assignment.objects.of_user(viewer(request)).select_related(
        "topic__collection", "assessor__assessment__track", "assessor__assessment__pool"
    )
    assignment = own.filter(pk=assignment_id).first()
    if assignment is None:
        raise Http404("no such assignment")
    return assignment


def take_mark(assignment: Assignment, sent: MarkIn) -> dict[str, Any]:
    """Store a mark; return its result."""
    told = {"key": sent.key, "document": sent.document}
    values = sent.dict() | {"spans": [list(span) for span in sent.spans]}
    try:
        record_mark(assignment, SentMark(**values))
    except MarkError as reason:
        return told | {"code": reason.code, "message": str(reason)}
    return told


def serialise_next(assignment: Assignment, tab: str, most: int) -> dict[str, Any]:
    """Hold the next documents for a tab, none if the judging is not open."""
    documents = []
    if assignment.accepts_marks:
        draw_documents(assignment)
        documents = lease_documents(assignment, tab, most=most).documents
    return {
        "guideline": assignment.assessor.assessment.guideline.number,
        "documents": serialise_documents(assignment, documents),
    }


def serialise_documents(
    assignment: Assignment, documents: Sequence[AssignedDocument]
) -> list[dict[str, Any]]:
    """Serialise documents with their texts, under keys that say nothing about them."""
    if kind_of_judging(assignment.assessor.assessment).is_of_answers:
        items = read_items(assignment, documents)
        return [serialise_item(document, items[document.pk]) for document in documents]
    docnos = {document.docno for document in documents}
    found = find_documents(assignment.topic.collection, docnos)
    texts = [found.get(document.docno) for document in documents]
    return [
        {
            "document": document.pk,
            "title": None if text is None else text.title,
            "text": None if text is None else text.text,
            "state": document.state,
        }
        for document, text in zip(documents, texts, strict=True)
    ]


def serialise_item(document: AssignedDocument, item: JudgedItem) -> dict[str, Any]:
    """Serialise a pair of a pool of answers: its text, and what is asked about it."""
    nugget = next((each for each in item.nuggets if each.is_current), None)
    asked: dict[str, Any] = {}
    if nugget is not None:
        asked = {"nugget": nugget.nugget.text, "accepted": nugget.accepted}
    elif item.sentence is not None:
        said = item.sentence
        asked = {"sentence": said.sentence, "before": said.before, "after": said.after}
    title = "".join(piece.words for piece in item.text.title)
    return {
        "document": document.pk,
        "asked": asked,
        "title": title if item.text.exists else None,
        "text": item.text.plain if item.text.exists else None,
        "state": document.state,
    }
