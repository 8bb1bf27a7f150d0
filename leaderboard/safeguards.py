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
    key = settings.SECRET_KEY
    if len(key) < SHORTEST_KEY or len(set(key)) < 8 or "insecure" in key:
        yield (
            "rankfield.E003",
            "SECRET_KEY can be guessed, and with it every session.",
            "Create one with `openssl rand -hex 32`, or unset it: then one is created and kept.",
        )
