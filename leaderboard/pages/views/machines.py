"""Judgments by machines: files to prompt with, import of answers, cards, filled judgments."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from evaluation.problems import Refused
from leaderboard.actions import machine_judgments
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments.judgments import next_version_name
from leaderboard.boards.receipts import ProblemGroup, group_problems
from leaderboard.collections.checking import problems_as_json
from leaderboard.collections.machine_answers import find_filling, highest_known_grade
from leaderboard.collections.prompting import (
    render_assessment_prompts,
    render_pool_prompts,
    render_version_prompts,
)
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.models import Collection, JudgmentSet, MachineCard, Pool
from leaderboard.models.collections import ImportState
from leaderboard.pages import wording
from leaderboard.pages.forms.machines import FillUnjudgedForm, MachineAnswersForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.views.lookups import (
    organised_assessment_or_404,
    organised_collection_or_404,
    organised_sight_or_403,
)
from leaderboard.sight.visible_rows import (
    is_judging,
    visible_judgment_sets,
    visible_versions_behind,
)


@login_required
@require_http_methods(["GET", "POST"])
def import_answers(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form for answers of a machine; a POST makes a version to confirm, or nothing."""
    found = organised_collection_or_404(request, slug)
    groups: list[ProblemGroup] = []
    if request.method == "POST":
        form = MachineAnswersForm(request.POST, request.FILES)
        if form.is_valid():
            try:
                with rejections_on(form):
                    made = machine_judgments.import_machine_answers(
                        found, request.user, card=form.card, **form.upload
                    )
                    messages.success(request, wording.describe_answers(made.card))
                    return redirect("collection", slug=slug)
            except Refused as refusal:
                problems = problems_as_json(refusal.problems)
                groups = group_problems(problems["problems"], problems["problem_totals"])
    else:
        form = MachineAnswersForm(initial=_initial_values(found))
    context = {"collection": found, "form": form, "groups": groups}
    return render(request, "machine/import.html", context, status=422 if form.is_bound else 200)


def _initial_values(collection: Collection) -> dict[str, object]:
    return {
        "version": next_version_name(collection),
        "highest_grade": highest_known_grade(collection),
    }


@require_GET
def machine_card(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Show the machine that judged a version, with its prompt, to all who see the version."""
    found = get_object_or_404(Collection.objects.visible_to(request.user), slug=slug)
    seen = visible_versions_behind(request.user, found)
    cards = MachineCard.objects.select_related("judgment_set__collection")
    card = get_object_or_404(cards.filter(judgment_set__in=seen), judgment_set__version=version)
    return render(request, "machine/card.html", {"collection": found, "card": card})


@login_required
@require_http_methods(["GET", "POST"])
def fill_unjudged(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what a machine's grades would add to people's; a POST makes the third version."""
    found = organised_collection_or_404(request, slug)
    if is_judging(request.user, found):
        raise PermissionDenied
    sent = request.POST if request.method == "POST" else request.GET
    form = FillUnjudgedForm(sent if "people" in sent else None, collection=found)
    context: dict[str, object] = {"collection": found, "form": form}
    if form.is_valid():
        people, machine = form.cleaned_data["people"], form.cleaned_data["machine"]
        if request.method == "POST":
            with rejections_on(form):
                version = form.cleaned_data["version"] or next_version_name(found)
                made = machine_judgments.fill_unjudged(people, machine, request.user, version)
                messages.success(request, f"Judgments {made} are being imported.")
                return redirect("collection", slug=slug)
        context |= _filling_context(found, people, machine)
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "judgments/fill_unjudged.html", context, status=status)


def _filling_context(
    collection: Collection, people: JudgmentSet, machine: JudgmentSet
) -> dict[str, object]:
    try:
        machine_judgments.refuse_unlike(people, machine)
    except ActionError as reason:
        return {"rejected": str(reason)}
    return {
        "people": people,
        "machine": machine,
        "filling": find_filling(people, machine),
        "version": next_version_name(collection),
    }


@login_required
@require_GET
def pool_prompts(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Download the documents of an approved pool, ready for prompting."""
    track = organised_sight_or_403(request, address).track
    found = get_object_or_404(track.pools.filter(state=Pool.State.KEPT), name=name)
    return _prompts_file(f"{track.slug}-{name}", render_pool_prompts(found))


@login_required
@require_GET
def assessment_prompts(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Download the documents of an assessment with its guideline, ready for prompting."""
    seen = organised_assessment_or_404(request, address, name)
    if not seen.shows_marks:
        raise PermissionDenied
    return _prompts_file(
        f"{seen.sight.track.slug}-{name}", render_assessment_prompts(seen.assessment)
    )


@login_required
@require_GET
def version_prompts(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Download the judged documents of a version without grades, ready for prompting."""
    found = organised_collection_or_404(request, slug)
    seen = visible_judgment_sets(request.user, found).filter(state=ImportState.READY)
    judgment_set = get_object_or_404(seen, version=version)
    return _prompts_file(f"{slug}-{version}", render_version_prompts(judgment_set))


def _prompts_file(name: str, lines: Iterator[bytes]) -> HttpResponseBase:
    return streamed_text(f"{name}-prompts.jsonl", lines, "application/jsonl")
