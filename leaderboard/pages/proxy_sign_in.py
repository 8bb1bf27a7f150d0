"""Sign-in by the headers of a trusted proxy, which has asked the provider of an institution.

The headers count at one address, and only from the addresses of PROXY_ADDRESSES: that of the
connection itself, since any client can write X-Forwarded-For.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from allauth.socialaccount.internal.flows.login import complete_login
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.base import Provider, ProviderAccount
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from leaderboard.actions.provider_groups import follow_groups
from leaderboard.pages.single_sign_on import PROXY

log = logging.getLogger(__name__)

# Of the account at the proxy that a session is for, with its groups.
SESSION_KEY = "proxy"
LONGEST_NAME = 191
# These sign nobody in: the pages of accounts do that, programs send a token, and files are public.
ELSEWHERE = ("/account/", "/api/", "/static/", "/healthz", "/metrics", "/benchmark-badges/")


@dataclass(frozen=True)
class ProxiedPerson:
    """Whom the proxy has signed in, as its headers say."""

    name: str
    email: str
    full_name: str
    groups: tuple[str, ...]

    @cached_property
    def digest(self) -> str:
        """Return what changes with the person and with their groups."""
        said = json.dumps([self.name, sorted(self.groups)])
        return hashlib.sha256(said.encode()).hexdigest()


class ProxyProvider(Provider):
    """The proxy as a provider of allauth, which has no client and no address of its own."""

    id = PROXY
    uses_apps = False
    account_class = ProviderAccount

    @property
    def name(self) -> str:  # type: ignore[override]
        return settings.PROXY_NAME

    @property
    def sub_id(self) -> str:
        return self.id

    def extract_uid(self, data: dict[str, str]) -> str:
        return data["name"]

    def extract_common_fields(self, data: dict[str, str]) -> dict[str, Any]:
        """Return the fields of an account; the directory of the institution vouches for the email.

        Boards show the name of the account, and some proxies send an address.
        """
        return {
            "username": data["name"].partition("@")[0],
            "name": data["full_name"],
            "email": data["email"],
            "email_verified": True,
        }


registry.register(ProxyProvider)


def read_person(request: HttpRequest) -> ProxiedPerson | None:
    """Return whom a trusted proxy has signed in, or None; what is ignored is logged."""
    name = read_header(request, settings.PROXY_USER_HEADER)
    if not name:
        return None
    sender = request.META.get("REMOTE_ADDR", "")
    if not is_trusted(sender):
        log.warning("ignored a %s from %s", settings.PROXY_USER_HEADER, sender or "a socket")
        return None
    # A comma: a proxy that adds its header to the one of the client, instead of replacing it.
    if len(name) > LONGEST_NAME or not name.isprintable() or "," in name:
        log.warning("ignored a %s that is not one name", settings.PROXY_USER_HEADER)
        return None
    return ProxiedPerson(
        name,
        read_header(request, settings.PROXY_EMAIL_HEADER),
        read_header(request, settings.PROXY_FULL_NAME_HEADER),
        tuple(split_groups(read_header(request, settings.PROXY_GROUPS_HEADER))),
    )


def read_header(request: HttpRequest, name: str) -> str:
    """Return a header as text; servers decode its bytes as Latin-1, and proxies send UTF-8."""
    value = request.headers.get(name, "") if name else ""
    try:
        return value.encode("latin-1").decode().strip()
    except UnicodeError:
        return value.strip()


def split_groups(text: str) -> list[str]:
    """Return the groups of a header, which a comma or a semicolon separates.

    >>> split_groups("lab; staff,"), split_groups("")
    (['lab', 'staff'], [])
    """
    return [group.strip() for group in re.split("[,;]", text) if group.strip()]


def is_trusted(address: str) -> bool:
    """Whether PROXY_ADDRESSES lists the address of a connection."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    found = getattr(found, "ipv4_mapped", None) or found
    return any(found in network for network in settings.PROXY_ADDRESSES)


def sign_in(
    request: HttpRequest, person: ProxiedPerson, process: str, next_url: str | None
) -> HttpResponse:
    """Sign a person in, or connect the account of this user with them."""
    provider = ProxyProvider(request)
    login = provider.sociallogin_from_response(
        request, {"name": person.name, "full_name": person.full_name, "email": person.email}
    )
    login.state = {"process": process, "next": next_url}
    response = complete_login(request, login)
    request.session[SESSION_KEY] = person.digest
    if login.is_existing and login.user.is_active:
        follow_groups(login.user, person.groups)
    return response


def lead_to_sign_in(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Lead whom the proxy has signed in to the address that signs them in here, and back.

    A session that began with a password stays. One of the proxy ends with its person or groups.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        person = read_person(request) if settings.PROXY_USER_HEADER else None
        is_page = request.method == "GET" and not request.path.startswith(ELSEWHERE)
        if person is None or not is_page or is_signed_in(request, person):
            return get_response(request)
        query = urlencode({"next": request.get_full_path()})
        return redirect(f"{reverse('proxy_sign_in')}?{query}")

    return answer


def is_signed_in(request: HttpRequest, person: ProxiedPerson) -> bool:
    own = request.session.get(SESSION_KEY, person.digest)
    return request.user.is_authenticated and own == person.digest
