"""Single sign-on: by the provider or by a trusted proxy, and the end of the connection."""

from __future__ import annotations

import logging

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from requests import RequestException

from leaderboard.actions.accounts import disconnect_provider
from leaderboard.actions.refusals import ActionError
from leaderboard.pages.proxy_sign_in import read_person, sign_in
from leaderboard.pages.single_sign_on import CheckedProvider

log = logging.getLogger(__name__)


def checked_provider_or_404(request: HttpRequest) -> CheckedProvider:
    if not settings.OIDC_ISSUER:
        raise Http404("no single sign-on here")
    return CheckedProvider(request, settings.OIDC_PROVIDER)


@never_cache
@require_POST
def begin_single_sign_on(request: HttpRequest) -> HttpResponse:
    """Lead to the provider to sign in."""
    return lead_to_provider(request, "login")


@never_cache
@login_required
@require_POST
@reauthentication_required
def join_provider(request: HttpRequest) -> HttpResponse:
    """Lead to the provider to connect the account of this user."""
    return lead_to_provider(request, "connect")


def lead_to_provider(request: HttpRequest, process: str) -> HttpResponse:
    """Return a page that goes on to the provider at once.

    A redirect would have to be allowed by `form-action`, and so would every host to which the
    provider redirects in turn. A page that goes on by itself is no form.
    """
    provider = checked_provider_or_404(request).get_provider()
    try:
        answer = provider.redirect(request, process, next_url=get_next_redirect_url(request))
    except (RequestException, KeyError, ValueError) as error:
        log.error("the provider of single sign-on does not answer: %s", type(error).__name__)
        return render(request, "account/single_sign_on_failed.html", {"is_away": True}, status=503)
    return render(request, "account/single_sign_on.html", {"url": answer["Location"]})


@never_cache
@require_GET
def single_sign_on_answer(request: HttpRequest) -> HttpResponse:
    """Take the provider's answer: sign in, connect, or say what is wrong."""
    return OAuth2CallbackView.adapter_view(checked_provider_or_404(request))(request)


@never_cache
@login_required
@require_POST
@reauthentication_required
def leave_provider(request: HttpRequest) -> HttpResponse:
    """End the connection of an account that has a password to sign in with."""
    try:
        disconnect_provider(request.user, request.POST.get("provider", settings.OIDC_PROVIDER))
        messages.success(request, "Single sign-on disconnected.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("account")


@never_cache
@require_GET
def proxy_sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in the person whom the headers of a trusted proxy name."""
    return answer_proxy(request, AuthProcess.LOGIN)


@never_cache
@login_required
@require_POST
@reauthentication_required
def join_proxy(request: HttpRequest) -> HttpResponse:
    """Connect the account of this user with the person whom the proxy names."""
    return answer_proxy(request, AuthProcess.CONNECT)


def answer_proxy(request: HttpRequest, process: str) -> HttpResponse:
    if not settings.PROXY_USER_HEADER:
        raise Http404("no sign-in by a proxy here")
    person = read_person(request)
    if person is None:
        context = {"single_sign_on": settings.PROXY_NAME, "is_unnamed": True}
        return render(request, "account/single_sign_on_failed.html", context, status=401)
    return sign_in(request, person, process, get_next_redirect_url(request))


@never_cache
@require_GET
def signed_out_of_proxy(request: HttpRequest) -> HttpResponse:
    """Say that the proxy still knows the person, and lead to where it forgets them."""
    if not settings.PROXY_USER_HEADER:
        raise Http404("no sign-in by a proxy here")
    return render(request, "account/proxy_signed_out.html", {"url": settings.PROXY_SIGN_OUT})
