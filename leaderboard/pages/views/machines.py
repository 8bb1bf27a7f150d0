"""Judgments by machines: the import of answers, and the card of a version."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from evaluation.problems import Refused
from leaderboard.actions.machine_judgments import import_machine_answers
from leaderboard.assessments.judgments import next_version_name
from leaderboard.boards.disclosure import visible_judgment_sets
from leaderboard.boards.receipts import ProblemGroup, group_problems
from leaderboard.collections.checking import problems_as_json
from leaderboard.collections.machine_answers import highest_known_grade
from leaderboard.models import Collection, MachineCard
from leaderboard.pages import wording
from leaderboard.pages.forms.machines import MachineAnswersForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.views.lookups import organised_collection_or_404


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
                    made = import_machine_answers(
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
    return render(request, "machine_import.html", context, status=422 if form.is_bound else 200)


def _initial_values(collection: Collection) -> dict[str, object]:
    return {
        "version": next_version_name(collection),
        "highest_grade": highest_known_grade(collection),
    }


@require_GET
def machine_card(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Show the machine that judged a version, with its prompt, to all who see the version."""
    found = get_object_or_404(Collection.objects.visible_to(request.user), slug=slug)
    seen = visible_judgment_sets(request.user, found)
    cards = MachineCard.objects.select_related("judgment_set__collection")
    card = get_object_or_404(cards.filter(judgment_set__in=seen), judgment_set__version=version)
    return render(request, "machine_card.html", {"collection": found, "card": card})
