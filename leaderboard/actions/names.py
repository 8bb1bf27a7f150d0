"""Limits of the values that users enter, such as names in URLs."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from django.utils.text import slugify

from leaderboard.models import Benchmark, Collection, Track

COMMIT = "{commit}"
SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def clean_slug(text: str) -> str:
    """Return a valid slug, or raise ValueError."""
    if not SLUG.fullmatch(text):
        raise ValueError("may contain letters, digits, - and _, and begins with a letter or digit")
    if text.lower() in RESERVED:
        raise ValueError("is reserved for site URLs; choose another")
    return text


def clean_commit_url(text: str) -> str:
    """Return an https URL with a place for the commit, or ""; otherwise raise ValueError."""
    text = text.strip()
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    is_link = parts.scheme == "https" and parts.hostname and not parts.username
    if text and not (is_link and COMMIT in parts.path + parts.query and " " not in text):
        raise ValueError(f"must be a URL that begins with https:// and contains {COMMIT}")
    return text


# Words that follow /tracks/, /benchmarks/ or /collections/ in URLs of other pages.
RESERVED = {"new", "admin", "api", "account", "static", "tracks", "runs", "collections", "measures"}
MOST_MEASURES = 40
LARGEST_INTEGER = 2**31 - 1


def unused_slug(name: str, model: type[Collection] | type[Benchmark] | type[Track]) -> str:
    """Return a short name that is free, with a number if the plain one is taken."""
    # A name in a script without a slug, such as Arabic, gets the kind of what it names.
    base = slugify(name)[:50] or str(model._meta.model_name)
    taken = {*model.objects.filter(slug__startswith=base).values_list("slug", flat=True), *RESERVED}
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(slug for slug in numbered if slug not in taken)
