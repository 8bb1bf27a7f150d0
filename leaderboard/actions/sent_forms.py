"""Forms that were sent, so that one that is sent again does nothing twice."""

from __future__ import annotations

from leaderboard.models import SentForm, User


def claim_form(user: User, digest: str) -> str | None:
    """Claim a form inside the transaction that handles it.

    Return the address of its result if it was handled before; of two requests at once, the second
    waits for the first.
    """
    sent, is_first = SentForm.objects.get_or_create(user=user, digest=digest)
    return None if is_first else sent.address


def keep_result(user: User, digest: str, address: str) -> None:
    """Keep the address of the result of a claimed form; without one it can be sent again."""
    sent = SentForm.objects.filter(user=user, digest=digest)
    if address:
        sent.update(address=address)
    else:
        sent.delete()
