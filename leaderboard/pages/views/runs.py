"""Runs: submission, progress, results and files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation.reading.repairs import FIXES
from leaderboard.actions import runs as run_actions
from leaderboard.actions.people import can_join_by_run
from leaderboard.actions.submission_rules import ActionError, NotAccepted
from leaderboard.actions.uploads import RunDetails, accept_run
from leaderboard.analysis.history import compare_with_branch, compare_with_previous_best
from leaderboard.analysis.losses import find_losses, tabulate_losses
from leaderboard.analysis.precision import Precision, read_precision
from leaderboard.analysis.runs import (
    ORDERS,
    RANGE_AXIS,
    UNIT_AXIS,
    RunBreakdown,
    build_run_breakdown,
)
from leaderboard.boards import receipts
from leaderboard.boards.disclosure import VisibleRun, run_or_404, track_or_404
from leaderboard.boards.exports import text_file, uploaded_file
from leaderboard.boards.standings import Board, Choice, find_visible_board_with
from leaderboard.display.charts import Bar, RecallCurves, difference_bars, recall_curves
from leaderboard.infrastructure.request_slots import received_at
from leaderboard.models import Run
from leaderboard.pages import limits, wording
from leaderboard.pages.forms.runs import RunForm
from leaderboard.pages.page_urls import topic_url_builder
from leaderboard.pages.views.lookups import (
    managed_run_or_403,
    organised_sight_or_403,
    requested_choice,
)
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.runs.fact_changes import load_history
from leaderboard.runs.facts import FactsForm, all_facts, build_rows
from leaderboard.runs.quotas import find_quota
from leaderboard.scoring.branches import compare_with_main

# Topics on one page of a run's table.
TOPICS = 50
# The tables of a run's page as files.
TABLES = ("measures", "spread", "recall", "depth", "failures")
# Rejected files per page.
REFUSED = 100


@login_required
@require_http_methods(["GET", "POST"])
def submit(request: HttpRequest, slug: str) -> HttpResponse:
    sight = track_or_404(request.user, slug)
    joined = sight.team is not None or sight.is_organiser
    if request.method == "GET" and not joined and not can_join_by_run(sight.track):
        return redirect("join", slug=slug)
    form = RunForm(request.POST or None, request.FILES or None, track=sight.track)
    facts = FactsForm(request.POST or None, track=sight.track, is_strict=not sight.is_organiser)
    status = 200
    # We check both forms, so that the page shows all errors at once.
    if request.method == "POST" and all([form.is_valid(), facts.is_valid()]):
        details = _run_details(form, facts)
        try:
            file, at = request.FILES["file"], received_at(request)
            accepted = accept_run(sight.track, request.user, file, details, received_at=at)
            if not accepted.is_new:
                messages.info(request, accepted.repeated_by(request.user))
            return redirect("run", run_id=accepted.run.pk)
        except NotAccepted as refusal:
            form.add_error(None, refusal.message)
            status = 429 if refusal.retry_after else 403
    elif request.method == "POST":
        status = 422
    context = {
        "sight": sight,
        "track": sight.track,
        "form": form,
        "facts": facts,
        "limits": limits.track_limits(sight.track),
        "quota": find_quota(sight.track, sight.team),
        "topics": " ".join(sight.track.collection.topics.values_list("number", flat=True)),
        "file_hint": "Plain, .gz, or .zip with one file",
    }
    return render(request, "submit.html", context, status=status)


def _run_details(form: RunForm, facts: FactsForm) -> RunDetails:
    names = ("tag", "format", "description", "idempotency_key")
    said = {name: form.cleaned_data.get(name, "") for name in names}
    fixes = ("tag",) if form.cleaned_data["replaces_tag"] else ()
    return RunDetails(**said, facts=facts.facts, fixes=fixes)


@login_required
@require_GET
def my_runs(request: HttpRequest, slug: str) -> HttpResponse:
    sight = track_or_404(request.user, slug)
    runs = sight.own_runs()
    context = {
        "sight": sight,
        "track": sight.track,
        "runs": receipts.build_receipts(sight, runs),
        "has_pack": sight.can_see_scores and runs.on_the_board().exists(),
        "kept_days": settings.REFUSED_KEPT_DAYS,
    }
    return render(request, "my_runs.html", context)


@login_required
@require_GET
def refused_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """List the rejected runs of all teams for the organisers."""
    sight = organised_sight_or_403(request, slug)
    refused = sight.runs().filter(state=Run.State.REFUSED)
    page = Paginator(refused, REFUSED).get_page(request.GET.get("page"))
    context = {
        "sight": sight,
        "track": sight.track,
        "page": page,
        "runs": receipts.build_receipts(sight, page.object_list),
        "kept_days": settings.REFUSED_KEPT_DAYS,
    }
    return render(request, "refused_runs.html", context)


@require_GET
def run(request: HttpRequest, run_id: str) -> HttpResponse:
    seen = run_or_404(request.user, run_id)
    scores = _scores_context(request, seen)
    if wants_csv(request):
        return _table_csv(request.GET.get("table", ""), seen.run, scores)
    stated = all_facts(seen.run)
    context = {
        "sight": seen.sight,
        "track": seen.sight.track,
        "run": seen.run,
        "inside": seen.sight.can_see_file(seen.run),
        "states": seen.sight.can_state_facts(seen.run),
        "stated": build_rows(stated, seen.sight.track.link_of_commit(stated.get("commit", ""))),
        "history": load_history(seen.run) if seen.sight.can_see_file(seen.run) else [],
        "receipt": receipts.build_receipt(seen.sight, seen.run),
        "twins": receipts.find_twins_of_other_teams(seen.sight, seen.run),
        "withdrawn_by": wording.name_of_withdrawer(seen.sight, seen.run),
        "repairs": seen.run.state == Run.State.REFUSED and bool(seen.run.file),
        "brings_back": seen.sight.can_restore(seen.run),
        # A rejected run was never on the board.
        "may_leave": seen.run.state != Run.State.REFUSED,
        **scores,
    }
    return render(request, "run.html", context, status=410 if seen.run.removal else 200)


def _table_csv(name: str, run: Run, scores: dict[str, Any]) -> HttpResponse:
    """Return one table of the page as CSV."""
    if name not in TABLES or "losses" not in scores:
        raise Http404("no such table")
    tables = {
        **scores["breakdown"].tables,
        **scores["precision"].tables_of(run),
        "failures": tabulate_losses(scores["losses"]),
    }
    return csv_file(f"{name}-{run.pk}", *tables[name])


def _scores_context(request: HttpRequest, seen: VisibleRun) -> dict[str, Any]:
    """Return the scores of the run on its board, if the reader may see them."""
    found = _find_breakdown(request, seen)
    if found is None:
        return _means_context(seen)
    board = found.board
    scored = seen.run.score_sets.get(edition=board.edition)
    previous = compare_with_previous_best(seen.sight, seen.run)
    precision = read_precision(board)
    return {
        "board": board,
        "standing": board.standing_of(seen.run),
        "left_out": wording.describe_exclusion(board),
        "breakdown": found,
        "orders": ORDERS,
        "unit_axis": UNIT_AXIS,
        "range_axis": RANGE_AXIS,
        "bars": _draw_bars(found) if found.differs else "",
        "precision": precision,
        "curves": _draw_precision(precision, seen.run),
        "levels": precision.level_lines(seen.run),
        "depths": precision.depth_lines(seen.run),
        "top_grade": board.edition.judgment_set.top_grade,
        "since": wording.pair_verdict(previous) if previous is not None else None,
        "previous": previous,
        **_main_context(seen, board),
        "losses": find_losses(board, seen.run, found.topics),
        "facts": scored,
        "remarks": [
            wording.describe_tied_range(scored, board.measure),
            wording.warn_of_few_judged(scored, board),
        ],
        "page": Paginator(found.lines, TOPICS).get_page(request.GET.get("page")),
    }


def _main_context(seen: VisibleRun, board: Board) -> dict[str, Any]:
    """Compare the run with the main branch of its team, if the track has one."""
    runs = seen.sight.runs()
    found = compare_with_main(seen.run, board.edition, board.measure, runs)
    if found is None:
        return {}
    found = replace(found, other=seen.sight.with_shown_name(found.other))
    # The page compares every run with the baseline anyway.
    pair = compare_with_branch(seen.sight, found) if found.branch else None
    return {"main": found, "main_verdict": wording.describe_decision(pair) if pair else ""}


def _draw_bars(found: RunBreakdown) -> SafeString:
    """Draw the difference from the baseline or the median, one bar per topic."""
    board, run = found.board, found.run
    address = topic_url_builder("ranking", board.choice.carried, run.pk)
    bars = [
        Bar(
            line.topic.number,
            found.difference_of(line) or 0.0,
            line.topic.label,
            address(line.topic.number),
        )
        for line in found.differing
    ]
    other = board.baseline if found.against == "baseline" else "the median"
    return difference_bars(bars, f"{board.measure} of {run.tag} minus {other}, by topic")


def _draw_precision(precision: Precision, run: Run) -> SafeString:
    best = precision.best_run
    drawn = RecallCurves(run.tag, precision.curve_of(run), precision.by_recall)
    if best != run:
        drawn = replace(drawn, best_run=best.tag, best=precision.curve_of(best))
    return recall_curves(drawn, f"Precision of {run.tag} at eleven recall levels")


def _means_context(seen: VisibleRun) -> dict[str, Any]:
    """Return the place of the run on a board of rounded means, without details."""
    board = _find_board(seen, Choice()) if not seen.sight.can_see_scores else None
    standing = board.standing_of(seen.run) if board is not None else None
    if board is None or standing is None:
        return {}
    return {"board": board, "standing": standing, "left_out": wording.describe_exclusion(board)}


def _find_board(seen: VisibleRun, choice: Choice) -> Board | None:
    """Find the board; if the track's rule excludes a visible run, the board of every run.

    A run that is scored while its page renders is not excluded by a rule.
    """
    shown = [seen.run.pk] if seen.sight.can_see_means_of(seen.run) else []
    return find_visible_board_with(seen.sight, choice, *shown)


def _find_breakdown(request: HttpRequest, seen: VisibleRun) -> RunBreakdown | None:
    """Return the scores of a run as requested; None if the reader may see none."""
    board = _find_board(seen, requested_choice(request)) if seen.sight.can_see_scores else None
    if board is None or board.standing_of(seen.run) is None:
        return None
    if not seen.run.ranking_file:
        # The run was scored after this request loaded it.  We reload only these fields, because
        # its names may be pseudonyms.
        seen.run.refresh_from_db(fields=["state", "scored_at", "ranking_file", "num_lines"])
    order, against = request.GET.get("order", ""), request.GET.get("against", "")
    return build_run_breakdown(board, seen.run, order, against)


@require_GET
def run_topics_csv(request: HttpRequest, run_id: str) -> HttpResponse:
    """Return every topic of a run with its values as CSV, in the order of the page."""
    seen = run_or_404(request.user, run_id)
    found = _find_breakdown(request, seen)
    if found is None:
        raise Http404("no scores to see")
    return csv_file(f"topics-{seen.run.pk}", *found.topic_table)


@require_GET
def run_state(request: HttpRequest, run_id: str) -> HttpResponse:
    """Return the state of a run; the page polls it until the run is done."""
    seen = run_or_404(request.user, run_id)
    receipt = receipts.build_receipt(seen.sight, seen.run)
    context = {
        "sight": seen.sight,
        "track": seen.sight.track,
        "run": seen.run,
        "inside": seen.sight.can_see_file(seen.run),
        "receipt": receipt,
    }
    response = render(request, "_run_state.html", context)
    if receipt.done:
        # The whole page has more to show now.
        response["HX-Refresh"] = "true"
    return response


@require_GET
def run_file(request: HttpRequest, run_id: str) -> FileResponse:
    """Return the uploaded file, always as a download."""
    return uploaded_file(_managed_run_or_404(request, run_id))


@require_GET
def run_problems(request: HttpRequest, run_id: str) -> HttpResponse:
    """Return every problem of a run as CSV."""
    run = _managed_run_or_404(request, run_id)
    return text_file(f"problems-{run.pk}.csv", receipts.problems_as_csv(run), "text/csv")


def _managed_run_or_404(request: HttpRequest, run_id: str) -> Run:
    seen = run_or_404(request.user, run_id)
    if not seen.sight.can_see_file(seen.run):
        raise Http404("no such file")
    return seen.run


@login_required
@require_POST
def score_again(request: HttpRequest, run_id: str) -> HttpResponse:
    """Queue a run again that failed because of an error on our side."""
    seen = managed_run_or_403(request, run_id)
    try:
        run_actions.retry_run(seen.run, request.user)
    except NotAccepted as refusal:
        messages.error(request, refusal.message)
    return redirect("run", run_id=run_id)


@login_required
@require_POST
def repair(request: HttpRequest, run_id: str) -> HttpResponse:
    """Check a rejected run again with one of the repairs that its page offers."""
    seen = managed_run_or_403(request, run_id)
    fix = request.POST.get("fix", "")
    try:
        if fix not in FIXES:
            raise ActionError("There is no such repair.")
        run_actions.repair_run(seen.run, request.user, fix, request.POST.get("tag", "").strip())
    except (NotAccepted, ActionError) as refusal:
        messages.error(request, str(refusal))
    return redirect("run", run_id=run_id)
