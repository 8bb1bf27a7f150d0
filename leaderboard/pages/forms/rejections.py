"""What an action rejects, as an error of the form that asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.forms import Form

from leaderboard.actions.people import OrganiserError
from leaderboard.actions.refusals import ActionError, NotAccepted


@contextmanager
def rejections_on(form: Form, field: str | None = None) -> Iterator[None]:
    """Show a rejection beside a field of the form, or above all fields."""
    try:
        yield
    except (ActionError, NotAccepted, OrganiserError) as reason:
        form.add_error(field, str(reason))
