"""Pages of the whole site: measures, limits, search and the account."""

from __future__ import annotations

import sys

from allauth.account.models import EmailAddress
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import connection
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.defaults import server_error

from leaderboard.actions import accounts, tokens
from leaderboard.analysis.site_search import MOST, search_site
from leaderboard.infrastructure.outages import find_outage
from leaderboard.models import Track
from leaderboard.pages.forms.people import EmailNoticesForm, ProfileForm, TokenForm
from leaderboard.pages.limits import site_limits
from leaderboard.pages.single_sign_on import list_connections
from leaderboard.pages.views.measure_reference import example_grades, measure_families

LONGEST = 100


@require_GET
def measures(request: HttpRequest) -> HttpResponse:
    return render(
        request, "site/measures.html", {"families": measure_families(), "worked": example_grades()}
    )


@require_GET
def limits(request: HttpRequest) -> HttpResponse:
    return render(request, "site/limits.html", {"groups": site_limits()})


@require_GET
def api(request: HttpRequest) -> HttpResponse:
    """Say how programs submit: the client, a token, a first call."""
    return render(request, "site/api.html")


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """Find benchmarks, tracks, collections, teams, runs, topics and documents."""
    text = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST]
    context = {"text": text, "found": search_site(request.user, text), "most": MOST}
    return render(request, "site/search.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show the user's teams and tokens; a new token shows its secret only once."""
    return _render_account(request, ProfileForm(user=request.user))


def _render_account(request: HttpRequest, profile: ProfileForm) -> HttpResponse:
    """Render the account; an invalid profile is shown again, beside an unused form of tokens."""
    sent = None if profile.is_bound else request.POST or None
    form = TokenForm(sent, user=request.user)
    secret = None
    if form.is_bound and form.is_valid():
        secret = tokens.issue_token(request.user, **form.cleaned_data)
        form = TokenForm(user=request.user)
    opened = Prefetch("benchmark__tracks", Track.objects.opened().in_order(), to_attr="opened")
    context = {
        "form": form,
        "profile": profile,
        "secret": secret,
        "tokens": request.user.tokens.usable().order_by("-created_at"),
        "memberships": request.user.memberships.select_related("team")
        .prefetch_related(opened)
        .order_by("pk"),
        "mail_address": EmailAddress.objects.get_verified(request.user),
        "mails_form": EmailNoticesForm(instance=request.user),
        "connections": list_connections(request.user),
        "stopped": accounts.find_stopped_address(request.user),
    }
    is_wrong = form.is_bound or profile.is_bound
    return render(request, "account/overview.html", context, status=422 if is_wrong else 200)


@never_cache
@login_required
@require_POST
def change_profile(request: HttpRequest) -> HttpResponse:
    """Change name, affiliation and ORCID iD of the user."""
    form = ProfileForm(request.POST, user=request.user)
    if not form.is_valid():
        return _render_account(request, form)
    accounts.change_profile(request.user, **form.cleaned_data)
    messages.success(request, "Profile saved.")
    return redirect("account")


@login_required
@require_POST
def change_mails(request: HttpRequest) -> HttpResponse:
    """Switch email notices on or off."""
    form = EmailNoticesForm(request.POST, instance=request.user)
    if form.is_valid():
        accounts.switch_mails(request.user, form.cleaned_data["mails"])
        messages.success(request, "Saved.")
    return redirect("account")


@login_required
@require_POST
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    tokens.revoke_token(get_object_or_404(request.user.tokens, pk=token_id))
    return redirect("account")


@login_required
@require_POST
def revoke_tokens(request: HttpRequest) -> HttpResponse:
    """Revoke every token of this user."""
    tokens.revoke_tokens(request.user)
    messages.success(request, "All tokens revoked.")
    return redirect("account")


@require_GET
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer ok if the database answers a query; a kept connection alone proves nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok", content_type="text/plain")


def internal_error(request: HttpRequest) -> HttpResponse:
    """Render the page for an unexpected error; for an outage, with when to retry."""
    outage = find_outage(sys.exc_info()[1])
    if outage is None:
        return server_error(request)
    page = render_to_string("site/outage.html", {"outage": outage})
    return HttpResponse(
        page, status=outage.status, headers={"Retry-After": str(outage.retry_after)}
    )
