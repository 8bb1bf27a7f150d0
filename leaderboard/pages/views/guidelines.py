"""The guideline of an assessment, its versions and its practice documents, for organisers."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions import assessments as actions
from leaderboard.assessments.guidelines import list_changes
from leaderboard.pages.forms.assessments import GuidelineForm, PracticeForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import OrganisedAssessment, organised_assessment_or_404
from leaderboard.pages.views.repeated_forms import submit_once


@login_required
@require_http_methods(["GET", "POST"])
@submit_once
def guideline(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Show the guideline with what changed; a POST writes a new version."""
    seen = organised_assessment_or_404(request, address, name)
    form = _guideline_form(request, seen)
    looks = request.POST.get("act") == "look"
    if form.is_valid() and not looks:
        with rejections_on(form):
            text = form.cleaned_data["text"]
            made = actions.write_guideline(seen.assessment, request.user, text, form.scale)
            messages.success(request, f"Version {made.number} is shown to assessors from now on.")
            return redirect("guideline", address=address, name=name)
    status = 422 if form.is_bound and not looks else 200
    return _render(request, seen, form, PracticeForm(assessment=seen.assessment), status)


@login_required
@require_POST
@submit_once
def add_practice(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Add a document on which assessors practise."""
    seen = organised_assessment_or_404(request, address, name)
    form = PracticeForm(request.POST, assessment=seen.assessment)
    if form.is_valid():
        actions.add_practice_document(seen.assessment, request.user, **form.cleaned_data)
        return redirect("guideline", address=address, name=name)
    return _render(request, seen, _guideline_form(request, seen, is_sent=False), form, 422)


@login_required
@require_POST
def remove_practice(
    request: HttpRequest, address: str, name: str, practice_id: int
) -> HttpResponse:
    seen = organised_assessment_or_404(request, address, name)
    practice = get_object_or_404(seen.assessment.practice_documents, pk=practice_id)
    actions.remove_practice_document(practice, request.user)
    return redirect("guideline", address=address, name=name)


def _guideline_form(
    request: HttpRequest, seen: OrganisedAssessment, is_sent: bool = True
) -> GuidelineForm:
    """Return the form filled with the current version."""
    current = seen.assessment.guideline
    return GuidelineForm(
        request.POST if is_sent and request.method == "POST" else None,
        scale=current.scale,
        text=current.text,
        keeps_grades=seen.assessment.has_marks,
    )


def _render(
    request: HttpRequest,
    seen: OrganisedAssessment,
    form: GuidelineForm,
    practice_form: PracticeForm,
    status: int,
) -> HttpResponse:
    practice = seen.assessment.practice_documents.select_related("topic")
    context = {
        **seen.context,
        "guideline": seen.assessment.guideline,
        "changes": list_changes(seen.assessment),
        "form": form,
        "practice": shorten(request, "practice", "document", practice),
        "practice_form": practice_form,
    }
    return render(request, "judging/guideline.html", context, status=status)
