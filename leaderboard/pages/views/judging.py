"""The pages of an assessor: what there is to judge, practice, one document, and the end."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from pydantic import Field, TypeAdapter, ValidationError

from leaderboard.actions.assessments import (
    accept_judging,
    begin_topic,
    finish_topic,
    keep_notes,
)
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.kinds import JudgingKind, kind_of_judging, read_items
from leaderboard.assessments.marking import MarkError, SentMark, record_mark
from leaderboard.assessments.own_progress import (
    PAUSE_AFTER,
    find_last_mark,
    measure_pace,
    measure_seconds,
    own_progress,
)
from leaderboard.assessments.practice import Practised, list_practice
from leaderboard.assessments.queues import (
    Handed,
    TopicProgress,
    lease_documents,
    measure_all_progress,
    measure_progress,
)
from leaderboard.assessments.topic_ends import find_topic_end
from leaderboard.display.numbers import describe_duration
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Assessment, AssignedDocument, Assignment, Invitation, Mark
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import text_of
from leaderboard.pages.views.tables import csv_file

# How many of the last grades the page shows.
LAST_SHOWN = 5
# How many marks a browser may send at once, and documents it may hold.
MOST_SENT = 500


@dataclass(frozen=True)
class Line:
    """A topic to judge, and how far it is."""

    assignment: Assignment
    progress: TopicProgress

    @property
    def kind(self) -> JudgingKind:
        return kind_of_judging(self.assignment.assessor.assessment)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it can be judged any more."""
        is_closed = self.assignment.assessor.assessment.state == Assessment.State.CLOSED
        return is_closed or self.assignment.finished_at is not None

    @property
    def is_begun(self) -> bool:
        """Whether the assessor stopped in the middle of it and can go on."""
        is_open = self.assignment.assessor.assessment.state == Assessment.State.OPEN
        return is_open and self.progress.done > 0 and bool(self.progress.left)


@login_required
@require_GET
def my_judging(request: HttpRequest) -> HttpResponse:
    """Show the topic where the user stopped, what comes next, and what is finished."""
    assignments = (
        Assignment.objects.of_user(request.user)
        .select_related(
            *("topic", "assessor__assessment__track__collection", "assessor__assessment__pool")
        )
        .order_by("assessor__assessment__track__name", "topic__position")
    )
    progress = measure_all_progress(assignments)
    lines = [Line(assignment, progress[assignment.pk]) for assignment in assignments]
    waiting = Assessment.objects.judged_by(request.user).filter(state=Assessment.State.DRAFT)
    to_do = [line for line in lines if not line.is_over]
    current = next((line for line in to_do if line.is_begun), None)
    dates = [line.assignment.assessor.assessment.due_on for line in to_do]
    following = [line for line in to_do if line is not current]
    seconds, left = measure_seconds(request.user), sum(line.progress.left for line in to_do)
    finished = [line for line in lines if line.is_over]
    context = {
        "lines": lines,
        "done": sum(line.progress.done for line in lines),
        "documents": sum(line.progress.all for line in lines),
        "due_on": min(filter(None, dates), default=None),
        "current": current,
        "next": shorten(request, "next", "topic", following),
        "finished": finished,
        "num_finished": sum(line.progress.done for line in finished),
        "time_left": describe_duration(left * seconds) if left and seconds else "",
        "last_mark": find_last_mark(current.assignment) if current else None,
        "waiting": waiting,
    }
    return render(request, "judging/mine.html", context)


@login_required
@require_GET
def judging_progress(request: HttpRequest) -> HttpResponse:
    """Return the assessor's own documents and hours as a CSV file."""
    return csv_file("judging", *own_progress(request.user))


@require_http_methods(["GET", "POST"])
def join_judging(request: HttpRequest, code: str) -> HttpResponse:
    """Become an assessor by an invitation; without an account, read what it is for."""
    invitation = Invitation.objects.to_judge().filter(code=code).first()
    known = {"pk": invitation.assessment_id} if invitation is not None else {"invitation": code}
    assessment = get_object_or_404(Assessment.objects.select_related("track", "pool"), **known)
    is_used = invitation is not None and not invitation.is_usable
    is_over, kind = assessment.state == Assessment.State.CLOSED, kind_of_judging(assessment)
    is_over = is_over or is_used
    if invitation is not None and invitation.is_accepted_by(request.user):
        return redirect("my_judging")
    if is_over or (request.method == "GET" and not request.user.is_authenticated):
        context = {
            "assessment": assessment,
            "track": assessment.track,
            "kind": kind,
            "is_over": is_over,
            "is_used": is_used,
            "hosts": [invitation.invited_by] if invitation is not None else None,
        }
        return render(request, "judging/invitation.html", context, status=410 if is_over else 200)
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    if request.method == "POST":
        try:
            accept_judging(assessment, request.user, code)
            return redirect("my_judging")
        except ActionError as reason:
            messages.error(request, str(reason))
    context = {"assessment": assessment, "guideline": assessment.guideline, "kind": kind}
    return render(request, "judging/join.html", context)


def assignment_or_404(request: HttpRequest, assignment_id: int) -> Assignment:
    """Return an assignment of the user; raise 404 for anybody else's.

    Every mark comes by here and needs no track, whose many columns took a quarter of its time.
    """
    own = Assignment.objects.of_user(request.user)
    read = own.select_related("topic__collection", "assessor__assessment__pool")
    return get_object_or_404(read, pk=assignment_id)


@login_required
@require_http_methods(["GET", "POST"])
def before_topic(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """Show the guideline and the practice; a POST grades a practice document or starts."""
    assignment = assignment_or_404(request, assignment_id)
    if "start" in request.POST:
        begin_topic(assignment)
        return redirect("judge", assignment_id=assignment.pk)
    practice = list_practice(assignment)
    given = _practise(request, assignment, len(practice))
    if request.method == "POST":
        return redirect("before_topic", assignment_id=assignment.pk)
    done = [Practised(one, grade) for one, grade in zip(practice, given, strict=False)]
    context = {
        "assignment": assignment,
        "kind": kind_of_judging(assignment.assessor.assessment),
        "guideline": assignment.assessor.assessment.guideline,
        "pace": measure_pace(assignment.assessor),
        "practice": practice,
        "practised": done,
        "agreed": sum(one.agrees for one in done),
        "current": practice[len(done)] if len(done) < len(practice) else None,
    }
    return render(request, "judging/before.html", context)


def _practise(request: HttpRequest, assignment: Assignment, most: int) -> list[int]:
    """Return the grades given in practice, with the one that was just sent.

    They are kept in the session of the browser alone, because practice never counts.
    """
    name = f"practice {assignment.pk}"
    grades = [grade.grade for grade in assignment.assessor.assessment.guideline.scale]
    given: list[int] = request.session.get(name, [])
    if "again" in request.POST:
        given = []
    elif request.POST.get("grade") in map(str, grades):
        given = [*given, int(request.POST["grade"])][:most]
    if request.method == "POST":
        request.session[name] = given
    return given


@login_required
@require_GET
def judge(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """Show the next document of a topic, or with `?document=` one that was judged."""
    assignment = assignment_or_404(request, assignment_id)
    assessment = assignment.assessor.assessment
    if assignment.read_guideline != assessment.guideline and assessment.accepts_marks:
        return redirect("before_topic", assignment_id=assignment.pk)
    tab = text_of(request.GET, "tab")[:32]
    if not tab:
        asked = request.GET.copy()
        asked["tab"] = secrets.token_hex(8)
        return redirect(f"{request.path}?{asked.urlencode()}")
    draw_documents(assignment)
    document = _requested_document(request, assignment, tab)
    if document is None:
        return redirect("topic_end", assignment_id=assignment.pk)
    context = _judging_context(assignment, document) | {"tab": tab}
    return render(request, "judging/judge.html", context)


def _requested_document(
    request: HttpRequest, assignment: Assignment, tab: str
) -> AssignedDocument | None:
    asked = request.GET.get("document", "")
    if asked:
        return get_object_or_404(assignment.documents, pk=read_whole_number(asked))
    if not assignment.accepts_marks:
        return None
    return next(iter(lease_documents(assignment, tab, most=1).documents), None)


def _judging_context(assignment: Assignment, document: AssignedDocument) -> dict[str, Any]:
    assessment = assignment.assessor.assessment
    kind = kind_of_judging(assessment)
    item = read_items(assignment, [document])[document.pk]
    return {
        "assignment": assignment,
        "kind": kind,
        "item": item,
        "assessment": assessment,
        "guideline": assessment.guideline,
        "document": document,
        "text": item.text,
        "mark": document.mark,
        "key": secrets.token_hex(16),
        "reasons": kind.reasons,
        "last": _last_marks(assignment),
        "progress": measure_progress(assignment),
        "pace": measure_pace(assignment.assessor),
        "pause_after": PAUSE_AFTER,
    }


def _last_marks(assignment: Assignment) -> list[Mark]:
    """Return the last marks that stand, the latest first."""
    marks = Mark.objects.standing().filter(document__assignment=assignment)
    return list(marks.order_by("-pk")[:LAST_SHOWN])


@dataclass(frozen=True)
class Batch:
    """Marks that a browser sends together, and the documents that it has already."""

    tab: Annotated[str, Field(min_length=1, max_length=32, pattern="^[0-9a-z]+$")]
    marks: Annotated[list[SentMark], Field(max_length=MOST_SENT)]
    have: Annotated[list[Annotated[int, Field(ge=0, lt=2**63)]], Field(max_length=MOST_SENT)]


BATCH = TypeAdapter(Batch)


@login_required
@require_POST
def marks(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """Take marks: one from a form, or several from the page's script, which gets the next."""
    assignment = assignment_or_404(request, assignment_id)
    if request.content_type == "application/json":
        return _take_batch(request, assignment)
    tab = text_of(request.POST, "tab")[:32]
    try:
        record_mark(assignment, _read_form(request))
    except MarkError as reason:
        messages.error(request, str(reason))
    return redirect(f"{reverse('judge', args=[assignment.pk])}?tab={tab}")


def _read_form(request: HttpRequest) -> SentMark:
    sent = request.POST
    reason = sent.get("reason", "")
    kind = sent.get("kind", "") or ("cannot" if reason else "grade")
    return SentMark(
        document=read_whole_number(sent.get("document", "")) or 0,
        kind=kind,
        grade=read_whole_number(sent.get("grade", "")) if kind == "grade" else None,
        reason=reason if kind == "cannot" else "",
        rationale=sent.get("rationale", "").strip()[:2000],
        key=sent.get("key", "")[:40],
        replaces=sent.get("replaces", "")[:40],
    )


def _take_batch(request: HttpRequest, assignment: Assignment) -> JsonResponse:
    """Record the marks of a batch in their order; answer with results and the next documents."""
    try:
        sent = BATCH.validate_json(request.body)
    except ValidationError:
        return JsonResponse({"code": "E_FIELD", "message": "The marks cannot be read."}, status=422)
    results = [_take(assignment, mark) for mark in sent.marks]
    draw_documents(assignment)
    accepts = assignment.accepts_marks
    handed = lease_documents(assignment, sent.tab, sent.have) if accepts else Handed([], True)
    progress, pace = measure_progress(assignment), measure_pace(assignment.assessor)
    return JsonResponse(
        {
            "results": results,
            "next": _render_documents(assignment, handed.documents, sent.tab),
            "is_all": handed.is_all,
            "progress": {"done": progress.done, "all": progress.all, "later": progress.later},
            "pace": {"minutes": pace.minutes, "seconds": pace.seconds},
        }
    )


def _take(assignment: Assignment, mark: SentMark) -> dict[str, Any]:
    try:
        record_mark(assignment, mark)
    except MarkError as reason:
        return {"key": mark.key, "code": reason.code, "message": str(reason)}
    return {"key": mark.key, "code": ""}


def _render_documents(
    assignment: Assignment, documents: list[AssignedDocument], tab: str
) -> list[dict[str, Any]]:
    """Return documents as the page's script shows them; `asked` is what stands beside a text."""
    kind = kind_of_judging(assignment.assessor.assessment)
    items = read_items(assignment, documents)
    scale = assignment.assessor.assessment.guideline.scale
    context = {"assignment": assignment, "kind": kind, "scale": scale, "tab": tab}
    return [
        {
            "document": document.pk,
            "html": render_to_string("judging/_judged_text.html", {**context, "text": item.text}),
            "asked": render_to_string("judging/_asked.html", {**context, "item": item}),
            "hits": item.text.hits,
        }
        for document in documents
        for item in [items[document.pk]]
    ]


@login_required
@require_POST
def topic_notes(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """Keep the assessor's own notes on a topic."""
    assignment = assignment_or_404(request, assignment_id)
    keep_notes(assignment, text_of(request.POST, "notes"))
    if request.headers.get("X-Requested-With") == "judge":
        return HttpResponse(status=204)
    return redirect("judge", assignment_id=assignment.pk)


@login_required
@require_http_methods(["GET", "POST"])
def topic_end(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """Show what the assessor gave, and what to look at again; a POST finishes the topic."""
    assignment = assignment_or_404(request, assignment_id)
    if request.method == "POST":
        try:
            finish_topic(assignment)
            messages.success(request, f"Topic {assignment.topic} is finished.")
            return redirect("my_judging")
        except ActionError as reason:
            messages.error(request, str(reason))
    draw_documents(assignment)
    context = {
        "assignment": assignment,
        "kind": kind_of_judging(assignment.assessor.assessment),
        "assessment": assignment.assessor.assessment,
        "progress": measure_progress(assignment),
        "pace": measure_pace(assignment.assessor),
        "end": find_topic_end(assignment),
    }
    return render(request, "judging/end.html", context)
