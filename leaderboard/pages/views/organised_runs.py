"""All runs of a track in one table, for its organisers: filter, sort, choose and act."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import runs as run_actions
from leaderboard.archives.appendices import name_folder
from leaderboard.archives.zip_files import ZipEntry, read_chunks
from leaderboard.boards.columns import available_columns
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.organised_runs import find_organised_runs
from leaderboard.display.numbers import counted
from leaderboard.models import Run
from leaderboard.pages.board_table import OrganisedTable
from leaderboard.pages.forms.runs import PriorityForm, WithdrawForm
from leaderboard.pages.views.downloads import zip_file
from leaderboard.pages.views.lookups import (
    organised_sight_or_403,
    requested_organised_choice,
    texts_of,
)
from leaderboard.pages.views.tables import csv_file, wants_csv

# The buttons beneath the table, with what is said once it is done.
ACTS = {
    "withdraw": ("Withdraw", "withdrawn"),
    "disqualify": ("Disqualify", "disqualified"),
    "hide": ("Hide", "hidden"),
    "restore": ("Restore", "restored"),
    "prioritise": ("Set priority", ""),
    "write": ("Write to their teams", ""),
    "download": ("Download", ""),
}
# What is asked before an act, besides a reason.
FORMS: dict[str, type[Form]] = {"prioritise": PriorityForm}


@login_required
@require_GET
def organised_runs(request: HttpRequest, address: str) -> HttpResponse:
    sight = organised_sight_or_403(request, address)
    found = find_organised_runs(sight, requested_organised_choice(request))
    if wants_csv(request):
        columns = available_columns(found)
        head = [field for column in columns for field in column.fields]
        lines = [[cell for each in columns for cell in each.cells(row)] for row in found.shown]
        return csv_file(f"{sight.track.slug}-runs", head, lines)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": found,
        "table": OrganisedTable(found, request.GET),
        "acts": [(name, title) for name, (title, _) in ACTS.items()],
    }
    return render(request, "run/organised_runs.html", context)


@login_required
@require_POST
def change_chosen_runs(request: HttpRequest, address: str) -> HttpResponseBase:
    """Do one act to the chosen runs; one that wants words asks for them first."""
    sight = organised_sight_or_403(request, address)
    chosen = list(sight.runs().filter(pk__in=texts_of(request.POST, "run")))
    act = request.POST.get("act", "")
    if not chosen or act not in ACTS:
        messages.error(request, "Choose at least one run.")
    elif act == "download":
        return zip_file(
            f"{sight.track.slug}-runs.zip", (_entry_of(run) for run in chosen if run.file)
        )
    elif act == "write":
        return redirect(_page_to_write(sight, chosen))
    elif act == "restore":
        _change_runs(request, chosen, act)
    else:
        form = FORMS.get(act, WithdrawForm)(request.POST if "sent" in request.POST else None)
        if not form.is_valid():
            return _ask(request, sight, chosen, act, form)
        _act_with_words(request, sight, chosen, act, form)
    return redirect("organised_runs", address=address)


def _act_with_words(
    request: HttpRequest, sight: Sight, chosen: Sequence[Run], act: str, form: Form
) -> None:
    if act == "prioritise":
        run_actions.prioritise_runs(chosen, request.user, form.cleaned_data["priority"])
        messages.success(request, f"{counted(len(chosen), 'run')} changed.")
        return
    _change_runs(request, chosen, act, form.cleaned_data["reason"])


def _page_to_write(sight: Sight, chosen: Sequence[Run]) -> str:
    """Return the page of messages with the teams of these runs chosen."""
    teams = sorted({run.team_id for run in chosen})
    query = urlencode({"team": teams}, doseq=True)
    return f"{reverse('messages', args=[sight.track.benchmark.slug])}?{query}"


def _change_runs(request: HttpRequest, chosen: Sequence[Run], act: str, reason: str = "") -> None:
    refused = run_actions.change_runs(chosen, request.user, act, reason)
    for run, why in refused:
        messages.error(request, f"{run}: {why}")
    if done := len(chosen) - len(refused):
        messages.success(request, f"{counted(done, 'run')} {ACTS[act][1]}.")


def _ask(
    request: HttpRequest, sight: Sight, chosen: Sequence[Run], act: str, form: Form
) -> HttpResponse:
    """Ask for a reason or a message, and name the runs."""
    context = {
        "sight": sight,
        "track": sight.track,
        "chosen": chosen,
        "act": act,
        "title": ACTS[act][0],
        "form": form,
        "loses_baseline": act in run_actions.WITH_REASON
        and any(run.pk == sight.track.baseline_id for run in chosen),
    }
    status = 422 if form.is_bound else 200
    return render(request, "run/change_chosen.html", context, status=status)


def _entry_of(run: Run) -> ZipEntry:
    return ZipEntry(f"{name_folder(run)}.run", read_chunks(run.file))
