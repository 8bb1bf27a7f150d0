"""Collections: upload, review, judgments and documents."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.files.storage import default_storage
from django.core.paginator import Paginator
from django.db.models import Prefetch
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation.problems import Refused
from leaderboard.actions import collections as collection_actions
from leaderboard.actions.collections import (
    Replacements,
    record_download,
    replace_files,
    replace_judgments,
)
from leaderboard.actions.overviews import change_data_terms
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.actions.uploads import (
    CollectionFiles,
    accept_collection,
    accept_dataset,
    accept_judgments,
    unpack_beir,
)
from leaderboard.analysis.document_search import find_progress, search_documents, show_documents
from leaderboard.boards.data_files import TOPIC_FILES, sample_run_lines
from leaderboard.collections.choices import FORMATS_OF, ImportChoices, ImportChoicesForm
from leaderboard.collections.documents import open_documents
from leaderboard.collections.preview import read_judgments_preview, read_preview
from leaderboard.infrastructure.batches import iterate_batches
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.models import Collection, JudgmentSet, Pool, Topic, Track, User
from leaderboard.models.collections import MOST_INDEXED, ImportState
from leaderboard.pages.forms.collections import (
    FILES,
    CollectionForm,
    CollectionWordsForm,
    JudgmentsForm,
)
from leaderboard.pages.ranges import send_file
from leaderboard.pages.views.grading import Grading
from leaderboard.pages.views.lookups import (
    document_or_404,
    organised_collection_or_404,
    page_number,
)
from leaderboard.pages.views.reviews import (
    SetReview,
    earlier_set,
    imports_in_progress,
    review_of,
    review_of_judgments,
)
from leaderboard.pages.views.tokens import accept_token
from leaderboard.sight.visible_rows import (
    can_download_documents,
    can_download_topics,
    can_read_documents,
    can_see_documents,
    can_see_topics,
    find_coming_documents_date,
    find_coming_topics_date,
    visible_judgment_sets,
)

FIRST_TOPICS = 10
# Documents on a page of their list.
DOCUMENTS = 40
FOUND_DOCUMENTS = 10


@require_GET
def collections(request: HttpRequest) -> HttpResponse:
    seen = Prefetch("tracks", Track.objects.visible_to(request.user), to_attr="seen_tracks")
    found = Collection.objects.visible_to(request.user).prefetch_related(seen)
    organised = Collection.objects.organised_by(request.user).values_list("pk", flat=True)
    context = {
        "ready": [each for each in found if each.state == ImportState.READY],
        "on_their_way": [each for each in found if each.state != ImportState.READY],
        "organised": set(organised),
    }
    return render(request, "collection/collections.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def new_collection(request: HttpRequest) -> HttpResponse:
    if not request.user.may_organise:
        raise PermissionDenied
    form = CollectionForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        collection = form.save(commit=False)
        collection.owner = request.user
        try:
            _accept(collection, form.cleaned_data)
            return redirect("collection", slug=collection.slug)
        except NotAccepted as refusal:
            form.add_error(None, refusal.message)
    context = {"form": form, "upload_limit": settings.COLLECTION_UPLOAD_LIMIT}
    return render(request, "collection/new.html", context, status=422 if form.is_bound else 200)


def _accept(collection: Collection, said: dict[str, Any]) -> None:
    """Accept a new collection from a dataset, a zip of BEIR or single files."""
    if collection.dataset:
        accept_dataset(collection, said["version"])
    elif said["beir"]:
        with unpack_beir(said["beir"], said["split"]) as files:
            accept_collection(collection, files, said["version"])
    else:
        files = CollectionFiles(*(said[part] for part in FILES))
        accept_collection(collection, files, said["version"])


@require_GET
def collection(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a ready collection, or the review of one that is not imported yet."""
    return render(request, "collection/collection.html", _collection_context(request, slug))


@require_GET
def collection_state(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the progress of an import, which the page polls."""
    context = _collection_context(request, slug)
    context["is_over"] = not context["moving"]
    return render(request, "collection/_state.html", context)


def _collection_context(request: HttpRequest, slug: str) -> dict[str, object]:
    found = get_object_or_404(Collection.objects.visible_to(request.user), slug=slug)
    organises = found.is_organised_by(request.user)
    shows_topics = can_see_topics(request.user, found)
    pools = Pool.objects.organised_by(request.user).select_related("track")
    sets = visible_judgment_sets(request.user, found).select_related(
        "machine_card", "people_version", "machine_version", "joined_to"
    )
    seen = sets.prefetch_related(Prefetch("pool", pools))
    ready = seen.filter(state=ImportState.READY)
    waiting = seen.exclude(state=ImportState.READY) if organises else seen.none()
    return {
        "collection": found,
        "organises": organises,
        "first_set": found.judgment_sets.first(),
        "judgment_sets": ready,
        "waiting_sets": [SetReview(each, review_of_judgments(each)) for each in waiting],
        "moving": imports_in_progress(found, waiting) if organises else [],
        "review": review_of(found) if organises and found.state != ImportState.READY else None,
        "tracks": found.tracks.visible_to(request.user),
        "first_topics": found.topics.all()[:FIRST_TOPICS] if shows_topics else [],
        "topics_at": None if shows_topics else find_coming_topics_date(found),
        "documents_at": None
        if can_see_documents(request.user, found)
        else find_coming_documents_date(found),
        "form": JudgmentsForm(initial={"version": f"v{found.judgment_sets.count() + 1}"}),
    }


@login_required
@require_POST
def confirm_collection(request: HttpRequest, slug: str) -> HttpResponse:
    """Import a collection, or check it again with other choices."""
    found = organised_collection_or_404(request, slug)
    first_set = found.judgment_sets.first()
    judgments = read_preview(found).judgments
    grading = Grading.of(first_set, judgments) if first_set and judgments else None
    look, confirm = collection_actions.preview_choices, collection_actions.confirm_collection
    return _apply_answers(request, slug, grading, partial(look, found), partial(confirm, found))


def _apply_answers(
    request: HttpRequest,
    slug: str,
    grading: Grading | None,
    look: Callable[[User, ImportChoices], None],
    confirm: Callable[[User, ImportChoices], None],
) -> HttpResponse:
    preset = grading.preset(request.POST.get("preset", "")) if grading else None
    grades = [str(grade) for grade in grading.preview.grades] if grading else []
    form = ImportChoicesForm(request.POST, grades)
    if not form.is_valid():
        messages.error(request, "Choose one of the listed answers.")
        return redirect("collection", slug=slug)
    choices = form.choices()
    if preset is not None:
        choices = ImportChoices(grade_map=preset.grade_map, relevant_from=preset.relevant_from)
    try:
        if preset is not None or request.POST.get("act") == "look":
            look(request.user, choices)
            return redirect(reverse("collection", args=[slug]) + "#grades")
        confirm(request.user, choices)
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("collection", slug=slug)


@login_required
@require_POST
def check_again(request: HttpRequest, slug: str) -> HttpResponse:
    """Check a collection again, with replaced files if any were sent."""
    found = organised_collection_or_404(request, slug)
    parts = (*FORMATS_OF, "intents", "groups")
    files = Replacements(*(request.FILES.get(part) for part in parts))
    try:
        replace_files(found, request.user, files)
    except (ActionError, NotAccepted) as reason:
        messages.error(request, str(reason))
    return redirect("collection", slug=slug)


@login_required
@require_POST
def discard_collection(request: HttpRequest, slug: str) -> HttpResponse:
    found = organised_collection_or_404(request, slug)
    try:
        collection_actions.discard_collection(found, request.user)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("collection", slug=slug)
    return redirect("collections")


@login_required
@require_POST
def new_judgments(request: HttpRequest, slug: str) -> HttpResponse:
    """Upload a new version of the judgments; it is checked before it is imported."""
    found = organised_collection_or_404(request, slug)
    form = JudgmentsForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            accept_judgments(found, user=request.user, **form.cleaned_data)
            return redirect("collection", slug=slug)
        except NotAccepted as refusal:
            form.add_error("version", refusal.message)
    return render(
        request,
        "collection/collection.html",
        {**_collection_context(request, slug), "form": form},
        status=422,
    )


@login_required
@require_POST
def confirm_judgments(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    judgment_set = _organised_set_or_404(request, slug, version)
    preview = read_judgments_preview(judgment_set)
    grading = Grading.of(judgment_set, preview, earlier_set(judgment_set)) if preview else None
    look, confirm = collection_actions.check_judgments_again, collection_actions.confirm_judgments
    return _apply_answers(
        request, slug, grading, partial(look, judgment_set), partial(confirm, judgment_set)
    )


@login_required
@require_POST
def check_judgments_again(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Check new judgments again, with another file if one was sent."""
    judgment_set = _organised_set_or_404(request, slug, version)
    try:
        replaced, intents = (request.FILES.get(part) for part in ("judgments", "intents"))
        replace_judgments(judgment_set, request.user, replaced, intents)
    except (ActionError, NotAccepted, Refused) as reason:
        messages.error(request, str(reason))
    return redirect("collection", slug=slug)


@login_required
@require_POST
def discard_judgments(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    judgment_set = _organised_set_or_404(request, slug, version)
    try:
        collection_actions.discard_judgments(judgment_set, request.user)
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("collection", slug=slug)


@login_required
@require_GET
def changed_judgments(request: HttpRequest, slug: str, version: str) -> FileResponse:
    """Return every judgment that a version adds, changes or removes, as CSV."""
    judgment_set = _organised_set_or_404(request, slug, version)
    if not judgment_set.changes:
        raise Http404("nothing to compare with")
    file = default_storage.open(judgment_set.changes.name)
    name = f"{slug}-{version}-changes.csv"
    return FileResponse(file, as_attachment=True, filename=name, content_type="text/csv")


@login_required
@require_http_methods(["GET", "POST"])
def collection_words(request: HttpRequest, slug: str) -> HttpResponse:
    """Correct name, text, licence and source of a collection, for its organisers."""
    found = organised_collection_or_404(request, slug)
    form = CollectionWordsForm(request.POST or None, instance=found)
    if form.is_valid():
        # The form has changed its collection.
        stored = Collection.objects.get(pk=found.pk)
        change_data_terms(stored, request.user, form.cleaned_data)
        messages.success(request, "Saved. The activity log keeps earlier words.")
        return redirect("collection", slug=slug)
    # The page names the collection as it is stored.
    context = {"collection": Collection.objects.get(pk=found.pk), "form": form}
    return render(request, "collection/words.html", context, status=422 if form.is_bound else 200)


@require_GET
def document(request: HttpRequest, slug: str) -> HttpResponse:
    found = _readable_or_404(request, slug)
    document = document_or_404(found, request.GET.get("docno", ""))
    return render(request, "collection/document.html", {"collection": found, "document": document})


@require_GET
@accept_token
def documents_file(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Return the documents as they were uploaded; a broken download can be resumed."""
    found = _ready_or_404(request, slug)
    if not (found.documents_file and can_download_documents(request.user, found)):
        raise Http404("no documents to download")
    name = found.documents_filename or "documents"
    if "Range" not in request.headers:
        record_download(request.user, found, name, found.documents_readers)
    return send_file(request, found.documents_file, name, found.documents_sha256)


@require_GET
@accept_token
def topics_download(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Return the topics in TREC's form or as JSON lines, or the group of each."""
    found = _topics_or_404(request, slug)
    if kind not in TOPIC_FILES or (kind == "groups" and not found.num_groups):
        raise Http404("no such form")
    record_download(request.user, found, f"topics.{kind}", found.topics_readers)
    media = "application/jsonl" if kind == "jsonl" else "text/plain"
    return streamed_text(f"topics.{kind}", TOPIC_FILES[kind](found), media)


@require_GET
@accept_token
def sample_run(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a small valid run of the collection."""
    found = _topics_or_404(request, slug)
    if not found.documents or not can_see_documents(request.user, found):
        raise Http404("no documents")
    return streamed_text("sample.run", sample_run_lines(found))


@require_GET
def documents(request: HttpRequest, slug: str) -> HttpResponse:
    """List the documents of a collection or those with some words, or open one by its docno."""
    found = _readable_or_404(request, slug)
    if not found.documents:
        raise Http404("no documents")
    asked, words = (request.GET.get(name, "").strip() for name in ("docno", "words"))
    if words and found.words:
        return _found_documents(request, found, words)
    stored = open_documents(found.documents.name)
    if asked and stored.find(asked) is not None:
        return redirect(reverse("document", args=[slug], query={"docno": asked}))
    page = Paginator(range(len(stored)), DOCUMENTS).get_page(page_number(request))
    context = {
        "collection": found,
        "asked": asked,
        "words": words,
        "page": page,
        "documents": stored.at(page.object_list),
        "most_indexed": MOST_INDEXED,
        "progress": None if found.words else find_progress(found),
    }
    return render(request, "collection/documents.html", context, status=404 if asked else 200)


def _found_documents(request: HttpRequest, found: Collection, words: str) -> HttpResponse:
    search = search_documents(found, words)
    page = Paginator(search.places, FOUND_DOCUMENTS).get_page(page_number(request))
    context = {
        "collection": found,
        "words": words,
        "search": search,
        "page": page,
        "documents": show_documents(found, page.object_list, search.words),
    }
    return render(request, "collection/documents.html", context)


@require_GET
@accept_token
def topics_file(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Return the number and title of every topic, one per line."""
    found = _topics_or_404(request, slug)
    record_download(request.user, found, "topics.txt", found.topics_readers)
    topics = chain.from_iterable(iterate_batches(found.topics.all(), "position"))
    lines = (f"{topic.number}\t{_one_line(topic)}\n" for topic in topics)
    return streamed_text("topics.txt", lines)


@require_GET
@accept_token
def docnos_file(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Return every docno, one per line; 404 if the collection has no documents."""
    found = _ready_or_404(request, slug)
    if not found.documents or not can_see_documents(request.user, found):
        raise Http404("no documents")
    docnos = open_documents(found.documents.name).docnos()
    return streamed_text("docnos.txt", (f"{docno}\n" for docno in docnos))


def _one_line(topic: Topic) -> str:
    return " ".join((topic.title or topic.description).split())


def _organised_set_or_404(request: HttpRequest, slug: str, version: str) -> JudgmentSet:
    found = organised_collection_or_404(request, slug)
    return get_object_or_404(JudgmentSet, collection=found, version=version)


def _ready_or_404(request: HttpRequest, slug: str) -> Collection:
    return get_object_or_404(Collection.objects.visible_to(request.user).ready(), slug=slug)


def _topics_or_404(request: HttpRequest, slug: str) -> Collection:
    found = _ready_or_404(request, slug)
    if not can_download_topics(request.user, found):
        raise Http404("topics that are not out yet, or not for this reader")
    return found


def _readable_or_404(request: HttpRequest, slug: str) -> Collection:
    """Return a collection whose documents the reader of its file may read."""
    found = _ready_or_404(request, slug)
    if not can_read_documents(request.user, found):
        raise Http404("documents that are not out yet, or not for this reader")
    return found
