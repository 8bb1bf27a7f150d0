"""Types of the fields that come in: what is out of range never reaches the database."""

from __future__ import annotations

import re

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def clean_slug(text: str) -> str:
    if not SLUG.fullmatch(text):
        raise ValueError("takes letters, digits, - and _, and begins with a letter or digit")
    if text.lower() in RESERVED:
        raise ValueError("is a word of other addresses here; choose another")
    return text


# Words that stand after /tracks/ or /collections/ in an address.
RESERVED = {"new", "admin", "api", "account", "static", "tracks", "runs", "collections", "measures"}
MOST_MEASURES = 40
LARGEST = 2**31 - 1
