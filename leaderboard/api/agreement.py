"""Endpoints for organisers: how far judges agree, and what that does to a board."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Router

from leaderboard.analysis.corrected_means import FoundMeans, find_corrected_means
from leaderboard.analysis.judge_agreement import (
    JudgeAgreement,
    compute_assessor_agreement,
    compute_version_agreement,
)
from leaderboard.analysis.judge_boards import (
    BoardsByJudge,
    find_boards_of_assessors,
    find_boards_of_versions,
)
from leaderboard.api.assessments import assessment_or_404
from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.collections import collection_or_404
from leaderboard.api.errors import ApiError, permission_error
from leaderboard.api.fields import Label
from leaderboard.api.schemas import AgreementOut, CorrectedMeansOut, response_schemas
from leaderboard.boards.disclosure import sight_of, track_or_404
from leaderboard.display.csv_tables import Cell, CsvTable, is_missing, render_table
from leaderboard.infrastructure.downloads import text_file
from leaderboard.jobs.calculations import Awaited
from leaderboard.models import Collection, JudgmentSet
from leaderboard.sight.visible_rows import can_see_marks, is_judging

router = Router(tags=["assessments"])

TableName = Literal["statistics", "pairs", "grades", "confusion", "topics", "runs", "judges"]
AgreementFormat = Literal["json", "csv"]


@router.get(
    "/tracks/{slug:slug}/assessments/{slug:name}/agreement",
    auth=PUBLIC,
    response=response_schemas(AgreementOut),
)
def get_assessor_agreement(
    request: HttpRequest,
    slug: str,
    name: str,
    measure: Label = "",
    format: AgreementFormat = "json",
    table: TableName = "statistics",
) -> dict[str, Any] | HttpResponse:
    """Get how far the assessors agree, and the boards by each of them (organisers only).

    `csv` gives one `table`. The boards by judge are computed in the background: while
    `boards_follow` is true, ask again. You cannot read this while you judge here yourself.
    """
    user = viewer(request)
    assessment = assessment_or_404(user, slug, name)
    if not can_see_marks(assessment, user):
        raise permission_error("You judge here yourself. Marks are open to you after closing.")
    found = compute_assessor_agreement(assessment)
    by_judge = find_boards_of_assessors(track_or_404(user, slug), assessment, measure)
    return answer_with(f"{slug}-{name}-agreement", found, by_judge, format, table)


@router.get(
    "/collections/{slug:slug}/agreement", auth=PUBLIC, response=response_schemas(AgreementOut)
)
def get_version_agreement(
    request: HttpRequest,
    slug: str,
    first: Label,
    second: Label,
    track: Label = "",
    measure: Label = "",
    format: AgreementFormat = "json",
    table: TableName = "statistics",
) -> dict[str, Any] | HttpResponse:
    """Get how far two versions of judgments agree, and a board by each (organisers only).

    The boards are those of the runs of `track`, of your oldest track on the collection if you name
    none. You cannot read this while you judge on the collection yourself.
    """
    user = viewer(request)
    collection = collection_or_404(user, slug)
    if not collection.is_organised_by(user):
        raise Http404("no agreement to see")
    if is_judging(user, collection):
        raise permission_error("You judge here yourself. Marks are open to you after closing.")
    one, other = (find_version(collection, version) for version in (first, second))
    tracks = collection.tracks.organised_by(user).order_by("created_at")
    chosen = (tracks.filter(slug=track) if track else tracks).first()
    if chosen is None and track:
        raise Http404("no such track")
    sight = sight_of(chosen, user) if chosen is not None else None
    by_judge = find_boards_of_versions(sight, one, other, measure)
    found = compute_version_agreement(one.pk, other.pk)
    return answer_with(f"{slug}-{one}-{other}-agreement", found, by_judge, format, table)


@router.get(
    "/tracks/{slug:slug}/corrected-means",
    auth=PUBLIC,
    response=response_schemas(CorrectedMeansOut),
)
def get_corrected_means(
    request: HttpRequest,
    slug: str,
    machine: Label,
    measure: Label = "",
    against: Label = "",
    format: AgreementFormat = "json",
) -> dict[str, Any] | HttpResponse:
    """Get the means by a machine, corrected by its sample that people judged (organisers only).

    Differences are from the run `against`, by default the baseline. They are computed in the
    background: while `means_follow` is true, ask again. You cannot read this while you judge on
    the collection yourself.
    """
    user = viewer(request)
    sight = track_or_404(user, slug)
    if not sight.is_organiser:
        raise Http404("no corrected means to see")
    if is_judging(user, sight.track.collection):
        raise permission_error("You judge here yourself. Marks are open to you after closing.")
    version = find_version(sight.track.collection, machine)
    found = find_corrected_means(sight, version, measure, against)
    if format == "csv":
        if found.means is None:
            raise ApiError(409, "E_CONFLICT", found.note or "The means are not computed yet.")
        text = render_table(found.means.table)
        return text_file(f"{slug}-{machine}-corrected-means.csv", text, "text/csv")
    return serialise_means(found)


def serialise_means(found: FoundMeans) -> dict[str, Any]:
    """Return the numbers of the page; those that are not computed are left out."""
    head = {
        "machine": found.by_machine.version,
        "measure": found.measure or None,
        "note": found.note or None,
        "means_follow": found.awaited == Awaited.FOLLOWS,
    }
    means = found.means
    if means is None:
        return head
    return {
        **head,
        "against": means.against.pk if means.against is not None else None,
        "depth": means.depth,
        "documents": means.documents,
        "drawn": means.drawn,
        "judged": means.judged,
        "slope": means.slope,
        "power": means.power_any,
        "gainers": [each.run.pk for each in means.gainers],
        "plan": [asdict(each) for each in means.plan],
        "runs": serialise_table(means.table),
    }


def find_version(collection: Collection, version: str) -> JudgmentSet:
    ready = collection.judgment_sets.ready()
    found = ready.filter(version=version).first()
    if found is None:
        raise Http404("no such judgments")
    return found


def answer_with(
    name: str,
    found: JudgeAgreement,
    by_judge: BoardsByJudge,
    format: AgreementFormat,
    asked: TableName,
) -> dict[str, Any] | HttpResponse:
    """Return every table of the page, or one of them as CSV."""
    tables = found.tables | (by_judge.boards.tables if by_judge.boards is not None else {})
    if format == "csv":
        if asked not in tables:
            raise ApiError(409, "E_CONFLICT", "The boards by judge are not computed yet.")
        return text_file(f"{name}-{asked}.csv", render_table(tables[asked]), "text/csv")
    return {
        "judge_names": found.judges,
        "documents": found.num_documents,
        "note": None if found.num_documents else "No document has two grades.",
        "measure": by_judge.measure or None,
        "boards_follow": by_judge.awaited == Awaited.FOLLOWS,
        **{name: serialise_table(table) for name, table in tables.items()},
    }


def serialise_table(table: CsvTable) -> list[dict[str, Cell]]:
    """Return each row as an object; what has no value is null."""
    return [
        {
            str(head): None if is_missing(cell) else cell
            for head, cell in zip(table.head, row, strict=True)
        }
        for row in table.rows
    ]
