"""The replies of machines, with the grades of a version or the marks of a layer."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from leaderboard.analysis.machine_replies import find_machine_replies
from leaderboard.boards.disclosure import track_at_or_404
from leaderboard.collections.machine_replies import Judged, render_replies
from leaderboard.infrastructure.downloads import streamed_bytes
from leaderboard.models import Collection
from leaderboard.pages.views.lookups import page_number
from leaderboard.sight.visible_rows import (
    can_download_replies,
    can_see_prompts,
    can_see_topics,
    visible_layers_by_machines,
    visible_versions_behind,
)

REPLIES = 50


@require_GET
def machine_replies(request: HttpRequest, slug: str, version: str) -> HttpResponseBase:
    """Show what the machine of a version said, to all who see the version."""
    found = get_object_or_404(Collection.objects.visible_to(request.user), slug=slug)
    if not can_see_topics(request.user, found):
        raise Http404("no replies to see")
    judged = get_object_or_404(visible_versions_behind(request.user, found), version=version)
    context = {
        "collection": found,
        "shows_prompts": can_see_prompts(request.user, found),
        "can_download": can_download_replies(request.user, judged),
    }
    return _answer(request, judged, context)


@require_GET
def layer_replies(request: HttpRequest, address: str, name: str) -> HttpResponseBase:
    """Show what the machine of a layer said, to all who read its marks and what they are about."""
    sight = track_at_or_404(request.user, address)
    layer = get_object_or_404(visible_layers_by_machines(sight), version=name)
    context = {
        "sight": sight,
        "track": sight.track,
        "collection": sight.track.collection,
        "shows_prompts": sight.is_organiser
        or can_see_prompts(request.user, sight.track.collection),
        "can_download": sight.can_download_judgments,
    }
    return _answer(request, layer, context)


def _answer(request: HttpRequest, judged: Judged, context: dict[str, Any]) -> HttpResponseBase:
    if request.GET.get("format") == "jsonl":
        if not context["can_download"]:
            raise Http404("no such file")
        lines = render_replies(judged, context["shows_prompts"])
        return streamed_bytes(f"{judged.version}-replies.jsonl", lines, "application/jsonl")
    asked = [request.GET.get(name, "") for name in ("number", "item")]
    found = find_machine_replies(judged, *asked, context["shows_prompts"])
    context |= {
        "found": found,
        "item": asked[1],
        "page": Paginator(found.replies, REPLIES).get_page(page_number(request)),
    }
    return _render(request, context)


def _render(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    return render(request, "machine/replies.html", context)
