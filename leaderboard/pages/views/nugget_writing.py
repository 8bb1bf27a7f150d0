"""Nuggets that organisers write: a draft topic by topic, which they freeze as a version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import nugget_writing as verbs
from leaderboard.analysis import topic_or_404
from leaderboard.analysis.nugget_drafts import find_source, offer_texts, read_overview
from leaderboard.boards.disclosure import Sight
from leaderboard.collections.nugget_drafts import find_open_draft, read_topic
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import NuggetDraft, Topic
from leaderboard.pages.forms.nuggets import (
    DraftForm,
    FreezeForm,
    MergeForm,
    ProposeForm,
    RemoveForm,
    ReviseForm,
    SplitForm,
    UndoForm,
)
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.views.lookups import organised_sight_or_403, text_of
from leaderboard.pages.views.nuggets import refuse_without_texts


@dataclass(frozen=True)
class Writing:
    """A form of the page of a topic, and the action that it is sent to."""

    form: type[Form]
    act: Callable[..., object]


WRITING: Mapping[str, Writing] = {
    "propose": Writing(ProposeForm, verbs.propose),
    "revise": Writing(ReviseForm, verbs.revise),
    "split": Writing(SplitForm, verbs.split),
    "merge": Writing(MergeForm, verbs.merge),
    "remove": Writing(RemoveForm, verbs.remove),
    "undo": Writing(UndoForm, verbs.undo),
}


def _sight_of_writer(request: HttpRequest, address: str) -> Sight:
    sight = organised_sight_or_403(request, address)
    refuse_without_texts(sight)
    return sight


def _draft_or_404(sight: Sight) -> NuggetDraft:
    draft = find_open_draft(sight.track.pk)
    if draft is None:
        raise Http404("no draft is written")
    return draft


@login_required
@require_GET
def draft(request: HttpRequest, address: str) -> HttpResponse:
    """Show the draft of a track, or the form that begins one."""
    return _render_draft(request, _sight_of_writer(request, address))


def _render_draft(request: HttpRequest, sight: Sight, form: Any = None) -> HttpResponse:
    track, found = sight.track, find_open_draft(sight.track.pk)
    context: dict[str, Any] = {"sight": sight, "track": track, "draft": found}
    if found is None:
        context["form"] = form or DraftForm(track=track)
    else:
        context |= {"overview": read_overview(found), "form": form or FreezeForm(track=track)}
    return render(request, "nuggets/draft.html", context, status=422 if form else 200)


@login_required
@require_POST
def begin_draft(request: HttpRequest, address: str) -> HttpResponse:
    """Begin a draft with the nuggets of a version, or with none."""
    sight = _sight_of_writer(request, address)
    form = DraftForm(request.POST, track=sight.track)
    if form.is_valid():
        with rejections_on(form):
            verbs.begin_draft(sight.track, request.user, **form.cleaned_data)
            return redirect("nugget_draft", address=address)
    return _render_draft(request, sight, form)


@login_required
@require_POST
def freeze_draft(request: HttpRequest, address: str) -> HttpResponse:
    """Make a version of the draft."""
    sight = _sight_of_writer(request, address)
    found, form = _draft_or_404(sight), FreezeForm(request.POST, track=sight.track)
    if form.is_valid():
        with rejections_on(form):
            verbs.freeze_draft(found, request.user, **form.cleaned_data)
            return redirect("nuggets", address=address)
    return _render_draft(request, sight, form)


@login_required
@require_POST
def discard_draft(request: HttpRequest, address: str) -> HttpResponse:
    """Delete the draft with its steps."""
    verbs.discard_draft(_draft_or_404(_sight_of_writer(request, address)), request.user)
    return redirect("nuggets", address=address)


@login_required
@require_GET
def draft_topic(request: HttpRequest, address: str) -> HttpResponse:
    """Show the nuggets of a topic beside an answer or a document to write from."""
    sight = _sight_of_writer(request, address)
    return _render_topic(request, sight, _requested_topic(request, sight))


def _requested_topic(request: HttpRequest, sight: Sight) -> Topic:
    return topic_or_404(sight, text_of(request.GET, "number"))


def _render_topic(
    request: HttpRequest, sight: Sight, topic: Topic, failed: Form | None = None
) -> HttpResponse:
    found, asked = _draft_or_404(sight), request.GET
    sentence = read_whole_number(asked.get("sentence", ""))
    source = find_source(sight, topic, text_of(asked, "run"), text_of(asked, "docno"), sentence)
    began = {"text": source.text, "documents": source.documents}
    context = {
        "sight": sight,
        "track": sight.track,
        "draft": found,
        "written": read_topic(found, topic),
        "source": source,
        "offered": offer_texts(sight, topic),
        "propose_form": failed if type(failed) is ProposeForm else ProposeForm(initial=began),
        "merge_form": failed if type(failed) is MergeForm else MergeForm(),
        "failed": failed,
        "typed": text_of(request.POST, "texts") or text_of(request.POST, "text"),
        "asked": asked.urlencode(),
    }
    return render(request, "nuggets/draft_topic.html", context, status=422 if failed else 200)


@login_required
@require_POST
def write_nugget(request: HttpRequest, address: str) -> HttpResponse:
    """Take a step on the nuggets of a topic; the page stays at what was read."""
    sight = _sight_of_writer(request, address)
    found, topic = _draft_or_404(sight), _requested_topic(request, sight)
    writing = WRITING.get(request.POST.get("act", ""))
    if writing is None:
        raise Http404("no such step")
    form: Any = writing.form(request.POST)
    if form.is_valid():
        with rejections_on(form):
            writing.act(found, request.user, topic, **form.act)
            stays = {name: text_of(request.GET, name) for name in ("number", "run", "docno")}
            kept = urlencode({name: value for name, value in stays.items() if value})
            return redirect(f"{reverse('nugget_draft_topic', args=[address])}?{kept}")
    return _render_topic(request, sight, topic, form)
