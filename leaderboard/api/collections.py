"""Collections and their judgments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from django.db import IntegrityError
from django.http import Http404, HttpRequest
from ninja import File, Form, Query, Router, Status, UploadedFile

from evaluation.problems import Refused
from leaderboard.actions import collections, uploads
from leaderboard.actions.overviews import change_data_terms
from leaderboard.actions.uploads import CollectionFiles, JudgmentsPart
from leaderboard.api.auth import ORGANISE, PUBLIC, viewer
from leaderboard.api.errors import ApiError, answers_error, field_error, permission_error
from leaderboard.api.fields import only_file, refuse_truncated_body
from leaderboard.api.listing import page_by_slug
from leaderboard.api.schemas import (
    CollectionIn,
    CollectionList,
    CollectionOut,
    CollectionReceipt,
    ConfirmIn,
    ConfirmJudgmentsIn,
    DataTerms,
    JudgmentsIn,
    JudgmentsOut,
    JudgmentsReceipt,
    Paging,
    response_schemas,
)
from leaderboard.collections.choices import FORMATS_OF, ImportChoices, is_format
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Collection, JudgmentSet, MachineCard, User
from leaderboard.models.collections import ImportState
from leaderboard.sight.tracks import Viewer
from leaderboard.sight.visible_rows import visible_judgment_sets

router = Router(tags=["collections"])

OptionalFile = Annotated[UploadedFile | None, File(None)]


@router.post("", auth=ORGANISE, response=response_schemas(CollectionReceipt, 202))
def create_collection(
    request: HttpRequest,
    form: Form[CollectionIn],
    topics: OptionalFile,
    documents: OptionalFile,
    docnos: OptionalFile,
    judgments: OptionalFile,
    intents: OptionalFile,
    groups: OptionalFile,
    beir: OptionalFile,
) -> Status[Collection]:
    """Add a collection: topics, documents (or only docnos) and judgments.

    Instead of them `beir` is a zip with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv.

    `intents` are the probabilities of the subtopics of the judgments, if these name subtopics.
    `groups` has lines `topic group`, such as conversations: tests then use whole groups.
    """
    user = viewer(request)
    if not user.may_organise:
        raise permission_error(
            "Your account cannot add collections. Ask an administrator for access."
        )
    refuse_truncated_body(request)
    collection = build_collection(form, user, only_docnos=docnos is not None)
    top_grade = None if form.grade_scale is None else int(form.grade_scale.partition("-")[2])
    try:
        with open_collection_files(request, form.split) as files:
            uploads.accept_collection(
                collection, files, version=form.judgments_version, top_grade=top_grade
            )
    except IntegrityError:
        raise field_error("slug", "is already in use", form.slug) from None
    return Status(202, collection)


def build_collection(form: CollectionIn, owner: User, only_docnos: bool) -> Collection:
    if Collection.objects.filter(slug=form.slug).exists():
        raise field_error("slug", "is already in use; choose another", form.slug)
    formats = check_formats(form.formats)
    if only_docnos:
        formats["documents"] = "docnos"
    return Collection(
        slug=form.slug,
        name=form.name,
        owner=owner,
        asks_first=form.confirm == "ask",
        formats=formats,
    )


@contextmanager
def open_collection_files(request: HttpRequest, split: str) -> Iterator[CollectionFiles]:
    """Yield the files of a new collection: those of a zip of BEIR, or single ones."""
    beir = only_file(request, "beir")
    if beir is None:
        yield read_files(request)
        return
    if len(request.FILES) > 1:
        raise field_error("beir", "cannot be combined with other files")
    with uploads.unpack_beir(beir, split) as files:
        yield files


def read_files(request: HttpRequest) -> CollectionFiles:
    if only_file(request, "topics") is None:
        raise field_error("topics", "is required, unless beir is sent")
    documents, docnos = only_file(request, "documents"), only_file(request, "docnos")
    if documents is not None and docnos is not None:
        raise field_error("docnos", "cannot be combined with documents; upload one of the two")
    return CollectionFiles(
        topics=only_file(request, "topics"),
        documents=documents or docnos,
        judgments=only_file(request, "judgments"),
        intents=only_file(request, "intents"),
        groups=only_file(request, "groups"),
    )


def check_formats(formats: dict[str, Any]) -> dict[str, str]:
    for part, format in formats.items():
        if part not in FORMATS_OF:
            raise field_error("formats", f"are of {', '.join(FORMATS_OF)}", part)
        if not is_format(part, str(format)):
            known = ", ".join(FORMATS_OF[part])
            raise field_error("formats", f"of {part}: {known}", str(format))
    return dict(formats)


@router.get("", auth=PUBLIC, response=response_schemas(CollectionList), exclude_unset=True)
def list_collections(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    page = page_by_slug(Collection.objects.visible_to(viewer(request)), paging)
    items = [serialise_collection(viewer(request), collection) for collection in page.items]
    return {"items": items, "next": page.next}


@router.get(
    "/{slug:slug}", auth=PUBLIC, response=response_schemas(CollectionOut), exclude_unset=True
)
def get_collection(request: HttpRequest, slug: str) -> dict[str, Any]:
    return serialise_collection(viewer(request), collection_or_404(viewer(request), slug))


@router.patch(
    "/{slug:slug}", auth=ORGANISE, response=response_schemas(CollectionOut), exclude_unset=True
)
def change_collection(request: HttpRequest, slug: str, body: DataTerms) -> dict[str, Any]:
    """Change who may download its files, and its licence. Omitted fields do not change."""
    user = viewer(request)
    collection = organised_collection_or_403(user, slug)
    terms = body.model_dump(exclude_unset=True)
    change_data_terms(collection, user, terms)
    return serialise_collection(user, collection)


def collection_or_404(user: Viewer, slug: str) -> Collection:
    collection = Collection.objects.visible_to(user).filter(slug=slug).first()
    if collection is None:
        raise Http404("no such collection")
    return collection


def organised_collection_or_403(user: Viewer, slug: str) -> Collection:
    collection = collection_or_404(user, slug)
    if not collection.is_organised_by(user):
        raise permission_error("Only organisers of this collection can do this.")
    return collection


def serialise_collection(user: Viewer, collection: Collection) -> dict[str, Any]:
    """Serialise a collection for `user`; only organisers see the preview."""
    organises = collection.is_organised_by(user)
    counts = {"documents": collection.num_documents, "topics": collection.num_topics}
    if collection.num_groups:
        counts["groups"] = collection.num_groups
    receipt = CollectionReceipt.from_orm(collection).dict()
    terms = DataTerms.from_orm(collection).dict()
    answer = {**receipt, "name": collection.name, "counts": counts, "terms": terms}
    sets = list(visible_judgment_sets(user, collection))
    if sets or organises:
        newest = next((each for each in reversed(sets) if each.state == ImportState.READY), None)
        counts["judgments"] = newest.num_judgments if newest is not None else 0
        answer["judgment_sets"] = [serialise_judgments(each, organises=False) for each in sets]
    if organises:
        names = ("preview", "questions", "problems", "problem_totals")
        answer |= {name: getattr(collection, name) for name in names}
    return answer


def serialise_judgments(judgment_set: JudgmentSet, organises: bool) -> dict[str, Any]:
    answer = {
        "version": judgment_set.version,
        "state": judgment_set.state,
        "counts": {
            "judgments": judgment_set.num_judgments,
            "topics": judgment_set.num_topics,
            "relevant": judgment_set.num_relevant,
            "grades": judgment_set.grade_counts,
            **serialise_form(judgment_set),
        },
        "sha256": judgment_set.sha256,
    }
    if judgment_set.made_by:
        answer["made_by"] = judgment_set.made_by
    if organises:
        said = ("note", "grade_map", "relevant_from")
        found = ("preview", "questions", "problems", "problem_totals")
        answer |= {name: getattr(judgment_set, name) for name in said + found}
        whole = judgment_set.joined_to
        answer["joined_to"] = None if whole is None else whole.version
    return answer


def serialise_makers(judgment_set: JudgmentSet) -> dict[str, Any]:
    """Serialise the card of a machine, or the versions that judgments by both are made of."""
    made: dict[str, Any] = {}
    card = MachineCard.objects.filter(judgment_set=judgment_set).first()
    if card is not None:
        made["machine"] = card
    if judgment_set.people_version is not None and judgment_set.machine_version is not None:
        made["sources"] = judgment_set
    return made


def serialise_form(judgment_set: JudgmentSet) -> dict[str, int]:
    """Count strata, subtopics and their probabilities; nothing for ordinary judgments."""
    counts = {
        "strata": judgment_set.num_strata,
        "subtopics": judgment_set.num_subtopics,
        "intents": judgment_set.num_intents,
    }
    return {name: count for name, count in counts.items() if count}


@router.post(
    "/{slug:slug}/confirm", auth=ORGANISE, response=response_schemas(CollectionReceipt, 202)
)
def confirm_collection(request: HttpRequest, slug: str, body: ConfirmIn) -> Status[Collection]:
    """Import the previewed files, or recheck them with new answers first."""
    user = viewer(request)
    collection = organised_collection_or_403(user, slug)
    said = ImportChoices(
        formats=None if body.formats is None else check_formats(body.formats),
        grade_map=None if body.grade_map is None else check_grades(body.grade_map),
        relevant_from=body.relevant_from,
        renumber_topics=body.renumber_topics,
        grouping=body.grouping,
    )
    collections.confirm_collection(collection, user, said)
    collection.refresh_from_db()
    return Status(202, collection)


def check_grades(grade_map: dict[str, Any]) -> dict[str, int]:
    for grade, becomes in grade_map.items():
        if not is_grade(grade) or not is_grade(str(becomes)):
            raise field_error("grade_map", "maps grades from -127 to 127", f"{grade}: {becomes}")
    return {grade: int(becomes) for grade, becomes in grade_map.items()}


def is_grade(text: str) -> bool:
    number = read_whole_number(text.removeprefix("-"))
    return number is not None and number <= 127


@router.post(
    "/{slug:slug}/judgments", auth=ORGANISE, response=response_schemas(JudgmentsReceipt, 202)
)
def create_judgments(
    request: HttpRequest,
    slug: str,
    form: Form[JudgmentsIn],
    file: File[UploadedFile],
    intents: OptionalFile,
) -> Status[JudgmentSet]:
    """Add a new version of the judgments. Older versions do not change.

    `intents` are the probabilities of its subtopics, if it names subtopics.
    """
    user = viewer(request)
    collection = organised_collection_or_403(user, slug)
    refuse_truncated_body(request)
    if collection.state != ImportState.READY:
        raise ApiError(409, "E_CONFLICT", "The collection is not ready yet.")
    if collection.judgment_sets.filter(version=form.version).exists():
        raise field_error("version", "already exists; judgments are never replaced", form.version)
    if form.format and not is_format("judgments", form.format):
        known = ", ".join(FORMATS_OF["judgments"])
        raise field_error("format", f"is one of {known}, or the columns", form.format)
    judgment_set = uploads.accept_judgments(
        collection,
        only_file(request, "file") or file,
        form.version,
        user,
        note=form.note,
        format=form.format,
        asks_first=form.confirm == "ask",
        intents=only_file(request, "intents"),
        part=JudgmentsPart(
            form.joining, find_whole(collection, form.joined_to), form.conflict_rule
        ),
    )
    return Status(202, judgment_set)


def find_whole(collection: Collection, version: str | None) -> JudgmentSet | None:
    """Return the version that a file is to be added to; None stands for the latest."""
    if version is None:
        return None
    found = collection.judgment_sets.ready().filter(version=version).first()
    if found is None:
        raise field_error("joined_to", "is not a version of this collection", version)
    return found


@router.post(
    "/{slug:slug}/judgments/{slug:version}/confirm",
    auth=ORGANISE,
    response=response_schemas(JudgmentsReceipt, 202),
)
def confirm_judgments(
    request: HttpRequest, slug: str, version: str, body: ConfirmJudgmentsIn
) -> Status[JudgmentSet]:
    """Import the previewed judgments, or recheck them with new answers first."""
    user = viewer(request)
    judgment_set = organised_judgments_or_403(user, slug, version)
    said = ImportChoices(
        formats=check_formats({"judgments": body.format}) if body.format else None,
        grade_map=None if body.grade_map is None else check_grades(body.grade_map),
        relevant_from=body.relevant_from,
        renumber_topics=body.renumber_topics,
        joining=body.joining,
        conflict_rule=body.conflict_rule,
    )
    collections.confirm_judgments(judgment_set, user, said)
    judgment_set.refresh_from_db()
    return Status(202, judgment_set)


def organised_judgments_or_403(user: Viewer, slug: str, version: str) -> JudgmentSet:
    judgment_set = (
        organised_collection_or_403(user, slug).judgment_sets.filter(version=version).first()
    )
    if judgment_set is None:
        raise Http404("no such judgments")
    return judgment_set


@router.post(
    "/{slug:slug}/judgments/{slug:version}/replace",
    auth=ORGANISE,
    response=response_schemas(JudgmentsReceipt, 202),
)
def replace_judgments(
    request: HttpRequest,
    slug: str,
    version: str,
    file: File[UploadedFile],
    intents: OptionalFile,
) -> Status[JudgmentSet]:
    """Replace a file before import. It is checked, then awaits confirmation."""
    user = viewer(request)
    judgment_set = organised_judgments_or_403(user, slug, version)
    refuse_truncated_body(request)
    sent = only_file(request, "file") or file
    try:
        collections.replace_judgments(judgment_set, user, sent, only_file(request, "intents"))
    except Refused as refusal:
        raise answers_error(refusal) from None
    judgment_set.refresh_from_db()
    return Status(202, judgment_set)


@router.delete(
    "/{slug:slug}/judgments/{slug:version}", auth=ORGANISE, response=response_schemas(None, 204)
)
def discard_judgments(request: HttpRequest, slug: str, version: str) -> Status[None]:
    """Delete judgments that were never imported."""
    user = viewer(request)
    collections.discard_judgments(organised_judgments_or_403(user, slug, version), user)
    return Status(204, None)


@router.get(
    "/{slug:slug}/judgments/{slug:version}",
    auth=PUBLIC,
    response=response_schemas(JudgmentsOut),
    exclude_unset=True,
)
def get_judgments(request: HttpRequest, slug: str, version: str) -> dict[str, Any]:
    user = viewer(request)
    collection = collection_or_404(user, slug)
    judgment_set = visible_judgment_sets(user, collection).filter(version=version).first()
    if judgment_set is None:
        raise Http404("no such judgments")
    answer = serialise_judgments(judgment_set, organises=collection.is_organised_by(user))
    return answer | serialise_makers(judgment_set)
