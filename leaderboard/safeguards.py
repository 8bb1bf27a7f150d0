"""System checks that block startup with insecure settings."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]", ".localhost", "testserver")
SHORTEST_KEY = 32


def is_private_talk(url: str) -> bool:
    """Whether nobody else can read or change what is sent to a URL."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in LOCAL_HOSTS


@register(Tags.security)
def refuse_insecure_settings(**_: object) -> list[CheckMessage]:
    return [Error(what, hint=hint, id=id) for id, what, hint in find_insecure_settings()]


def find_insecure_settings() -> Iterator[tuple[str, str, str]]:
    """Yield the identifier, the problem and the fix of each insecure setting."""
    public = [host for host in settings.ALLOWED_HOSTS if host not in LOCAL_HOSTS]
    if settings.DEBUG and public:
        yield (
            "rankfield.E001",
            f"DEBUG shows settings and code to everyone who opens {public[0]}.",
            "Unset DEBUG, or let ALLOWED_HOSTS name only this machine.",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield (
            "rankfield.E002",
            "ALLOWED_HOSTS accepts every name, so links in email may lead to a stranger's site.",
            "Name the hosts of this site.",
        )
    if settings.OIDC_ISSUER and not is_private_talk(settings.OIDC_ISSUER):
        yield (
            "rankfield.E004",
            "OIDC_ISSUER is not https, so anyone on the way can sign in as anyone.",
            "Use the https:// address of the provider.",
        )
    yield from find_insecure_proxies()
    key = settings.SECRET_KEY
    if len(key) < SHORTEST_KEY or len(set(key)) < 8 or "insecure" in key:
        yield (
            "rankfield.E003",
            "SECRET_KEY can be guessed, and with it every session.",
            "Create one with `openssl rand -hex 32`, or unset it: then one is created and kept.",
        )


def find_insecure_proxies() -> Iterator[tuple[str, str, str]]:
    """Yield what lets others than the proxy sign people in, or gives its groups nothing."""
    if not settings.PROXY_USER_HEADER:
        return
    everyone = [each for each in settings.PROXY_ADDRESSES if each.prefixlen == 0]
    if not settings.PROXY_ADDRESSES or everyone:
        yield (
            "rankfield.E005",
            "PROXY_USER_HEADER signs in whoever it names, and PROXY_ADDRESSES limits nobody.",
            "Set PROXY_ADDRESSES to the addresses of the proxy, for example 127.0.0.1.",
        )
    for group, gift in settings.PROXY_GROUPS:
        benchmark, _, team = gift.partition("/")
        if gift != "organise" and not (benchmark and team):
            yield (
                "rankfield.E006",
                f"PROXY_GROUPS gives the group {group} neither organise nor a team.",
                "Write GROUP=organise or GROUP=BENCHMARK/TEAM.",
            )
