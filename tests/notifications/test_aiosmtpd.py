"""Email to aiosmtpd, a mail server of its own: what it takes, refuses, and loses."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from leaderboard.models import Job, Mail, StoppedAddress
from leaderboard.notifications.notices import notify_written
from tests.builders import make_user, work

pytestmark = pytest.mark.night


class MailServer:
    """Counts what it takes of each reader; it refuses `gone`, and fails after every fourth."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()
        self.fails = True

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, _: Any):
        if address.startswith("gone"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.fails and sum(self.taken.values()) % 4 == 3:
            return "451 try again later"
        self.taken.update(envelope.rcpt_tos)
        return "250 OK"


@pytest.fixture
def server(settings) -> Iterator[MailServer]:
    # `make night` installs it.
    aiosmtpd = pytest.importorskip("aiosmtpd.controller")
    handler = MailServer()
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        host, port = free.getsockname()
    controller = aiosmtpd.Controller(handler, hostname=host, port=port)
    controller.start()
    settings.EMAIL_BACKEND = "leaderboard.notifications.sending.OnceBackend"
    settings.SITE_URL = "https://board.example.org"
    settings.EMAIL_HOST, settings.EMAIL_PORT = host, port
    yield handler
    controller.stop()


def test_a_message_to_many_reaches_each_once_though_the_server_fails(server, track, ada):
    names = ["gone", *(f"reader{number}" for number in range(10))]
    users = [make_user(name) for name in names]
    for user in users:
        user.emailaddress_set.create(email=f"{user}@example.org", verified=True, primary=True)
    written = {"subject": "Soon", "text": "Soon.", "is_urgent": True, "created_by": ada}
    message = track.benchmark.messages.create(**written)
    notify_written(message, [user.pk for user in users])
    work()
    assert Mail.objects.filter(state="waiting").exists()
    server.fails = False
    Job.objects.open().filter(kind="mail").update(not_before=None)
    work()
    assert set(server.taken.values()) == {1} and len(server.taken) == 10
    assert StoppedAddress.objects.get().email == "gone@example.org"
    assert Counter(Mail.objects.values_list("state", flat=True)) == {"delivered": 10, "given up": 1}
