"""The page that submits runs: one file, several, or an archive of several."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.actions.people import can_join_by_run
from leaderboard.actions.refusals import NotAccepted
from leaderboard.actions.run_files import RunFile, list_run_files
from leaderboard.actions.submissions import (
    FileOutcome,
    RunDetails,
    accept_run,
    accept_run_files,
)
from leaderboard.boards.disclosure import Sight, track_at_or_404
from leaderboard.boards.receipts import build_receipts
from leaderboard.boards.schedules import build_schedule
from leaderboard.infrastructure.request_slots import received_at
from leaderboard.models import Run
from leaderboard.pages import limits
from leaderboard.pages.forms.runs import RunForm
from leaderboard.runs.facts import FactsForm, all_facts
from leaderboard.runs.quotas import Quota, find_freed_place, find_quota, find_used_up
from leaderboard.scoring.kinds import kind_of

# Tags of the team that the page knows for its own check, the latest first.
KNOWN_TAGS = 500


@login_required
@require_http_methods(["GET", "POST"])
def submit(request: HttpRequest, address: str) -> HttpResponse:
    """Show the form, or why no run can be submitted; a POST submits, and shows a refusal in it."""
    sight = track_at_or_404(request.user, address)
    asks = request.method == "GET" and not sight.is_organiser
    if asks and not sight.accepts_runs:
        return _show_no_form(request, sight, None)
    if asks and sight.team is None and not can_join_by_run(sight.track.benchmark):
        return redirect("join", address=address)
    replaced = _replaced_run_or_404(request, sight)
    used_up = find_used_up(sight.track, sight.team, replaced) if asks else None
    if used_up is not None:
        return _show_no_form(request, sight, used_up)
    form, facts = _build_forms(sight, replaced, request.POST or None, request.FILES or None)
    if request.method == "GET":
        return _show_form(request, sight, replaced, form, facts)
    return _submit_or_refuse(request, sight, replaced, form, facts)


def _show_no_form(request: HttpRequest, sight: Sight, used_up: Quota | None) -> HttpResponse:
    """Say since when no run can be submitted, what remains possible, and whom to ask."""
    runs = list(sight.own_runs().active())
    context = {
        "sight": sight,
        "track": sight.track,
        "used_up": used_up,
        "runs": build_receipts(sight, runs),
        "kept_days": settings.REFUSED_KEPT_DAYS,
        "digits": sight.shown_decimals,
        "replaceable": [
            run
            for run in runs
            if used_up is not None and sight.can_replace(run) and used_up.has_place_of(run)
        ],
        "schedule": build_schedule(sight.track, team=sight.team),
        "limits": limits.track_limits(sight.track),
    }
    return render(request, "run/submit_closed.html", context)


def _submit_or_refuse(
    request: HttpRequest, sight: Sight, replaced: Run | None, form: RunForm, facts: FactsForm
) -> HttpResponse:
    # We check both forms, so that the page shows all errors at once.
    if not all([form.is_valid(), facts.is_valid()]):
        return _show_form(request, sight, replaced, form, facts, status=422)
    try:
        return _submit_files(request, sight, form, facts)
    except NotAccepted as refusal:
        form.add_error(None, refusal.message)
        status = 429 if refusal.retry_after else 403
        return _show_form(request, sight, replaced, form, facts, status=status)


def _show_form(
    request: HttpRequest,
    sight: Sight,
    replaced: Run | None,
    form: RunForm,
    facts: FactsForm,
    status: int = 200,
) -> HttpResponse:
    context = _page_context(sight, replaced) | {"form": form, "facts": facts}
    return render(request, "run/submit.html", context, status=status)


def _replaced_run_or_404(request: HttpRequest, sight: Sight) -> Run | None:
    """Return the run to replace, if the page is opened for one."""
    run_id = request.POST.get("replaces") or request.GET.get("replaces", "")
    if not run_id:
        return None
    # No database has such an id, and PostgreSQL takes no NUL.
    if not (run_id.isascii() and run_id.isalnum()):
        raise Http404("no run to replace")
    run = sight.runs().active().filter(pk=run_id).first()
    # A run that can no longer be replaced is refused with a reason once its form is sent.
    if run is None or (request.method == "GET" and not sight.can_replace(run)):
        raise Http404("no run to replace")
    run.track = sight.track
    return run


def _build_forms(
    sight: Sight, replaced: Run | None, data: Any, files: Any
) -> tuple[RunForm, FactsForm]:
    """Build both forms; those of a replacement begin with what the replaced run says."""
    track, stated, initial = sight.track, {}, {}
    if replaced is not None:
        stated = all_facts(replaced)
        initial = {"description": replaced.description, "replaces": replaced.pk}
    form = RunForm(data, files, track=track, initial=initial)
    return form, FactsForm(data, track=track, is_strict=not sight.is_organiser, facts=stated)


def _page_context(sight: Sight, replaced: Run | None) -> dict[str, Any]:
    track = sight.track
    # Before their date nobody else can submit, so the check in the browser needs none.
    topics = track.collection.topics if sight.can_see_topics else track.collection.topics.none()
    quota = find_quota(track, sight.team, without=find_freed_place(replaced))
    used = sight.own_runs().active().exclude(tag="").values_list("tag", flat=True)
    return {
        "sight": sight,
        "track": track,
        "replaced": replaced,
        "limits": limits.track_limits(track),
        "quota": quota,
        "left": None if sight.is_organiser else quota.left,
        "topics": " ".join(topics.values_list("number", flat=True)),
        "used_tags": json.dumps(sorted(set(used[:KNOWN_TAGS]))),
    }


def _submit_files(
    request: HttpRequest, sight: Sight, form: RunForm, facts: FactsForm
) -> HttpResponse:
    """Submit the file, or each of several, and lead to what became of them."""
    details = _run_details(form, facts)
    opens = not kind_of(sight.track).is_one_archive
    files = list_run_files(form.cleaned_data["file"], opens)
    if len(files) == 1:
        return _submit_file(request, sight, files[0], details)
    refuse_shared_details(details)
    at = received_at(request)
    sent = accept_run_files(sight.track, request.user, files, details, at)
    return _show_sent_files(request, sight, sent)


def _submit_file(
    request: HttpRequest, sight: Sight, file: RunFile, details: RunDetails
) -> HttpResponse:
    if file.problem:
        raise NotAccepted("E_CONTAINER", file.problem)
    with file.open() as sent:
        at = received_at(request)
        accepted = accept_run(sight.track, request.user, sent, details, received_at=at)
    if not accepted.is_new:
        messages.info(request, accepted.repeated_by(request.user))
    return redirect("run", run_id=accepted.run.pk)


def _show_sent_files(request: HttpRequest, sight: Sight, sent: list[FileOutcome]) -> HttpResponse:
    """Say what happened to each file; the same request again changes nothing."""
    taken = [file for file in sent if file.run is not None]
    context = {"sight": sight, "track": sight.track, "files": sent, "num_taken": len(taken)}
    return render(request, "run/submitted.html", context, status=200 if taken else 403)


def refuse_shared_details(details: RunDetails) -> None:
    """Raise NotAccepted for details of one run where several files were sent."""
    if details.replaces:
        raise NotAccepted("E_FIELD", "Choose one file to replace a run.")
    if details.tag or details.fixes:
        raise NotAccepted("E_FIELD", "Leave the tag empty: each of several files has its own.")
    if details.facts.get("primary"):
        message = "Only one run is the primary one. Submit the others first, or choose it later."
        raise NotAccepted("E_FIELD", message)


def _run_details(form: RunForm, facts: FactsForm) -> RunDetails:
    names = ("tag", "format", "description", "idempotency_key", "replaces")
    said = {name: form.cleaned_data.get(name, "") for name in names}
    fixes = ("tag",) if form.cleaned_data["replaces_tag"] else ()
    return RunDetails(**said, facts=facts.facts, fixes=fixes)
