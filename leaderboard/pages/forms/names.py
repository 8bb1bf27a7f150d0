"""Short names that are part of URLs."""

from __future__ import annotations

from django.core.exceptions import ValidationError

from leaderboard.actions.names import RESERVED

SHORT_NAME = "Used in URLs. Leave empty to create it from the name."
TAKEN = "This short name is taken. Choose another."


def refuse_reserved(slug: str) -> str:
    if slug in RESERVED:
        raise ValidationError("This word is reserved for site URLs. Choose another.")
    return slug
