"""Nuggets and marks of a track of answers: the bank, its imports, and one nugget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import tracks, versions
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.analysis import topic_or_404
from leaderboard.analysis.judge_agreement import compute_layer_agreement
from leaderboard.analysis.nuggets import (
    build_nugget_page,
    find_bank,
    read_bank,
    tabulate_bank,
)
from leaderboard.assessments.kinds import KINDS
from leaderboard.boards.disclosure import Sight, track_at_or_404
from leaderboard.boards.nugget_files import (
    NUGGET_FORMATS,
    marks_name,
    nuggets_name,
    render_marks,
    render_nuggets,
    render_results,
    results_name,
)
from leaderboard.boards.standings import find_visible_board
from leaderboard.collections.nugget_drafts import find_open_draft
from leaderboard.collections.nuggets import compare_versions
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.models import Edition, MarkLayer, NuggetVersion, Track
from leaderboard.models.collections import ImportedVersion
from leaderboard.pages import wording
from leaderboard.pages.forms.nuggets import LayerForm, NuggetsForm
from leaderboard.pages.views.imported_versions import (
    act_on_version,
    follow_once_done,
    review_versions,
)
from leaderboard.pages.views.lookups import (
    organised_sight_or_403,
    page_number,
    requested_choice,
    requested_sight,
    requested_topics,
    text_of,
)
from leaderboard.pages.views.tables import csv_file
from leaderboard.pages.views.versions import find_impact
from leaderboard.scoring.answer_marks import find_layer
from leaderboard.scoring.editions import find_edition, with_layer
from leaderboard.scoring.kinds import kind_of
from leaderboard.sight.visible_rows import visible_layers_by_machines

TOPICS = 20
# The rows of a track that are versions read from files, by their noun.
VERSIONS = {"nuggets": NuggetVersion, "marks": MarkLayer}


@require_GET
def nuggets(request: HttpRequest, address: str) -> HttpResponse:
    """Show the nuggets of a track; organisers also see versions, layers and what waits."""
    sight = requested_sight(request, address)
    refuse_without_texts(sight)
    context = _nuggets_context(request, sight)
    shown = render(request, "nuggets/nuggets.html", context)
    return follow_once_done(request, shown, context.get("waiting", []))


def refuse_without_texts(sight: Sight) -> None:
    if not kind_of(sight.track).has_texts:
        raise Http404("runs of this track are no answers")


def _nuggets_context(request: HttpRequest, sight: Sight, **forms: ModelForm) -> dict[str, Any]:
    track, bank = sight.track, find_bank(sight)
    context: dict[str, Any] = {"sight": sight, "track": track, "bank": bank}
    if bank is not None:
        choice = requested_topics(request, sight)
        shown = [of for of in read_bank(bank) if choice.chosen.has(of.topic)]
        context["page"] = Paginator(shown, TOPICS).get_page(page_number(request))
        context["topic_choice"] = choice
        context["layer"] = find_layer(track, "assignments") if sight.can_see_scores else None
    said = visible_layers_by_machines(sight).filter(machine_replies__isnull=False)
    context["said"] = said.distinct()
    if sight.is_organiser:
        every = [*track.nugget_versions.all(), *track.mark_layers.select_related("nuggets")]
        context |= {
            "versions": track.nugget_versions.ready(),
            "layers": track.mark_layers.ready().select_related("nuggets"),
            "in_use": (track.assignments, track.support),
            "waiting": review_versions(every, "nuggets", track.address, "nuggets/_found.html"),
            "draft": find_open_draft(track.pk),
            "nuggets_form": forms.get("nuggets") or NuggetsForm(track=track),
            "layer_form": forms.get("marks") or LayerForm(track=track),
        }
    return context


@login_required
@require_POST
def new_version(request: HttpRequest, address: str, noun: str) -> HttpResponse:
    """Upload nuggets or a layer of marks; they are checked before they are imported."""
    sight = organised_sight_or_403(request, address)
    refuse_without_texts(sight)
    build: Callable[..., ModelForm] = {"nuggets": NuggetsForm, "marks": LayerForm}[noun]
    form = build(request.POST, request.FILES, track=sight.track)
    if form.is_valid():
        version = form.save(commit=False)
        version.created_by = request.user
        try:
            versions.accept_version(version, form.cleaned_data["file"])
            return redirect("nuggets", address=address)
        except NotAccepted as refusal:
            form.add_error("version", refusal.message)
    context = _nuggets_context(request, sight, **{noun: form})
    return render(request, "nuggets/nuggets.html", context, status=422)


@login_required
@require_POST
def confirm_version(request: HttpRequest, address: str, noun: str, name: str) -> HttpResponse:
    """Import what was checked."""
    return _act_on_version(request, address, noun, name, versions.confirm_version)


@login_required
@require_POST
def replace_version(request: HttpRequest, address: str, noun: str, name: str) -> HttpResponse:
    """Check a version again, with another file if one is sent."""
    file = request.FILES.get("file")
    replace = partial(versions.replace_version, file=file)
    return _act_on_version(request, address, noun, name, replace)


@login_required
@require_POST
def discard_version(request: HttpRequest, address: str, noun: str, name: str) -> HttpResponse:
    """Discard what is not imported yet."""
    return _act_on_version(request, address, noun, name, versions.discard_version)


def _act_on_version(
    request: HttpRequest, address: str, noun: str, name: str, act: Callable[..., object]
) -> HttpResponse:
    version = _version_or_404(organised_sight_or_403(request, address).track, noun, name)
    act_on_version(request, version, act)
    return redirect("nuggets", address=address)


def _version_or_404(track: Track, noun: str, name: str) -> ImportedVersion:
    return get_object_or_404(VERSIONS[noun], track=track, version=name)


@require_GET
def nuggets_file(
    request: HttpRequest, address: str, name: str, kind: str
) -> HttpResponse | StreamingHttpResponse:
    """Return nuggets in the form of a tool or as a table, for who may read them."""
    sight = track_at_or_404(request.user, address)
    bank = find_bank(sight)
    version = get_object_or_404(NuggetVersion.objects.ready(), track=sight.track, version=name)
    if kind not in (*NUGGET_FORMATS, "csv") or not (sight.is_organiser or version == bank):
        raise Http404("no such nuggets")
    if kind == "csv":
        return csv_file(f"{sight.track.slug}-nuggets-{name}", *tabulate_bank(version))
    lines = render_nuggets(version, kind)
    return streamed_text(nuggets_name(sight.track.slug, name), lines, "application/jsonl")


@require_GET
def marks_file(request: HttpRequest, address: str, name: str) -> StreamingHttpResponse:
    """Return the marks of a layer in columns, for who may download judgments."""
    seen = _marks_or_404(request, address, name)
    slug = seen.sight.track.slug
    return streamed_text(marks_name(slug, name), render_marks(seen.sight, seen.layer))


@require_GET
def results_file(request: HttpRequest, address: str, name: str) -> StreamingHttpResponse:
    """Return the marks of nuggets as results of ARGUE, for who may download judgments."""
    seen = _marks_or_404(request, address, name)
    if seen.layer.nuggets_id is None:
        raise Http404("no marks of nuggets")
    lines = render_results(seen.sight, seen.layer)
    return streamed_text(results_name(seen.sight.track.slug, name), lines, "application/jsonl")


@dataclass(frozen=True)
class SeenMarks:
    """A layer whose marks a viewer may download."""

    sight: Sight
    layer: MarkLayer


def _marks_or_404(request: HttpRequest, address: str, name: str) -> SeenMarks:
    sight = track_at_or_404(request.user, address)
    layer = get_object_or_404(MarkLayer.objects.ready(), track=sight.track, version=name)
    is_used = name in (sight.track.assignments, sight.track.support)
    if not (sight.is_organiser or (is_used and sight.can_download_judgments)):
        raise Http404("no such marks")
    return SeenMarks(sight, layer)


@login_required
@require_GET
def nugget_changes(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Show what a version of the nuggets changed in the one before it, or in a chosen one."""
    track = organised_sight_or_403(request, address).track
    nuggets = get_object_or_404(track.nugget_versions.ready(), version=name)
    before = _version_before(nuggets, text_of(request.GET, "since"))
    context = {
        "track": track,
        "nuggets": nuggets,
        "before": before,
        "others": track.nugget_versions.ready().exclude(pk__in=[nuggets.pk, before.pk]),
        "changes": compare_versions(before, nuggets),
        "layers": before.layers.ready(),
    }
    return render(request, "nuggets/changes.html", context)


def _version_before(nuggets: NuggetVersion, since: str) -> NuggetVersion:
    """Return the version to compare with: the named one, or the last that is older."""
    others = nuggets.track.nugget_versions.ready().exclude(pk=nuggets.pk)
    if since:
        return get_object_or_404(others, version=since)
    before = others.filter(created_at__lte=nuggets.created_at).last() or others.first()
    if before is None:
        raise Http404("no other nuggets to compare with")
    return before


@login_required
@require_POST
def carry_marks(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Make a layer of these nuggets from the marks of those that both versions have."""
    track = organised_sight_or_403(request, address).track
    nuggets = get_object_or_404(track.nugget_versions.ready(), version=name)
    layers = track.mark_layers.ready().filter(about=MarkLayer.About.NUGGETS)
    layer = get_object_or_404(layers, version=text_of(request.POST, "layer"))
    keeps = "keeps_reworded" in request.POST
    try:
        versions.carry_marks(layer, nuggets, request.user, keeps_reworded=keeps)
    except (ActionError, NotAccepted) as reason:
        messages.error(request, str(reason))
    return redirect("nuggets", address=address)


@login_required
@require_GET
def layer_impact(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Show what the board would be by another layer of marks."""
    sight = organised_sight_or_403(request, address)
    layer = _layer_or_404(sight.track, name)
    edition = find_edition(with_layer(sight.track, layer))
    impact = find_impact(sight, edition) if edition is not None else None
    beside = _layer_beside(sight, layer, text_of(request.GET, "beside"))
    shown = impact.by(request.GET.get("measure", "")) if impact is not None else None
    context = {
        "sight": sight,
        "track": sight.track,
        "layer": layer,
        "beside": beside,
        "others": _others_of(layer),
        "agreement": compute_layer_agreement(beside.pk, layer.pk) if beside else None,
        "scale": KINDS[layer.about].scale,
        "edition": edition,
        "impact": impact,
        "shown": shown,
        "is_used": edition is not None and edition == sight.track.edition,
        "is_scoring": edition is not None and edition.state != Edition.State.READY,
        "verdict": wording.impact_verdict(shown, sight.track.baseline_id is not None)
        if shown is not None
        else [],
    }
    return render(request, "nuggets/impact.html", context)


def _others_of(layer: MarkLayer) -> QuerySet[MarkLayer]:
    """Return the layers that mark the same: of nuggets those of one version."""
    ready = layer.track.mark_layers.ready().exclude(pk=layer.pk)
    return ready.filter(about=layer.about, nuggets=layer.nuggets)


def _layer_beside(sight: Sight, layer: MarkLayer, name: str) -> MarkLayer | None:
    """Return the layer to compare with: the named one, that of the board, or one by people.

    None for an organiser who judges here, who must not see the marks of others.
    """
    if sight.is_assessing:
        return None
    others = _others_of(layer)
    if name:
        return get_object_or_404(others, version=name)
    used = (sight.track.assignments, sight.track.support)
    by_people = others.filter(made_by=MarkLayer.MadeBy.PEOPLE)
    return others.filter(version__in=used).first() or by_people.last()


@login_required
@require_POST
def try_layer(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Score every run with another layer too; the board stays unchanged."""
    track = organised_sight_or_403(request, address).track
    try:
        tracks.try_layer(track, request.user, _layer_or_404(track, name))
        return redirect("layer_impact", address=address, name=name)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("nuggets", address=address)


@login_required
@require_POST
def use_layer(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Let the measures of the board read a layer."""
    track = organised_sight_or_403(request, address).track
    try:
        tracks.use_layer(track, request.user, _layer_or_404(track, name))
        messages.success(request, f"Measures read the marks {name}.")
        return redirect("board", address=address)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("nuggets", address=address)


def _layer_or_404(track: Track, name: str) -> MarkLayer:
    layers = MarkLayer.objects.ready().select_related("nuggets")
    return get_object_or_404(layers, track=track, version=name)


@require_GET
def nugget(request: HttpRequest, address: str) -> HttpResponse:
    """Show one nugget: its texts and documents, and which runs have it."""
    sight = requested_sight(request, address)
    bank = find_bank(sight)
    if bank is None:
        raise Http404("no nuggets to see")
    topic = topic_or_404(sight, request.GET.get("number", ""))
    board = find_visible_board(sight, requested_choice(request)) if sight.can_see_scores else None
    page = build_nugget_page(sight, board, bank, topic, request.GET.get("key", ""))
    if page is None:
        raise Http404("no such nugget")
    context = {
        "sight": sight,
        "track": sight.track,
        "bank": bank,
        "page": page,
        "documents": sorted(page.row.nugget.attesting),
    }
    return render(request, "nuggets/nugget.html", context)
