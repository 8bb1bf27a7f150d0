"""The board of a track and its judgments."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evaluation.answers.any_measure import is_of_rankings
from leaderboard.analysis import count_judgments, find_waiting_runs, load_judged_topics
from leaderboard.analysis.answers import read_length_trust
from leaderboard.analysis.impact import find_other_versions
from leaderboard.analysis.scores import load_evaluated_topics
from leaderboard.analysis.summaries import (
    JudgedTopic,
    grade_lines,
    tabulate_grades,
    tabulate_judged,
)
from leaderboard.analysis.unjudged import UnjudgedTable, build_unjudged_table
from leaderboard.assessments.provenance import describe_estimates
from leaderboard.boards.board_files import FORMATS, download
from leaderboard.boards.columns import shown_columns
from leaderboard.boards.deferred_tests import request_missing_tests
from leaderboard.boards.disclosure import track_at_or_404
from leaderboard.boards.exports import file_of
from leaderboard.boards.kept_pages import kept, leave_unkept
from leaderboard.boards.page_keys import find_seen_track_at
from leaderboard.boards.standings import Board, find_visible_board
from leaderboard.collections.pools import find_pool
from leaderboard.jobs.calculations import Awaited
from leaderboard.models import MachineCard, Run
from leaderboard.pages import wording
from leaderboard.pages.board_table import TrackTable
from leaderboard.pages.views.lookups import (
    board_or_404,
    page_number,
    requested_choice,
    requested_sight,
)
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.scoring.kinds import kind_of

TOPICS = 100


@require_GET
@kept(find_seen_track_at)
def board(request: HttpRequest, address: str) -> HttpResponse:
    sight = requested_sight(request, address)
    found = find_visible_board(sight, requested_choice(request))
    format = request.GET.get("format", "")
    if found is not None and format in FORMATS:
        return download(file_of(found, shown_columns(found, in_files=True)), format)
    waiting = find_waiting_runs(sight)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": found,
        "made_without": wording.describe_missing_measures(found) if found is not None else "",
        "waiting": waiting,
        "num_accepted": sight.runs().accepted().count() if found is None else 0,
        "tests_follow": request_missing_tests(found) if found is not None else "",
        **(_board_context(request, found) if found is not None and found.standings else {}),
    }
    page = render(request, "board/board.html", context)
    # Runs of other tracks move a place in the queue.
    retries = context["tests_follow"] == Awaited.FAILED
    return leave_unkept(page) if waiting.have_places or retries else page


def _board_context(request: HttpRequest, board: Board) -> dict[str, object]:
    """Return the sentences and the table of a board."""
    frozen = (
        board.sight.track.snapshots.without_contents().first()
        if board.sight.can_see_snapshots
        else None
    )
    return {
        "frozen": frozen,
        "provisional": wording.describe_provisional_state(board, frozen)
        if board.sight.other_edition is None
        else "",
        "table": TrackTable(board, request.GET),
        "unknown_measure": wording.describe_unknown_measure(board, request.GET.get("measure", "")),
        "verdict": wording.board_verdict(board),
        "power": wording.describe_power(board),
        "rule": wording.describe_selection(board),
        "left_out": wording.describe_left_out(board),
        "drawn": describe_estimates(board.edition.judgment_set),
        "strips": wording.describe_strips(board),
        "trust": wording.describe_trust(board),
        "adjustment": wording.describe_adjustment(board),
        "much_unjudged": wording.warn_of_unjudged(board),
        "test": wording.describe_test(board.sight.track.test, board.edition.num_evaluated),
        "kinds": Run.Kind.values,
        "exports": FORMATS,
        **_answers_context(board),
    }


def _answers_context(board: Board) -> dict[str, object]:
    """Return what to know of scores of answers, for who sees all of them."""
    is_shown = kind_of(board.sight.track).has_texts and board.sight.can_see_scores
    return {"lengths": read_length_trust(board)} if is_shown else {}


@require_GET
def judgments(request: HttpRequest, address: str) -> HttpResponse:
    """Show the judgments of a track and what unjudged documents could change."""
    sight = track_at_or_404(request.user, address)
    context: dict[str, object] = {"sight": sight, "track": sight.track}
    if sight.edition is None or not sight.edition.judgment_set.has_documents:
        context["versions"] = find_other_versions(sight)
        return render(request, "judgments/versions.html", context)
    board = board_or_404(sight, request)
    topics = load_judged_topics(board.edition, load_evaluated_topics(board.edition))
    unjudged = build_unjudged_table(board, request.GET.get("measure", ""))
    if wants_csv(request):
        return _judgments_csv(request.GET.get("table", ""), board, topics, unjudged)
    context |= _judgments_context(board, topics, page_number(request)) | _unjudged_context(
        board, unjudged
    )
    return render(request, "judgments/versions.html", context)


def _judgments_csv(
    table: str, board: Board, topics: list[JudgedTopic], unjudged: UnjudgedTable
) -> HttpResponse:
    slug = board.sight.track.slug
    if table == "grades":
        return csv_file(f"{slug}-grades", *tabulate_grades(count_judgments(board.edition).grades))
    if table == "runs":
        return csv_file(f"{slug}-unjudged", *unjudged.table)
    return csv_file(f"{slug}-judgments", *tabulate_judged(board.edition, topics))


def _judgments_context(board: Board, topics: list[JudgedTopic], number: int) -> dict[str, object]:
    judgment_set, counts = board.edition.judgment_set, count_judgments(board.edition)
    grades = grade_lines(counts.grades, judgment_set.top_grade or 1, counts.threshold)
    page = Paginator(topics, TOPICS).get_page(number)
    most = max((sum(each.grades.values()) for each in topics), default=0)
    return {
        "edition": board.edition,
        "judgment_set": judgment_set,
        "counts": counts,
        "grades": grades,
        "num_pooled": judgment_set.pooled_runs.count(),
        "pool": find_pool(judgment_set, board.sight.viewer),
        "judged_by": wording.name_judges(judgment_set),
        "machine_card": MachineCard.objects.behind(judgment_set),
        "drawn": describe_estimates(judgment_set),
        "versions": find_other_versions(board.sight),
        "has_rankings": any(map(is_of_rankings, board.measures)),
        "organises_collection": board.sight.track.collection.is_organised_by(board.sight.viewer),
        "page": page,
        "most": most,
        "lines": [(topic, [topic.grades.get(line.grade, 0) for line in grades]) for topic in page],
    }


def _unjudged_context(board: Board, unjudged: UnjudgedTable) -> dict[str, object]:
    return {
        "board": board,
        "unjudged": unjudged,
        "test": wording.describe_test(board.sight.track.test, board.edition.num_evaluated),
        "unjudged_verdict": wording.unjudged_verdict(unjudged, board),
    }
