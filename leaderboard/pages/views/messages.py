"""Messages of organisers to people, invitations by address, and the end of email."""

from __future__ import annotations

from typing import Any

from django.contrib import messages as page_messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from leaderboard.actions import messages as actions
from leaderboard.actions.refusals import ActionError
from leaderboard.boards.disclosure import BenchmarkSight, benchmark_or_404
from leaderboard.boards.message_groups import (
    TEAM,
    MessageGroup,
    find_chosen_teams,
    find_groups,
    find_recipients,
)
from leaderboard.boards.sent_messages import describe_sending, find_sent_messages
from leaderboard.display.numbers import counted
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Benchmark
from leaderboard.notifications.email import read_unsubscribe_code
from leaderboard.pages.forms.messages import InvitationForm, MessageForm, RemindersForm
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import organised_benchmark_or_403
from leaderboard.pages.views.repeated_forms import submit_once


@login_required
@require_http_methods(["GET", "POST"])
@submit_once
def messages(request: HttpRequest, slug: str) -> HttpResponse:
    """Write to groups of people: a preview with the number of people first, then send."""
    sight = organised_benchmark_or_403(request, slug)
    known = _find_known_groups(request, sight.benchmark)
    chosen = [group.key for group in known if group.key.startswith(TEAM)]
    form = MessageForm(request.POST or None, known=known, initial={"groups": chosen})
    if not form.is_valid():
        return _show_messages(request, sight, form)
    details = actions.MessageDetails(
        form.chosen,
        form.cleaned_data["subject"],
        form.cleaned_data["text"],
        form.cleaned_data["is_urgent"],
    )
    if request.POST.get("act") != "send":
        return _show_messages(request, sight, form, preview=details)
    try:
        sent = actions.write_message(sight.benchmark, request.user, details)
        people = counted(sent.num_people, "person,people")
        page_messages.success(request, f"Sent to {people}.")
        return redirect("messages", slug=slug)
    except ActionError as reason:
        form.add_error("groups", str(reason))
    return _show_messages(request, sight, form)


def _find_known_groups(request: HttpRequest, benchmark: Benchmark) -> list[MessageGroup]:
    """Return the groups of a benchmark, after the teams that the address or the form names."""
    wanted = request.GET.getlist("team")
    wanted += [key.removeprefix(TEAM) for key in request.POST.getlist("groups") if TEAM in key]
    keys = {number for text in wanted if (number := read_whole_number(text)) is not None}
    return [*find_chosen_teams(benchmark, keys), *find_groups(benchmark)]


def _show_messages(
    request: HttpRequest,
    sight: BenchmarkSight,
    form: MessageForm,
    preview: actions.MessageDetails | None = None,
) -> HttpResponse:
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "form": form,
        "preview": preview,
        "recipients": find_recipients(preview.groups) if preview is not None else None,
        "reminders_form": RemindersForm(initial={"on": sight.benchmark.reminds_teams}),
        "sent": shorten(request, "sent", "message", find_sent_messages(sight.benchmark)),
    }
    status = 422 if form.errors else 200
    return render(request, "benchmark/messages.html", context, status=status)


@login_required
@require_POST
def switch_reminders(request: HttpRequest, slug: str) -> HttpResponse:
    """Switch the reminders before deadlines on or off."""
    sight = organised_benchmark_or_403(request, slug)
    form = RemindersForm(request.POST)
    if form.is_valid():
        actions.switch_reminders(sight.benchmark, request.user, form.cleaned_data["on"])
        page_messages.success(request, "Saved.")
    return redirect("messages", slug=slug)


@login_required
@require_GET
def message(request: HttpRequest, slug: str, message_id: int) -> HttpResponse:
    """Show a message to those who got it, and to organisers how it was delivered."""
    sight = benchmark_or_404(request.user, slug)
    found = get_object_or_404(sight.benchmark.messages, pk=message_id)
    if not sight.is_organiser and not found.notices.filter(user=request.user).exists():
        raise Http404("no such message")
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "message": found,
        "sending": describe_sending(found) if sight.is_organiser else None,
    }
    return render(request, "benchmark/message.html", context)


@login_required
@require_http_methods(["GET", "POST"])
@submit_once
def invitations(request: HttpRequest, slug: str) -> HttpResponse:
    """Invite people by address, and list whom the organisers have invited."""
    sight = organised_benchmark_or_403(request, slug)
    form = InvitationForm(request.POST or None, benchmark=sight.benchmark)
    if request.method == "POST" and form.is_valid():
        addresses = form.cleaned_data["addresses"]
        try:
            invited = actions.invite(sight.benchmark, request.user, addresses, form.assessment)
            page_messages.success(request, _describe_invited(len(invited), len(addresses)))
            return redirect("invitations", slug=slug)
        except ActionError as reason:
            form.add_error("addresses", str(reason))
    listed = sight.benchmark.invitations.select_related("assessment", "accepted_by")
    context: dict[str, Any] = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "form": form,
        "invitations": shorten(request, "invitations", "invitation", listed),
    }
    status = 422 if form.errors else 200
    return render(request, "benchmark/invitations.html", context, status=status)


def _describe_invited(new: int, all_of_them: int) -> str:
    earlier = all_of_them - new
    known = f" {counted(earlier, 'address was,addresses were')} invited before." if earlier else ""
    return f"{counted(new, 'invitation')} on the way.{known}"


@login_required
@require_POST
def withdraw_invitation(request: HttpRequest, slug: str, invitation_id: int) -> HttpResponse:
    """End the link of an invitation."""
    sight = organised_benchmark_or_403(request, slug)
    found = get_object_or_404(sight.benchmark.invitations, pk=invitation_id)
    actions.withdraw_invitation(found, request.user)
    page_messages.success(request, f"The link of {found} no longer works.")
    return redirect("invitations", slug=slug)


@never_cache
@csrf_exempt
@require_http_methods(["GET", "POST"])
def unsubscribe(request: HttpRequest, code: str) -> HttpResponse:
    """End email to the address of a signed link; a GET only asks, since programs follow links.

    Programs of email send the POST without a session, so the signature stands in for a token.
    """
    address = read_unsubscribe_code(code)
    if address is None:
        raise Http404("no such link")
    if request.method == "POST":
        actions.unsubscribe(address)
    context = {"address": address, "is_done": request.method == "POST"}
    return render(request, "site/unsubscribe.html", context)
