"""Leaving: delete an account or a draft, and download what the site has about a user."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from leaderboard.actions import accounts, tracks
from leaderboard.actions.refusals import ActionError
from leaderboard.pages.forms.accounts import TypedNameForm
from leaderboard.pages.views.lookups import organised_sight_or_403


@login_required
@require_GET
def account_data(request: HttpRequest) -> HttpResponse:
    """Return everything that the site has about the user, as JSON."""
    answer = JsonResponse(accounts.export_account(request.user), json_dumps_params={"indent": 1})
    answer["Content-Disposition"] = 'attachment; filename="account.json"'
    return answer


@login_required
@require_http_methods(["GET", "POST"])
def delete_account(request: HttpRequest) -> HttpResponse:
    form = TypedNameForm(request.POST or None, name=request.user.username)
    if form.is_valid():
        try:
            accounts.delete_account(request.user)
        except ActionError as reason:
            form.add_error("name", str(reason))
        else:
            logout(request)
            messages.success(request, "Account deleted.")
            return redirect("home")
    context = {
        "form": form,
        "duties": accounts.list_duties(request.user),
        "num_runs": accounts.count_runs(request.user),
        "num_marks": accounts.count_marks(request.user),
    }
    return render(request, "account/delete.html", context, status=422 if form.is_bound else 200)


@login_required
@require_http_methods(["GET", "POST"])
def delete_track(request: HttpRequest, address: str) -> HttpResponse:
    """Delete a draft after its name was typed; an open track can only be closed."""
    sight = organised_sight_or_403(request, address)
    if not sight.track.is_draft:
        raise Http404("only a draft is deleted")
    form = TypedNameForm(request.POST or None, name=sight.track.name)
    if form.is_valid():
        tracks.delete_draft(sight.track, request.user)
        messages.success(request, "Track deleted.")
        return redirect("home")
    context = {"sight": sight, "track": sight.track, "form": form}
    return render(request, "track/delete.html", context, status=422 if form.is_bound else 200)
