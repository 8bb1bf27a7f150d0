"""Agreement of judges: the assessors of an assessment, or two versions of the judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis.judge_agreement import (
    JudgeAgreement,
    compute_assessor_agreement,
    compute_version_agreement,
)
from leaderboard.analysis.judge_boards import (
    BoardsByJudge,
    JudgedBoards,
    find_boards_of_assessors,
    find_boards_of_versions,
)
from leaderboard.assessments.kinds import kind_of_judging, title_documents, title_items
from leaderboard.assessments.shared_grades import (
    GradedDocument,
    documents_of_versions,
    find_documents_with_grades,
    find_judged_in_both,
)
from leaderboard.boards.disclosure import Sight, sights_of
from leaderboard.display import charts
from leaderboard.display.latex import render_latex_table
from leaderboard.infrastructure.downloads import text_file
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Collection, Judgment, JudgmentSet, Pool, Topic, Track
from leaderboard.pages import wording
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import (
    OrganisedAssessment,
    choose_requested_topics,
    organised_assessment_or_404,
    organised_collection_or_404,
    page_number,
    requested_topics,
)
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.sight.visible_rows import is_judging

DOCUMENTS_PER_PAGE = 50
# What a reader chooses on these pages.
CHOICES = ("first", "second", "track", "measure")


@login_required
@require_GET
def assessment_agreement(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Show how far assessors agree, and what that does to the board."""
    seen = organised_assessment_or_404(request, address, name)
    if not seen.shows_marks:
        return render(request, "judging/agreement.html", seen.context)
    if "row" in request.GET:
        grades = _requested_grades(request)
        documents = find_documents_with_grades(seen.assessment, *grades)
        context = seen.context | _list_documents(
            request, documents, seen.sight.track.collection, seen.assessment.pool
        )
        return render(request, "judging/agreement_documents.html", context)
    choice = requested_topics(request, seen.sight)
    found = compute_assessor_agreement(seen.assessment).on(choice.chosen)
    by_judge = _find_boards(request, seen)
    answer = _answer_with_table(
        request, f"{seen.sight.track.slug}-{name}-agreement", found, by_judge
    )
    context = seen.context | _describe(request, found, by_judge, "assessors")
    context["topic_choice"] = choice
    return answer or render(request, "judging/agreement.html", context)


def _find_boards(request: HttpRequest, seen: OrganisedAssessment) -> BoardsByJudge:
    """Return the boards by each assessor; labels of answers have none of their own yet."""
    if kind_of_judging(seen.assessment).is_of_answers:
        return BoardsByJudge([], "")
    return find_boards_of_assessors(seen.sight, seen.assessment, request.GET.get("measure", ""))


@login_required
@require_GET
def versions_agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how far two versions of judgments agree, and what that does to a board."""
    collection = organised_collection_or_404(request, slug)
    versions = list(collection.judgment_sets.ready())
    sights = _organised_sights(request, collection)
    context = {"collection": collection, "versions": versions, "sights": sights}
    if is_judging(request.user, collection):
        return render(request, "judgments/agreement.html", {**context, "judges_here": True})
    first, second = _requested_versions(request, versions)
    if first is None or second is None:
        return render(request, "judgments/agreement.html", context)
    context |= {"first": first, "second": second}
    if "row" in request.GET:
        both = find_judged_in_both(first, second)
        row, column = _requested_grades(request)
        listed = _DocumentsOfVersions(both.filter(grade=row, other=column), first, second)
        context |= _list_documents(request, listed, collection)
        return render(request, "judgments/agreement_documents.html", context)
    choice = choose_requested_topics(request, collection)
    found = compute_version_agreement(first.pk, second.pk).on(choice.chosen)
    sight = _requested_sight(request, sights)
    by_judge = find_boards_of_versions(sight, first, second, request.GET.get("measure", ""))
    name = f"{slug}-{first}-{second}-agreement"
    answer = _answer_with_table(request, name, found, by_judge)
    context |= {"sight": sight, "topic_choice": choice}
    context |= _describe(request, found, by_judge, "versions")
    return answer or render(request, "judgments/agreement.html", context)


def _organised_sights(request: HttpRequest, collection: Collection) -> list[Sight]:
    """Return the tracks of a collection that the viewer organises, the oldest first."""
    tracks = Track.objects.organised_by(request.user).filter(collection=collection)
    return sights_of(list(tracks.order_by("created_at")), request.user)


def _requested_sight(request: HttpRequest, sights: Sequence[Sight]) -> Sight | None:
    asked = request.GET.get("track", "")
    return next((each for each in sights if each.track.slug == asked), next(iter(sights), None))


def _requested_versions(
    request: HttpRequest, versions: Sequence[JudgmentSet]
) -> tuple[JudgmentSet | None, JudgmentSet | None]:
    """Return the two versions that the address names, or the latest two."""
    named = {each.version: each for each in versions}
    asked = [request.GET.get(name, "") for name in ("first", "second")]
    if any(version and version not in named for version in asked):
        raise Http404("no such version")
    if len(versions) < 2:
        return None, None
    usual = [each.version for each in versions[-2:]]
    first, second = (named[version or other] for version, other in zip(asked, usual, strict=True))
    return first, second


def _requested_grades(request: HttpRequest) -> tuple[int, int]:
    """Return the grades of the cell of the table that the address names."""
    row, column = (read_whole_number(request.GET.get(name, "")) for name in ("row", "column"))
    if row is None or column is None:
        raise Http404("no such grades")
    return row, column


@dataclass(frozen=True)
class _DocumentsOfVersions:
    """The documents of two versions, read page by page."""

    judgments: QuerySet[Judgment]
    first: JudgmentSet
    second: JudgmentSet

    def __len__(self) -> int:
        return self.judgments.count()

    def __getitem__(self, place: slice) -> list[GradedDocument]:
        return documents_of_versions(self.judgments[place], self.first, self.second)


def _list_documents(
    request: HttpRequest, documents: Any, collection: Collection, pool: Pool | None = None
) -> dict[str, object]:
    """Return a page of the documents in one cell of the table, each with its topic and title."""
    row, column = _requested_grades(request)
    page = Paginator(documents, DOCUMENTS_PER_PAGE).get_page(page_number(request))
    shown: list[GradedDocument] = list(page)
    topics = Topic.objects.in_bulk({each.topic for each in shown})
    named = [(topics[each.topic], each.docno) for each in shown]
    titles = title_items(pool, named) if pool else title_documents(collection, named)
    lines = [
        (each, topic, titles[topic.pk, each.docno])
        for each, (topic, _) in zip(shown, named, strict=True)
    ]
    return {"row": row, "column": column, "page": page, "lines": lines}


def _answer_with_table(
    request: HttpRequest, name: str, found: JudgeAgreement, by_judge: BoardsByJudge
) -> HttpResponse | None:
    """Return a table as CSV or LaTeX if the address asks for one."""
    wants_tex = request.GET.get("format") == "tex"
    if not (wants_csv(request) or wants_tex):
        return None
    asked = request.GET.get("table", "statistics")
    of_boards = by_judge.boards.tables if by_judge.boards is not None else {}
    table = (found.tables | of_boards).get(asked)
    if table is None:
        raise Http404("no such table")
    if wants_tex:
        text = render_latex_table(table, wording.caption_agreement(found, by_judge.boards))
        return text_file(f"{name}-{asked}.tex", text, "application/x-tex")
    return csv_file(f"{name}-{asked}", *table)


def _describe(
    request: HttpRequest, found: JudgeAgreement, by_judge: BoardsByJudge, judges: str
) -> dict[str, object]:
    """Return what both pages print."""
    boards = by_judge.boards
    return {
        "found": found,
        "judges": judges,
        "by_judge": by_judge,
        "boards": boards,
        **(_draw_ranks(request, boards) if boards is not None else {}),
        "verdict": wording.agreement_verdict(found, boards, judges),
        "top_grade": max(found.grades, default=1),
    }


def _draw_ranks(request: HttpRequest, boards: JudgedBoards) -> dict[str, object]:
    """Return each run with its ranks over random choices of judges as a cell."""
    column = charts.rank_column(len(boards.runs))
    lines = [
        (each, charts.mixed_ranks(column, each.place.rank, each.best, each.worst, each.kind))
        for each in boards.runs
    ]
    return {
        "rank_axis": charts.column_head(column),
        "runs": shorten(request, "runs", "run", lines, carried=CHOICES),
    }
