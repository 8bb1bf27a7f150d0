"""Short names that are part of URLs."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.utils.text import slugify

from leaderboard.actions.names import RESERVED
from leaderboard.models import Collection, Track

SHORT_NAME = "Used in URLs. Leave empty to create it from the name."
TAKEN = "This short name is taken. Choose another."


def refuse_reserved(slug: str) -> str:
    if slug in RESERVED:
        raise ValidationError("This word is reserved for site URLs. Choose another.")
    return slug


def unused_slug(name: str, model: type[Collection] | type[Track]) -> str:
    """Return a short name that is free, with a number if the plain one is taken."""
    base = slugify(name)[:50] or "untitled"
    taken = {*model.objects.filter(slug__startswith=base).values_list("slug", flat=True), *RESERVED}
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(slug for slug in numbered if slug not in taken)
