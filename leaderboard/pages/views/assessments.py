"""Judging a pool on the site, for organisers: plan, desk, assessors, settings and the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from leaderboard.actions import assessments as actions
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments.designs import price_designs
from leaderboard.assessments.disagreements import load_disagreements
from leaderboard.assessments.distribution import missing_opinions
from leaderboard.assessments.flags import find_flags
from leaderboard.assessments.guidelines import propose_scale
from leaderboard.assessments.judgments import next_layer_name, next_version_name
from leaderboard.assessments.kinds import kind_of_judging, kind_of_pool
from leaderboard.assessments.progress import (
    Progress,
    TopicOfAssessors,
    measure_assessment,
    measure_share,
)
from leaderboard.assessments.provenance import count_judges
from leaderboard.assessments.random_parts import find_random_parts
from leaderboard.assessments.rounds import find_stop_proposals, plan_second_round
from leaderboard.assessments.workload import measure_workload
from leaderboard.display.numbers import counted
from leaderboard.models import Assessment, Assessor, Assignment, MarkLayer, Pool
from leaderboard.models.collections import ImportedVersion, ImportState
from leaderboard.pages import wording
from leaderboard.pages.forms.assessments import (
    AssessmentForm,
    AssessmentPlanForm,
    CloseForm,
    GuidelineForm,
)
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import (
    OrganisedAssessment,
    organised_assessment_or_404,
    organised_sight_or_403,
    text_of,
)
from leaderboard.pages.views.repeated_forms import submit_once
from leaderboard.pages.views.tables import csv_file, wants_csv

DISAGREEMENTS_SHOWN = 3
# What an organiser asks for, and the message that follows.
MOVES: dict[str, tuple[Callable[..., Any], str]] = {
    "open": (actions.open_assessment, "The judging is open. Assessors were notified."),
    "pause": (actions.pause_assessment, "Paused. No one can judge until you resume."),
    "resume": (actions.resume_assessment, "The judging goes on."),
}


@login_required
@require_http_methods(["GET", "POST"])
@submit_once
def plan_assessment(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Ask how a pool is judged, and show the price of the answers so far."""
    sight = organised_sight_or_403(request, address)
    pool = get_object_or_404(sight.track.pools.filter(state=Pool.State.KEPT), name=name)
    pool.track = sight.track
    planned = Assessment(track=sight.track, pool=pool)
    form = AssessmentPlanForm(request.POST or None, instance=planned)
    kind = kind_of_pool(pool)
    words: dict[str, Any] = {"scale": propose_scale(sight.track)}
    if kind.is_of_answers:
        words = {"scale": kind.scale, "text": kind.text, "keeps_grades": True}
    guideline = GuidelineForm(request.POST or None, **words)
    looks = request.POST.get("act") == "look"
    is_valid = form.is_valid()
    if is_valid and guideline.is_valid() and not looks:
        with rejections_on(form):
            said = guideline.cleaned_data["text"], guideline.scale
            made = actions.plan_assessment(form.instance, request.user, *said)
            return redirect("assessors", address=address, name=made.name)
    context = {
        "sight": sight,
        "track": sight.track,
        "pool": pool,
        "kind": kind,
        "form": form,
        "guideline": guideline,
        "designs": price_designs(planned, form.sizes),
        "workload": measure_workload(planned) if is_valid or not form.is_bound else None,
        "earlier": pool.assessments.unfinished().first(),
    }
    is_wrong = form.is_bound and not looks
    return render(request, "judging/plan.html", context, status=422 if is_wrong else 200)


@login_required
@require_GET
def assessments(request: HttpRequest, address: str) -> HttpResponse:
    """List the assessments of a track, and the approved pools without one."""
    sight = organised_sight_or_403(request, address)
    made = sight.track.assessments.select_related("pool__judged_in", "version")
    listed = shorten(request, "assessments", "assessment", made.order_by("-created_at"))
    shares = [(each, wording.describe_share(measure_share(each))) for each in listed.rows]
    context = {
        "sight": sight,
        "track": sight.track,
        "assessments": listed.with_rows(shares),
        "pools": sight.track.pools.awaiting_judgments().filter(assessments=None),
    }
    return render(request, "judging/assessments.html", context)


@login_required
@require_GET
def assessment(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Show how far the judging is, what is unusual, and what is left to decide."""
    seen = organised_assessment_or_404(request, address, name)
    progress = measure_assessment(seen.assessment)
    if wants_csv(request):
        if not seen.shows_marks:
            raise PermissionDenied
        return _progress_csv(seen.sight.track.slug, name, progress)
    first = progress.disputes[:DISAGREEMENTS_SHOWN] if seen.shows_marks else []
    flags = find_flags(seen.assessment) if seen.shows_marks else []
    made = seen.assessment.made
    context = {
        **seen.context,
        "progress": progress,
        "verdict": wording.describe_progress(seen.assessment, progress),
        "topics": shorten(request, "topics", "topic", progress.topics),
        "flags": wording.describe_flags(flags),
        "fast": {flag.assessor.pk for flag in flags if flag.kind == "fast"},
        "disagreements": load_disagreements(seen.assessment, first),
        "proposals": find_stop_proposals(seen.assessment) if seen.shows_marks else [],
        "random_parts": find_random_parts(seen.assessment) if seen.shows_marks else [],
        "second_round": plan_second_round(seen.assessment) if seen.shows_marks else None,
        "next_version": _next_name(seen),
        "versions": [(each, _impact_of(seen, each)) for each in made],
        "is_importing": made.exclude(
            state__in=[ImportState.READY, ImportState.REFUSED, ImportState.FAILED]
        ).exists(),
        "address": request.get_full_path(),
    }
    return render(request, "judging/progress.html", context)


def _next_name(seen: OrganisedAssessment) -> str:
    """Return the name of what closing makes, unless the organiser chooses another."""
    if kind_of_judging(seen.assessment).is_of_answers:
        return next_layer_name(seen.sight.track)
    return next_version_name(seen.sight.track.collection)


def _impact_of(seen: OrganisedAssessment, made: ImportedVersion) -> str:
    """Return the address of what a version or a layer changes on the board."""
    page = "layer_impact" if isinstance(made, MarkLayer) else "impact"
    return reverse(page, args=[seen.sight.track.address, made.version])


def _progress_csv(slug: str, name: str, progress: Progress) -> HttpResponse:
    head = ["topic", "assessor", "opinion", "judged", "later", "documents", "relevant", "to settle"]
    lines = [cells for line in progress.topics for cells in _csv_lines(line, progress)]
    return csv_file(f"{slug}-{name}", head, lines)


def _csv_lines(line: TopicOfAssessors, progress: Progress) -> list[list[Any]]:
    return [
        [
            *(line.topic.number, column.assessor.name, cell.turn, cell.done, cell.later, cell.all),
            *(line.opinions.relevant_share, line.to_settle),
        ]
        for column, cell in zip(progress.assessors, line.cells, strict=True)
        if cell is not None
    ]


@login_required
@require_POST
def move_assessment(request: HttpRequest, address: str, name: str, act: str) -> HttpResponse:
    """Open, pause or resume the judging."""
    found = organised_assessment_or_404(request, address, name).assessment
    move, done = MOVES[act]
    try:
        move(found, request.user)
        messages.success(request, done)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("assessors", address=address, name=name)
    return redirect("assessment", address=address, name=name)


@login_required
@require_http_methods(["GET", "POST"])
def assessors(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """List who judges what; a POST shares out what no one has yet."""
    seen = organised_assessment_or_404(request, address, name)
    if request.method == "POST":
        try:
            given = actions.share_out(seen.assessment, request.user)
            messages.success(request, wording.describe_shared_out(given))
        except ActionError as reason:
            messages.error(request, str(reason))
        return redirect("assessors", address=address, name=name)
    progress = measure_assessment(seen.assessment)
    own = Assignment.objects.filter(assessor__assessment=seen.assessment)
    listed = own.select_related("topic", "assessor").order_by("topic__position", "turn", "pk")
    done = {cell.assignment: cell for line in progress.topics for cell in line.cells if cell}
    shown = shorten(request, "assignments", "assignment", listed)
    active = list(seen.assessment.assessors.active())
    busy = set(own.values_list("topic", "assessor"))
    missing = missing_opinions(seen.assessment)
    is_judged = seen.assessment.state in (Assessment.State.OPEN, Assessment.State.PAUSED)
    invitation = reverse("join_judging", args=[seen.assessment.invitation])
    context = {
        **seen.context,
        "progress": progress,
        "columns": shorten(request, "people", "assessor", progress.assessors),
        "assignments": shown.with_rows(
            [
                (
                    each,
                    done.get(each.pk),
                    [free for free in active if (each.topic_id, free.pk) not in busy],
                )
                for each in shown.rows
            ]
        ),
        "active": active,
        "missing": missing,
        "can_share_out": is_judged and bool(missing and active),
        "link": request.build_absolute_uri(invitation),
    }
    return render(request, "judging/assessors.html", context)


@login_required
@require_POST
def reassign(request: HttpRequest, address: str, name: str, assignment_id: int) -> HttpResponse:
    """Let another assessor judge what is left of a topic."""
    found = organised_assessment_or_404(request, address, name).assessment
    own = Assignment.objects.filter(assessor__assessment=found)
    assignment = get_object_or_404(own.select_related("assessor__assessment"), pk=assignment_id)
    to = found.assessors.active().filter(name=text_of(request.POST, "to")).first()
    try:
        actions.reassign(assignment, request.user, _chosen(to))
        messages.success(request, f"Topic {assignment.topic.number} is now with {to}.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("assessors", address=address, name=name)


def _chosen(assessor: Assessor | None) -> Assessor:
    if assessor is None:
        raise ActionError("Choose an assessor of this assessment.")
    return assessor


@login_required
@require_POST
def end_topic(request: HttpRequest, address: str, name: str, assignment_id: int) -> HttpResponse:
    """Finish a topic early, where an order that learns finds nothing more."""
    found = organised_assessment_or_404(request, address, name).assessment
    own = Assignment.objects.filter(assessor__assessment=found, turn=1)
    assignment = get_object_or_404(own.select_related("assessor__assessment"), pk=assignment_id)
    try:
        actions.end_topic(assignment, request.user)
        messages.success(request, f"Topic {assignment.topic.number} is finished.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("assessment", address=address, name=name)


@login_required
@require_POST
def second_round(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Give the rest of the budget to topics that still have relevant documents."""
    found = organised_assessment_or_404(request, address, name).assessment
    try:
        given = actions.start_second_round(found, request.user)
        messages.success(request, f"{counted(given, 'document')} given to topics.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("assessment", address=address, name=name)


@login_required
@require_POST
def remove_assessor(
    request: HttpRequest, address: str, name: str, assessor_id: int
) -> HttpResponse:
    """Remove an assessor; the marks stay."""
    found = organised_assessment_or_404(request, address, name).assessment
    assessor = get_object_or_404(found.assessors, pk=assessor_id)
    try:
        actions.remove_assessor(assessor, request.user)
        messages.success(request, f"{assessor} was removed. The marks stay.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("assessors", address=address, name=name)


@login_required
@require_http_methods(["GET", "POST"])
def assessment_settings(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Change how a pool is judged; a draft can be discarded."""
    seen = organised_assessment_or_404(request, address, name)
    form = AssessmentForm(request.POST or None, instance=seen.assessment)
    if request.POST.get("act") == "discard":
        return _discard(request, address, seen.assessment)
    if form.is_valid():
        stored = Assessment.objects.get(pk=seen.assessment.pk)
        try:
            actions.change_assessment(stored, request.user, form.cleaned_data)
            messages.success(request, "Settings saved.")
        except ActionError as reason:
            messages.error(request, str(reason))
        return redirect("assessment_settings", address=address, name=name)
    context = {
        **seen.context,
        "form": form,
        "workload": measure_workload(seen.assessment) if not form.is_bound else None,
    }
    status = 422 if form.is_bound else 200
    return render(request, "judging/settings.html", context, status=status)


def _discard(request: HttpRequest, address: str, found: Assessment) -> HttpResponse:
    try:
        actions.discard_assessment(found, request.user)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("assessment_settings", address=address, name=found.name)
    return redirect("pool", address=address, name=found.pool.name)


@login_required
@require_http_methods(["GET", "POST"])
@submit_once
def close_assessment(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Ask once whether the judging is closed, and what its version is called."""
    seen = organised_assessment_or_404(request, address, name)
    initial = {"version": _next_name(seen)}
    form = CloseForm(request.POST or None, initial=initial)
    if form.is_valid():
        with rejections_on(form):
            actions.close_assessment(seen.assessment, request.user, **form.cleaned_data)
            messages.success(request, "The judging is closed. The version is being imported.")
            return redirect("assessment", address=address, name=name)
    context = {
        **seen.context,
        "form": form,
        "progress": measure_assessment(seen.assessment),
        "judges": count_judges(seen.assessment),
    }
    status = 422 if form.is_bound else 200
    return render(request, "judging/close.html", context, status=status)


@login_required
@require_POST
def try_assessment(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Make a version of what is judged so far, which organisers can try on the board."""
    seen = organised_assessment_or_404(request, address, name)
    if not seen.shows_marks:
        raise PermissionDenied
    version = _next_name(seen)
    try:
        actions.make_trial_version(seen.assessment, request.user, version)
        messages.success(request, f"{version} is being imported. Then you can try it on the board.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("assessment", address=address, name=name)
