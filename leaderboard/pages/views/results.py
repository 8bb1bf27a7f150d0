"""The pages of one run: overview, topics, failures, file and facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from leaderboard.analysis.history import (
    compare_with_branch,
    compare_with_main_branch,
    compare_with_previous_best,
)
from leaderboard.analysis.losses import count_losses, find_losses, tabulate_losses
from leaderboard.analysis.precision import Precision, read_precision
from leaderboard.analysis.runs import (
    ORDERS,
    RANGE_AXIS,
    UNIT_AXIS,
    RunBreakdown,
    build_run_breakdown,
)
from leaderboard.analysis.topic_groups import TopicGroups
from leaderboard.boards import receipts
from leaderboard.boards.deferred_tests import request_missing_tests
from leaderboard.boards.disclosure import VisibleRun, run_or_404
from leaderboard.boards.kept_pages import kept, leave_unkept
from leaderboard.boards.page_keys import find_seen_track_of_run
from leaderboard.boards.standings import Board, BoardChoice, find_visible_board_with
from leaderboard.display.charts import Bar, RecallCurves, difference_bars, recall_curves
from leaderboard.display.csv_tables import CsvTable
from leaderboard.jobs.calculations import Awaited
from leaderboard.models import Run
from leaderboard.pages import wording
from leaderboard.pages.page_urls import topic_url_builder
from leaderboard.pages.views.lookups import requested_choice, requested_topics
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.runs.fact_changes import load_history
from leaderboard.runs.facts import all_facts, build_rows
from leaderboard.scoring.kinds import kind_of

# Topics per page of a run's table.
TOPICS = 50
# How many measures and failures the overview shows.
FIRST_MEASURES = 5
FIRST_FAILURES = 3
# The tables that need the precision of every run of the board.
PRECISION_TABLES = ("recall", "depth")
# The tables of a run whose topics are in groups.
GROUP_TABLES = ("groups", "depths")
# The fields of a run that its check fills.
FOUND_BY_THE_CHECK = (
    *("state", "checked_at", "scored_at", "ranking_file", "format", "metadata", "description"),
    *("num_lines", "num_answered", "num_retrieved", "problems", "problem_totals", "answer_file"),
)


@require_GET
@kept(find_seen_track_of_run)
def run(request: HttpRequest, run_id: str) -> HttpResponse:
    """Show a run's verdict, measures and worst failures; before it is scored, its state."""
    seen = run_or_404(request.user, run_id)
    found = _find_breakdown(request, seen)
    if wants_csv(request):
        chosen = requested_topics(request, seen.sight).chosen
        table = request.GET.get("table", "")
        return _table_csv(table, found.of(chosen) if found is not None else None)
    if found is None:
        shown = {**_details_context(seen), **_means_context(seen)}
    else:
        shown = {**_facts_context(seen), **_overview_context(request, seen, found)}
    context = {**_head_context(seen, found), **shown}
    page = render(request, "run/run.html", context, status=410 if seen.run.removal else 200)
    # It shows how the check proceeds, or that tests will be tried again.
    retries = context.get("tests_follow") == Awaited.FAILED
    return leave_unkept(page) if found is None or retries else page


@require_GET
@kept(find_seen_track_of_run)
def run_topics(request: HttpRequest, run_id: str) -> HttpResponse:
    """Show a run topic by topic: its differences, their distribution, recall and depth."""
    seen = run_or_404(request.user, run_id)
    found = _breakdown_or_404(request, seen)
    choice = requested_topics(request, seen.sight)
    shown = found.of(choice.chosen)
    precision = read_precision(found.board)
    context = {
        **_head_context(seen, found),
        "breakdown": shown,
        "topic_choice": choice,
        "orders": ORDERS,
        "range_axis": RANGE_AXIS,
        "topic_page": kind_of(seen.sight.track).topic_page,
        "bars": _draw_bars(shown) if shown.differs else "",
        "groups": TopicGroups(shown),
        "precision": precision,
        "curves": _draw_precision(precision, seen.run),
        "levels": precision.level_lines(seen.run),
        "depths": precision.depth_lines(seen.run),
        "page": Paginator(shown.lines, TOPICS).get_page(request.GET.get("page")),
    }
    return render(request, "run/topics.html", context)


@require_GET
@kept(find_seen_track_of_run)
def run_failures(request: HttpRequest, run_id: str) -> HttpResponse:
    """Show where a run loses most to the best run of a topic."""
    seen = run_or_404(request.user, run_id)
    found = _breakdown_or_404(request, seen)
    choice = requested_topics(request, seen.sight)
    losses = find_losses(found.board, seen.run, found.of(choice.chosen).topics)
    context = {**_head_context(seen, found), "losses": losses, "topic_choice": choice}
    return render(request, "run/failures.html", context)


@require_GET
def run_details(request: HttpRequest, run_id: str) -> HttpResponse:
    """Show the facts of a run, its file, its history and what the check noted."""
    seen = run_or_404(request.user, run_id)
    found = _find_breakdown(request, seen)
    context = {**_details_context(seen), **_head_context(seen, found)}
    return render(request, "run/details.html", context, status=410 if seen.run.removal else 200)


@require_GET
def run_topics_csv(request: HttpRequest, run_id: str) -> HttpResponse:
    """Return every topic of a run with its values as CSV, in the order of the page."""
    seen = run_or_404(request.user, run_id)
    chosen = requested_topics(request, seen.sight).chosen
    found = _breakdown_or_404(request, seen).of(chosen)
    return csv_file(f"topics-{seen.run.pk}", *found.topic_table)


def _table_csv(name: str, found: RunBreakdown | None) -> HttpResponse:
    """Return one table of a run's pages as CSV."""
    if found is None:
        raise Http404("no scores to see")
    table = _find_table(name, found)
    if table is None:
        raise Http404("no such table")
    return csv_file(f"{name}-{found.run.pk}", *table)


def _find_table(name: str, found: RunBreakdown) -> CsvTable | None:
    """Return the table of that name; None if there is none."""
    if name == "failures":
        return tabulate_losses(find_losses(found.board, found.run, found.topics))
    if name in GROUP_TABLES:
        groups = TopicGroups(found)
        return groups.tables[name] if groups.exists else None
    if name in PRECISION_TABLES:
        return read_precision(found.board).tables_of(found.run)[name]
    return found.tables.get(name)


def _head_context(seen: VisibleRun, found: RunBreakdown | None) -> dict[str, Any]:
    """Return what all pages of a run have in common: its name, state, place and tabs."""
    run, sight = seen.run, seen.sight
    inside = sight.can_see_file(run)
    # A rejected run was never on the board.
    may_leave = run.state != Run.State.REFUSED
    context = {
        "sight": sight,
        "track": sight.track,
        "run": run,
        "inside": inside,
        "shows_pack": inside and sight.can_see_scores,
        "receipt": receipts.build_receipt(sight, run),
        "can_replace": sight.can_replace(run),
        "can_take_off": may_leave and sight.is_organiser and not run.removal,
        "can_withdraw": may_leave and inside and not run.withdrawn_at,
        **_replacement_context(seen),
        "breakdown": found,
    }
    if found is None:
        return context
    board = found.board
    return {
        **context,
        "board": board,
        "standing": board.standing_of(seen.run),
        "left_out": wording.describe_exclusion(board),
        "top_grade": board.edition.judgment_set.top_grade,
        "num_topics": len(found.topics),
        "num_failures": count_losses(found.topics),
    }


def _details_context(seen: VisibleRun) -> dict[str, Any]:
    """Return the facts of a run with their changes, which its team and organisers see."""
    history = load_history(seen.run) if seen.sight.can_see_file(seen.run) else []
    return {**_facts_context(seen), "history": history}


def _facts_context(seen: VisibleRun) -> dict[str, Any]:
    sight, run = seen.sight, seen.run
    stated = all_facts(run)
    return {
        "states": sight.can_state_facts(run),
        "stated": build_rows(
            stated, sight.track.benchmark.link_of_commit(stated.get("commit", ""))
        ),
        "twins": receipts.find_twins_of_other_teams(sight, run),
        "compared": kind_of(sight.track).items,
        "withdrawn_by": wording.name_of_withdrawer(sight, run),
        "repairs": run.state == Run.State.REFUSED and bool(run.file),
        "brings_back": sight.can_restore(run),
    }


def _replacement_context(seen: VisibleRun) -> dict[str, Run | None]:
    """Return the run that this one replaces and the one that replaces it, for its team."""
    if not seen.sight.can_see_file(seen.run):
        return {}
    return {
        "replaced": seen.run.replaces,
        "replacement": Run.objects.replacement_of(seen.run),
    }


def _overview_context(
    request: HttpRequest, seen: VisibleRun, found: RunBreakdown
) -> dict[str, Any]:
    board, run = found.board, seen.run
    scored = run.score_sets.get(edition=board.edition)
    main = _main_context(seen, board)
    previous = compare_with_previous_best(seen.sight, run)
    # The page compares the run with the main branch and with the baseline anyway.
    if previous is not None and (main.get("main_verdict") or previous.a == board.baseline):
        previous = None
    shows_all = request.GET.get("measures") == "all"
    return {
        "measures": found.measures if shows_all else found.first_measures(FIRST_MEASURES),
        "unit_axis": UNIT_AXIS,
        "tests_follow": request_missing_tests(board),
        "bars": _draw_bars(found) if found.differs else "",
        "previous": previous,
        "since": wording.pair_verdict(previous) if previous is not None else None,
        **main,
        "losses": find_losses(board, run, found.topics, FIRST_FAILURES),
        "facts": scored,
        "remarks": [
            wording.describe_tied_range(scored, board.measure),
            wording.warn_of_few_judged(scored, board),
        ],
    }


def _main_context(seen: VisibleRun, board: Board) -> dict[str, Any]:
    """Compare the run with the main branch of its team, if the track has one."""
    found = compare_with_main_branch(seen.sight, seen.run, board.edition, board.measure)
    if found is None:
        return {}
    # The page compares every run with the baseline anyway.
    pair = compare_with_branch(seen.sight, found) if found.branch else None
    return {"main": found, "main_verdict": wording.describe_decision(pair) if pair else ""}


def _means_context(seen: VisibleRun) -> dict[str, Any]:
    """Return the place of the run on a board of rounded means, without details."""
    board = _find_board(seen, BoardChoice()) if not seen.sight.can_see_scores else None
    standing = board.standing_of(seen.run) if board is not None else None
    if board is None or standing is None:
        return {}
    return {"board": board, "standing": standing, "left_out": wording.describe_exclusion(board)}


def _draw_bars(found: RunBreakdown) -> SafeString:
    """Draw the difference from the baseline or the median, one bar per topic."""
    board, run = found.board, found.run
    address = topic_url_builder(kind_of(board.sight.track).topic_page, board.choice.carried, run.pk)
    bars = [
        Bar(line.topic.number, found.difference_of(line) or 0.0, line.topic.label)
        for line in found.differing
    ]
    other = board.baseline if found.against == "baseline" else "the median"
    title = f"{board.measure} of {run.tag} minus {other}, by topic"
    return difference_bars(bars, title, link=lambda bar: address(bar.number))


def _draw_precision(precision: Precision, run: Run) -> SafeString:
    best = precision.best_run
    drawn = RecallCurves(run.tag, precision.curve_of(run), precision.by_recall)
    if best != run:
        drawn = replace(drawn, best_run=best.tag, best=precision.curve_of(best))
    return recall_curves(drawn, f"Precision of {run.tag} at eleven recall levels")


def _find_board(seen: VisibleRun, choice: BoardChoice) -> Board | None:
    """Find the board; if the track's rule excludes a visible run, the board of every run.

    A run that is scored while its page renders is not excluded by a rule.
    """
    shown = [seen.run.pk] if seen.sight.can_see_means_of(seen.run) else []
    return find_visible_board_with(seen.sight, choice, *shown)


def _breakdown_or_404(request: HttpRequest, seen: VisibleRun) -> RunBreakdown:
    found = _find_breakdown(request, seen)
    if found is None:
        raise Http404("no scores to see")
    return found


def _find_breakdown(request: HttpRequest, seen: VisibleRun) -> RunBreakdown | None:
    """Return the scores of a run as requested; None if the reader may see none."""
    board = _find_board(seen, requested_choice(request)) if seen.sight.can_see_scores else None
    if board is None or board.standing_of(seen.run) is None:
        return None
    if not seen.run.ranking_file:
        # The run was scored after this request loaded it.
        found = seen.sight.with_shown_name(Run.objects.get(pk=seen.run.pk))
        for name in FOUND_BY_THE_CHECK:
            setattr(seen.run, name, getattr(found, name))
    order, against = request.GET.get("order", ""), request.GET.get("against", "")
    return build_run_breakdown(board, seen.run, order, against)
