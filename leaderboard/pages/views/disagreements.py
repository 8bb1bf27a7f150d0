"""Documents on which assessors differ, and lists of marks, for organisers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from leaderboard.actions import assessments as actions
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments.disagreements import (
    Disagreement,
    find_disagreement,
    load_disagreements,
    mark_passages,
    next_dispute,
)
from leaderboard.assessments.distribution import find_team
from leaderboard.assessments.flags import find_tops
from leaderboard.assessments.kinds import kind_of_judging, title_items
from leaderboard.assessments.progress import find_disputes
from leaderboard.assessments.third_opinions import count_unasked
from leaderboard.collections.documents import find_documents
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Assessment, Assessor, Mark, Topic
from leaderboard.pages import wording
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import (
    OrganisedAssessment,
    organised_assessment_or_404,
    page_number,
    text_of,
)

MARKS_PER_PAGE = 50


@login_required
@require_http_methods(["GET", "POST"])
def disagreements(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """List the disagreements, widest first, or show one; a POST settles one."""
    seen = organised_assessment_or_404(request, address, name)
    if not seen.shows_marks:
        status = 403 if request.method == "POST" else 200
        return render(request, "judging/disagreements.html", seen.context, status=status)
    if request.method == "POST":
        return _settle(request, seen)
    if "docno" in request.GET:
        return _render_one(request, seen)
    listed = shorten(request, "disagreements", "disagreement", find_disputes(seen.assessment))
    context = {
        **seen.context,
        "disagreements": listed.with_rows(load_disagreements(seen.assessment, listed.rows)),
        "num_settled": seen.assessment.settlements.count(),
        "num_unasked": count_unasked(seen.assessment),
    }
    return render(request, "judging/disagreements.html", context)


@login_required
@require_POST
def ask_third(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Let others judge what assessors differ on."""
    seen = organised_assessment_or_404(request, address, name)
    try:
        third = actions.ask_third(seen.assessment, request.user)
        messages.success(request, wording.describe_third(third))
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("disagreements", address=address, name=name)


def _render_one(request: HttpRequest, seen: OrganisedAssessment) -> HttpResponse:
    """Show one document with both grades, remarks and passages."""
    asked = request.GET
    found = _disagreement_or_404(seen.assessment, text_of(asked, "topic"), text_of(asked, "docno"))
    kind = kind_of_judging(seen.assessment)
    item = None
    if kind.is_of_answers:
        item = kind.read(seen.assessment.pool, found.topic, [found.docno], {})[found.docno]
    document = find_documents(seen.assessment.track.collection, [found.docno]).get(found.docno)
    settled = seen.assessment.settlements.filter(topic=found.topic, docno=found.docno)
    context = {
        **seen.context,
        "found": found,
        "item": item,
        "document": document,
        "passages": mark_passages(document.text, found.given) if document else [],
        "scale": seen.assessment.guideline.scale,
        "settled": settled.select_related("settled_by").first(),
        "num_left": len(find_disputes(seen.assessment)),
    }
    return render(request, "judging/disagreement.html", context)


def _disagreement_or_404(assessment: Assessment, number: str, docno: str) -> Disagreement:
    topic = get_object_or_404(assessment.track.collection.topics, number=number)
    found = find_disagreement(assessment, topic, docno)
    if found is None:
        raise Http404("no disagreement on this document")
    return found


def _settle(request: HttpRequest, seen: OrganisedAssessment) -> HttpResponse:
    """Write the grade of a document and go on to the next one."""
    sent = request.POST
    found = _disagreement_or_404(seen.assessment, text_of(sent, "topic"), text_of(sent, "docno"))
    try:
        actions.settle_document(
            seen.assessment,
            request.user,
            found.topic,
            found.docno,
            read_whole_number(sent.get("grade", "")),
            text_of(sent, "note")[:500],
        )
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect(_address(seen.assessment, found.topic, found.docno))
    left = next_dispute(seen.assessment)
    if left is None:
        messages.success(request, "Every disagreement is settled.")
        return redirect(
            "disagreements", address=seen.sight.track.address, name=seen.assessment.name
        )
    return redirect(_address(seen.assessment, Topic.objects.get(pk=left.topic), left.docno))


def _address(assessment: Assessment, topic: Topic, docno: str) -> str:
    return reverse(
        "disagreements",
        args=[assessment.track.address, assessment.name],
        query={"topic": topic.number, "docno": docno},
    )


@login_required
@require_GET
def assessment_marks(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """List the marks that the address asks for: those behind a flag or a cell of the table."""
    seen = organised_assessment_or_404(request, address, name)
    if not seen.shows_marks:
        return render(request, "judging/marks.html", seen.context)
    asked = seen.assessment.assessors.filter(name=text_of(request.GET, "assessor")).first()
    other = seen.assessment.assessors.filter(name=text_of(request.GET, "with")).first()
    marks = _select_marks(request, seen.assessment, asked, other)
    page = Paginator(marks, MARKS_PER_PAGE).get_page(page_number(request))
    context = {
        **seen.context,
        "assessor": asked,
        "heading": _describe_whose(asked, other),
        "other": other,
        "page": page,
        "lines": _describe_marks(seen.assessment, list(page), other),
        "scale": seen.assessment.guideline.scale,
    }
    return render(request, "judging/marks.html", context)


def _describe_whose(asked: Assessor | None, other: Assessor | None) -> str:
    of = f" of {asked.name}" if asked is not None else ""
    return f"Marks{of}, beside those of {other.name}" if other is not None else f"Marks{of}"


def _select_marks(
    request: HttpRequest, assessment: Assessment, asked: Assessor | None, other: Assessor | None
) -> QuerySet[Mark]:
    """Return the marks that stand, of one assessor, one topic, one row or two people."""
    query = request.GET
    marks = (
        Mark.objects.of(assessment)
        .standing()
        .select_related("assessor", "document__assignment__topic")
    )
    if asked is not None:
        marks = marks.filter(assessor=asked)
    if topic := text_of(query, "topic"):
        marks = marks.filter(document__assignment__topic__number=topic)
    first, last = (read_whole_number(query.get(name, "")) for name in ("first", "last"))
    if first is not None and last is not None:
        marks = marks.filter(pk__range=(first, last), kind=Mark.Kind.GRADE)
    below = read_whole_number(query.get("below", ""))
    if below is not None:
        marks = marks.filter(seconds__lt=below)
    if other is not None:
        same = Mark.objects.standing().filter(
            assessor=other,
            kind=Mark.Kind.GRADE,
            document__docno=OuterRef("document__docno"),
            document__assignment__topic=OuterRef("document__assignment__topic"),
        )
        marks = marks.filter(Exists(same))
    if query.get("own") and asked is not None:
        team = find_team(asked)
        tops = find_tops(assessment, team) if team is not None else set()
        marks = marks.filter(_is_among(tops))
    return marks.order_by("pk")


def _is_among(documents: Iterable[tuple[int, str]]) -> Q:
    """Return the condition that a mark is about one of these documents of topics."""
    docnos: dict[int, list[str]] = defaultdict(list)
    for topic, docno in documents:
        docnos[topic].append(docno)
    found = Q(pk__in=[])
    for topic, own in docnos.items():
        found |= Q(document__assignment__topic=topic, document__docno__in=own)
    return found


def _describe_marks(
    assessment: Assessment, marks: list[Mark], other: Assessor | None
) -> list[tuple[Mark, str, int | None]]:
    """Return marks with the title of their document and the grade of another assessor."""
    named = [(mark.document.assignment.topic, mark.document.docno) for mark in marks]
    titles = title_items(assessment.pool, named)
    grades = _grades_of(other, marks) if other is not None else {}
    return [
        (
            mark,
            titles[mark.document.assignment.topic_id, mark.document.docno],
            grades.get((mark.document.assignment.topic_id, mark.document.docno)),
        )
        for mark in marks
    ]


def _grades_of(assessor: Assessor, marks: list[Mark]) -> dict[tuple[int, str], Any]:
    own = Mark.objects.standing().filter(
        assessor=assessor, document__docno__in={mark.document.docno for mark in marks}
    )
    columns = ("document__assignment__topic", "document__docno", "grade")
    return {(topic, docno): grade for topic, docno, grade in own.values_list(*columns)}
