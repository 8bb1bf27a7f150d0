"""The topics of a track and the results of every run on one topic."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis import TopicBreakdown, build_topic_breakdown, topic_or_404
from leaderboard.analysis.answers import build_answers_beside
from leaderboard.analysis.documents import build_document_breakdown
from leaderboard.analysis.nuggets import NUGGET_ORDERS, WORDS, NuggetMatrix, build_matrix
from leaderboard.analysis.recall import TopicRecall, build_topic_recall
from leaderboard.analysis.summaries import (
    ORDERS,
    build_summaries,
    grade_lines,
    range_axis,
    tabulate_summaries,
)
from leaderboard.boards.disclosure import Sight, track_at_or_404
from leaderboard.boards.kept_pages import kept
from leaderboard.boards.page_keys import find_seen_track_at
from leaderboard.boards.standings import Board, find_untested_board
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.models import Run
from leaderboard.pages import wording
from leaderboard.pages.page_urls import CARRIED_PARAMETERS, TOPIC_FIELDS, carried_parameters
from leaderboard.pages.topic_rows import (
    answer_rows,
    draw_topic_recall,
    judged_lines,
    topic_strip,
)
from leaderboard.pages.views.lookups import (
    document_or_404,
    page_number,
    requested_choice,
    requested_topics,
)
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.scoring import judgments
from leaderboard.scoring.kinds import kind_of
from leaderboard.sight.visible_rows import can_read_documents

TOPICS = 100
# What the forms of the page of a topic keep of its address.
FORMS_KEEP = (*CARRIED_PARAMETERS, *TOPIC_FIELDS, "number")
# What the choice of runs keeps of the address of a topic.
FILTERS_KEEP = ("baseline", "family", "number", "order", "left", "right", *TOPIC_FIELDS)


@require_GET
@kept(find_seen_track_at)
def topics(request: HttpRequest, address: str) -> HttpResponse:
    """Every topic: with its judgments and scores where they may be seen, else its title."""
    sight = track_at_or_404(request.user, address)
    board = find_untested_board(sight, requested_choice(request))
    order, choice = request.GET.get("order", ""), requested_topics(request, sight)
    summaries = build_summaries(board) if board is not None else None
    if summaries is not None and wants_csv(request):
        every = summaries.at(summaries.in_order(order, choice.chosen))
        return csv_file(f"{sight.track.slug}-topics", *tabulate_summaries(every))
    known = sight.track.collection.topics
    known = known.all() if sight.can_see_topics else known.none()
    if choice.chosen.places is not None:
        known = known.filter(position__in=choice.chosen.places)
    every = summaries.in_order(order, choice.chosen) if summaries is not None else known
    page = Paginator(every, TOPICS).get_page(page_number(request))
    lines = summaries.at(list(page)) if summaries is not None else []
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "order": order if order in ORDERS else "",
        "page": page,
        "lines": lines,
        "axis": range_axis(lines),
        "topic_choice": choice,
    }
    return render(request, "topic/topics.html", context)


@require_GET
def judged_topics_file(request: HttpRequest, address: str) -> StreamingHttpResponse:
    """The topics that count on the board, one a line, for checking runs offline."""
    track = track_at_or_404(request.user, address).track
    # None of a track whose topics are not out, too: it shows no scores.
    judged = judgments.judged_topics(track)
    if judged is None:
        raise Http404("not everybody may know which topics are judged")
    return streamed_text("judged.txt", (f"{number.decode()}\n" for number in judged))


@require_GET
@kept(find_seen_track_at)
def topic(request: HttpRequest, address: str) -> HttpResponse:
    sight = track_at_or_404(request.user, address)
    found = topic_or_404(sight, request.GET.get("number", ""))
    board = find_untested_board(sight, requested_choice(request))
    breakdown = (
        build_topic_breakdown(board, found, page_number(request)) if board is not None else None
    )
    recall = _requested_recall(request, board, breakdown)
    matrix = build_matrix(board, found) if board is not None and sight.can_see_scores else None
    if wants_csv(request):
        if recall is not None and request.GET.get("table") == "recall":
            return csv_file(f"{sight.track.slug}-topic-recall", *recall.table)
        if matrix is not None and request.GET.get("table") == "nuggets":
            return csv_file(f"{sight.track.slug}-topic-nuggets", *matrix.table)
        return _table_csv(request, sight, breakdown)
    context = {
        "sight": sight,
        "track": sight.track,
        "topic": found,
        "steps": requested_topics(request, sight).chosen.around(found),
        "board": board,
        **(_nuggets_context(request, matrix, breakdown) if matrix is not None else {}),
        **(
            _breakdown_context(board, breakdown)
            if board is not None and breakdown is not None
            else {}
        ),
        **(_recall_context(request, recall) if recall is not None else {}),
        **(_texts_context(request, sight, breakdown) if breakdown is not None else {}),
    }
    return render(request, "topic/topic.html", context)


@require_GET
@kept(find_seen_track_at)
def document(request: HttpRequest, address: str) -> HttpResponse:
    """Show a document with its grades and its rank in every run of the board."""
    sight = track_at_or_404(request.user, address)
    collection, asked = sight.track.collection, request.GET.get("number", "")
    if not can_read_documents(request.user, collection):
        raise Http404("documents for others")
    found = document_or_404(collection, request.GET.get("docno", ""))
    topic = topic_or_404(sight, asked) if asked else None
    board = find_untested_board(sight, requested_choice(request))
    breakdown = build_document_breakdown(board, found.docno, topic) if board is not None else None
    if wants_csv(request):
        if breakdown is None:
            raise Http404("no such table")
        return csv_file(f"{sight.track.slug}-document-ranks", *breakdown.table)
    context = {
        "sight": sight,
        "track": sight.track,
        "document": found,
        "topic": topic,
        "board": board,
        "breakdown": breakdown,
        "came_from": _find_named_run(sight, request.GET.get("run", "")),
        "top_grade": (board.edition.judgment_set.top_grade or 1) if board is not None else 1,
    }
    return render(request, "topic/document.html", context)


def _find_named_run(sight: Sight, run_id: str) -> Run | None:
    run = sight.runs().filter(pk=run_id).first() if run_id else None
    return sight.with_shown_name(run) if run is not None else None


def _requested_recall(
    request: HttpRequest, board: Board | None, breakdown: TopicBreakdown | None
) -> TopicRecall | None:
    if board is None or breakdown is None:
        return None
    return build_topic_recall(board, breakdown, request.GET.get("run", ""))


def _recall_context(request: HttpRequest, recall: TopicRecall) -> dict[str, object]:
    return {
        "recall": recall,
        "recall_chart": draw_topic_recall(recall),
        "recall_kept": carried_parameters(request.GET, FORMS_KEEP),
    }


def _nuggets_context(
    request: HttpRequest, matrix: NuggetMatrix, breakdown: TopicBreakdown | None
) -> dict[str, object]:
    """Return who says which nugget, with the runs that have a column of their own here."""
    shown = [each.run for each in breakdown.columns] if breakdown is not None else matrix.runs
    asked = request.GET.get("order", "")
    order = asked if asked in NUGGET_ORDERS else next(iter(NUGGET_ORDERS))
    orders = {name: name == order for name in NUGGET_ORDERS if name != "group" or matrix.has_groups}
    return {
        "matrix": matrix.of(shown).sorted_by(order),
        "orders": orders,
        "mark_words": WORDS.items(),
    }


def _texts_context(
    request: HttpRequest, sight: Sight, breakdown: TopicBreakdown
) -> dict[str, object]:
    """Return two answers to read side by side, where runs are answers."""
    if not kind_of(sight.track).has_texts:
        return {}
    asked = [request.GET.get(side, "") for side in ("left", "right")]
    return {
        "texts": build_answers_beside(sight, breakdown, asked),
        "filters_kept": carried_parameters(request.GET, FILTERS_KEEP),
        "kinds": Run.Kind.values,
        "texts_kept": carried_parameters(request.GET, FORMS_KEEP),
    }


def _table_csv(
    request: HttpRequest, sight: Sight, breakdown: TopicBreakdown | None
) -> HttpResponse:
    """One of the page's tables; all judged documents are the judgments, which have their switch."""
    table = request.GET.get("table", "")
    if breakdown is None or table not in breakdown.tables:
        raise Http404("no such table")
    if table == "judged" and not sight.can_download_topic(breakdown.topic):
        raise Http404("no such table")
    return csv_file(f"{sight.track.slug}-topic-{table}", *breakdown.tables[table])


def _breakdown_context(board: Board, breakdown: TopicBreakdown) -> dict[str, object]:
    top = board.edition.judgment_set.top_grade or 1
    return {
        "breakdown": breakdown,
        "hands_out": board.sight.can_download_topic(breakdown.topic),
        "verdict": wording.topic_verdict(breakdown),
        "strip": topic_strip(breakdown, board),
        "answer_rows": answer_rows(breakdown, board, top),
        "judged_lines": judged_lines(breakdown),
        "grades": grade_lines(breakdown.grades, top, board.sight.track.relevance_threshold),
        "top_grade": top,
    }
