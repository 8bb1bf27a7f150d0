"""Messages to groups of people, and invitations, by programs."""

from __future__ import annotations

import pytest

from leaderboard.models import Invitation, Message, Notice
from tests.builders import make_run
from tests.notifications.test_email import postman

__all__ = ["postman"]
pytestmark = pytest.mark.long

MESSAGES = "/api/v1/benchmarks/bread/messages"
WRITTEN = {"groups": ["teams"], "subject": "Soon", "text": "Runs close *soon*."}


def test_a_program_counts_and_then_writes(track, ben, ada_api):
    make_run(track, ben)
    groups = {
        group["key"]: group["teams"] for group in ada_api.get(f"{MESSAGES[:-1]}-groups").json()
    }
    assert (groups["teams"], groups["without_run"]) == (1, 0)
    assert ada_api.post(MESSAGES, {**WRITTEN, "preview": True}).json()["people"] == 1
    assert not Message.objects.exists()
    assert ada_api.post(MESSAGES, WRITTEN).json()["id"] == Message.objects.get().pk
    assert Notice.objects.filter(user=ben, message__subject="Soon").count() == 1


@pytest.mark.parametrize(
    ("changed", "status"), [({"groups": ["all"]}, 422), ({"text": "[" * 9000}, 409)]
)
def test_what_cannot_be_sent_is_refused(track, ben, ada_api, changed, status):
    make_run(track, ben)
    assert ada_api.post(MESSAGES, {**WRITTEN, **changed}).status_code == status
    assert not Message.objects.exists()


def test_a_program_invites_addresses_and_no_headers(postman, track, ada_api):
    bad = {"addresses": ["fay@example.org\nBcc: gus@example.org"]}
    assert ada_api.post("/api/v1/benchmarks/bread/invitations", bad).status_code == 422
    answer = ada_api.post(
        "/api/v1/benchmarks/bread/invitations", {"addresses": ["Fay@example.org"]}
    )
    assert answer.json() == {"invited": ["fay@example.org"]} and Invitation.objects.count() == 1
