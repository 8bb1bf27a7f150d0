"""Files of marks: downloads of an assessment, and the import of marks made elsewhere."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from evaluation.problems import Refused
from leaderboard.actions.mark_import import import_marks
from leaderboard.assessments.mark_files import ExportFormat, render_marks
from leaderboard.boards.receipts import ProblemGroup, group_problems
from leaderboard.collections.checking import problems_as_json
from leaderboard.display.numbers import counted
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.pages.forms.assessments import MarksForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.views.lookups import organised_assessment_or_404

FORMATS: dict[str, ExportFormat] = {"jsonl": "jsonl", "qrels": "trec"}


@login_required
@require_GET
def marks_file(request: HttpRequest, address: str, name: str, kind: str) -> HttpResponse:
    """Download every mark as JSON Lines, or the grades that stand as qrels with assessors."""
    seen = organised_assessment_or_404(request, address, name)
    if kind not in FORMATS:
        raise Http404("no such kind of file")
    if not seen.shows_marks:
        raise PermissionDenied
    media_type = "application/jsonl" if kind == "jsonl" else "text/plain"
    lines = render_marks(seen.assessment, FORMATS[kind])
    return streamed_text(f"{seen.sight.track.slug}-{name}-marks.{kind}", lines, media_type)


@login_required
@require_http_methods(["GET", "POST"])
def import_mark_files(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Show the form for marks made elsewhere; a POST imports all of them or none."""
    seen = organised_assessment_or_404(request, address, name)
    form = MarksForm(request.POST or None, request.FILES or None)
    groups: list[ProblemGroup] = []
    if request.method == "POST" and form.is_valid():
        try:
            with rejections_on(form):
                done = import_marks(seen.assessment, request.user, **form.cleaned_data)
                people = counted(len(done.assessors), "assessor")
                marks = counted(done.num_marks, "mark")
                messages.success(request, f"{marks} of {people} imported.")
                return redirect("assessment_marks", address=address, name=name)
        except Refused as refusal:
            found = problems_as_json(refusal.problems)
            groups = group_problems(found["problems"], found["problem_totals"])
    context = {**seen.context, "form": form, "groups": groups}
    status = 422 if form.is_bound else 200
    return render(request, "judging/import.html", context, status=status)
