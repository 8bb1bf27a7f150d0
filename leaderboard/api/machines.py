"""Judgments by machines: documents ready for prompting, import of answers, and filled judgments."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import Http404, HttpRequest, StreamingHttpResponse
from ninja import File, Form, Router, Status, UploadedFile

from evaluation.problems import Refused
from leaderboard.actions import machine_judgments
from leaderboard.actions.machine_judgments import ImportedAnswers
from leaderboard.api.assessments import assessment_or_404
from leaderboard.api.auth import ORGANISE, PUBLIC, viewer
from leaderboard.api.collections import (
    collection_or_404,
    organised_collection_or_403,
)
from leaderboard.api.errors import answers_error, field_error, permission_error
from leaderboard.api.fields import only_file, refuse_truncated_body
from leaderboard.api.schemas import (
    CardIn,
    FillUnjudgedIn,
    ImportedAnswersOut,
    JudgmentsReceipt,
    MachineAnswersIn,
    response_schemas,
)
from leaderboard.boards.disclosure import track_or_404
from leaderboard.collections.machine_replies import Judged, render_replies
from leaderboard.collections.prompting import (
    render_assessment_prompts,
    render_pool_prompts,
    render_version_prompts,
)
from leaderboard.infrastructure.downloads import streamed_bytes
from leaderboard.models import Collection, JudgmentSet, Pool
from leaderboard.models.collections import ImportState
from leaderboard.sight.tracks import Viewer
from leaderboard.sight.visible_rows import (
    can_download_replies,
    can_see_marks,
    can_see_prompts,
    can_see_topics,
    visible_judgment_sets,
    visible_layers_by_machines,
    visible_versions_behind,
)

router = Router(tags=["machine judgments"])


@router.post(
    "/collections/{slug:slug}/machine-judgments",
    auth=ORGANISE,
    response=response_schemas(ImportedAnswersOut, 202),
)
def import_machine_judgments(
    request: HttpRequest, slug: str, form: Form[MachineAnswersIn], file: File[UploadedFile]
) -> Status[ImportedAnswers]:
    """Import the answers of a machine as a version of its own, with its card.

    Formats: JSON Lines (an exported line with a `grade`, or records of umbrela), four columns and
    CSV. Failed answers and grades above `highest_grade` stay unjudged. Repeat a document to show
    how far the machine agrees with itself; its first answer with a grade counts.
    """
    user = viewer(request)
    collection = organised_collection_or_403(user, slug)
    refuse_truncated_body(request)
    if collection.judgment_sets.filter(version=form.version).exists():
        raise field_error("version", "already exists; judgments are never replaced", form.version)
    try:
        imported = machine_judgments.import_machine_answers(
            collection,
            user,
            only_file(request, "file") or file,
            form.version,
            {name: getattr(form, name) for name in CardIn.model_fields},
            note=form.note,
            format=form.format,
            highest_grade=form.highest_grade,
            asks_first=form.confirm == "ask",
        )
    except Refused as refusal:
        raise answers_error(refusal) from None
    return Status(202, imported)


@router.post(
    "/collections/{slug:slug}/fill-unjudged",
    auth=ORGANISE,
    response=response_schemas(JudgmentsReceipt, 202),
)
def fill_unjudged(request: HttpRequest, slug: str, body: FillUnjudgedIn) -> Status[JudgmentSet]:
    """Make a version with the grades of people, and a machine's where people gave none.

    Both versions stay unchanged.
    """
    user = viewer(request)
    collection = organised_collection_or_403(user, slug)
    people, machine = (
        find_version(user, collection, name, getattr(body, name)) for name in ("people", "machine")
    )
    made = machine_judgments.fill_unjudged(people, machine, user, body.version, note=body.note)
    return Status(202, made)


def find_version(user: Viewer, collection: Collection, name: str, version: str) -> JudgmentSet:
    """Return the version that a field names."""
    seen = visible_judgment_sets(user, collection).filter(state=ImportState.READY)
    found = seen.filter(version=version).first()
    if found is None:
        raise field_error(name, "is no imported version of this collection", version)
    return found


@router.get("/collections/{slug:slug}/judgments/{slug:version}/prompts", auth=PUBLIC)
def get_version_prompts(request: HttpRequest, slug: str, version: str) -> StreamingHttpResponse:
    """Download the judged documents ready for prompting, without grades (organisers only).

    Each line of the JSON Lines has `id`, `topic`, `guideline`, `docno`, `title` and `text`. Add a
    `grade` to each line, and the file is one of answers.
    """
    user = viewer(request)
    collection = collection_or_404(user, slug)
    seen = visible_judgment_sets(user, collection).filter(state=ImportState.READY)
    judgment_set = seen.filter(version=version).first()
    if judgment_set is None or not collection.is_organised_by(user):
        raise Http404("no such judgments")
    return prompts_file(f"{slug}-{version}", render_version_prompts(judgment_set))


@router.get("/tracks/{slug:slug}/pools/{slug:pool}/prompts", auth=PUBLIC)
def get_pool_prompts(request: HttpRequest, slug: str, pool: str) -> StreamingHttpResponse:
    """Download the whole of an approved pool ready for prompting (organisers only)."""
    sight = track_or_404(viewer(request), slug)
    found = sight.track.pools.filter(name=pool, state=Pool.State.KEPT).first()
    if found is None or not sight.is_organiser:
        raise Http404("no such pool")
    return prompts_file(f"{slug}-{pool}", render_pool_prompts(found))


@router.get("/tracks/{slug:slug}/assessments/{slug:name}/prompts", auth=PUBLIC)
def get_assessment_prompts(request: HttpRequest, slug: str, name: str) -> StreamingHttpResponse:
    """Download the pool of an assessment with its guideline, ready for prompting (organisers only).

    You cannot read it while you judge in this assessment yourself.
    """
    user = viewer(request)
    assessment = assessment_or_404(user, slug, name)
    if not can_see_marks(assessment, user):
        raise permission_error("You judge here yourself. The file is open to you after closing.")
    return prompts_file(f"{slug}-{name}", render_assessment_prompts(assessment))


def prompts_file(name: str, lines: Iterator[bytes]) -> StreamingHttpResponse:
    return streamed_bytes(f"{name}-prompts.jsonl", lines, "application/jsonl")


@router.get("/collections/{slug:slug}/judgments/{slug:version}/replies", auth=PUBLIC)
def get_machine_replies(request: HttpRequest, slug: str, version: str) -> StreamingHttpResponse:
    """Download the replies of a version's machine, where boards by its grades may be downloaded.

    Each line of the JSON Lines has `topic`, `item` (the docno), `text`, `label`, `prompt`,
    `prompt_hash`, `model`, `version`, `temperature` and `cost`, as far as the imported file names
    them. Prompts are empty for those who may not download the documents.
    """
    user = viewer(request)
    collection = collection_or_404(user, slug)
    found = visible_versions_behind(user, collection).filter(version=version).first()
    if found is None or not can_see_topics(user, collection):
        raise Http404("no such judgments")
    if not can_download_replies(user, found):
        raise Http404("no such file")
    return replies_file(found, can_see_prompts(user, collection))


@router.get("/tracks/{slug:slug}/layers/{slug:version}/replies", auth=PUBLIC)
def get_layer_replies(request: HttpRequest, slug: str, version: str) -> StreamingHttpResponse:
    """Download the replies of a layer's machine; `item` names an answer, or sentence and document.

    The fields are those of the replies about documents. Organisers read prompts, and those who
    may download the documents.
    """
    sight = track_or_404(viewer(request), slug)
    found = visible_layers_by_machines(sight).filter(version=version).first()
    if found is None or not sight.can_download_judgments:
        raise Http404("no such file")
    is_open = can_see_prompts(sight.viewer, sight.track.collection)
    return replies_file(found, sight.is_organiser or is_open)


def replies_file(judged: Judged, shows_prompts: bool) -> StreamingHttpResponse:
    lines = render_replies(judged, shows_prompts)
    return streamed_bytes(f"{judged.version}-replies.jsonl", lines, "application/jsonl")
