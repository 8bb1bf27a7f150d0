"""Messages that organisers sent, and how their emails ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import QuerySet

from leaderboard.models import Benchmark, Digest, Mail, Message
from leaderboard.models.notices import OutgoingMessage

State = OutgoingMessage.State


@dataclass(frozen=True)
class Undelivered:
    """A reader whom an email did not reach, and what the server said."""

    username: str
    answer: str


@dataclass(frozen=True)
class Sending:
    """The emails of a message: how many ended how, and whom none reached."""

    delivered: int
    waiting: int
    undelivered: list[Undelivered]

    @property
    def has_emails(self) -> bool:
        return bool(self.delivered or self.waiting or self.undelivered)


def find_sent_messages(benchmark: Benchmark) -> QuerySet[Message]:
    return benchmark.messages.select_related("created_by")


def describe_sending(message: Message) -> Sending:
    """Return how the emails of a message ended, those of a day included."""
    fields = ("notice__user__username", "state", "answer")
    mails = list(Mail.objects.filter(notice__message=message).values_list(*fields))
    digests = Digest.objects.filter(notices__message=message)
    mails += list(digests.values_list("user__username", "state", "answer"))
    states = Counter(state for _, state, _ in mails)
    lost = [Undelivered(name, answer) for name, state, answer in mails if state == State.GIVEN_UP]
    return Sending(
        states[State.DELIVERED],
        states[State.WAITING] + states[State.SENDING],
        sorted(lost, key=lambda each: each.username),
    )
