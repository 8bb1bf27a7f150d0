"""Organisers write to the people of a benchmark, and invite others by address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from leaderboard.actions.refusals import ActionError
from leaderboard.boards.message_groups import MessageGroup, Recipients, find_recipients
from leaderboard.display.markdown import find_excess
from leaderboard.jobs.queue import enqueue
from leaderboard.models import (
    Assessment,
    AuditEvent,
    Benchmark,
    Invitation,
    Message,
    StoppedAddress,
    User,
)
from leaderboard.notifications import notices

# So that nobody sends spam from here.
MOST_INVITED_A_DAY = 500


MOST_ADDRESSES = 200
# What people put between addresses.
BETWEEN = re.compile(r"[\n,;]")
# So much of an address that is none is repeated.
REPEATED = 60


@dataclass(frozen=True)
class MessageDetails:
    """What an organiser writes, to whom."""

    groups: Sequence[MessageGroup]
    subject: str
    text: str
    is_urgent: bool = False


@transaction.atomic
def write_message(benchmark: Benchmark, user: User, details: MessageDetails) -> Message:
    """Write to groups of people, each of whom gets a notice once.

    Raises ActionError where nobody is in them, or the text takes too long to render.
    """
    if excess := find_excess(details.text):
        raise ActionError(f"This text {excess}. Shorten it.")
    recipients: Recipients = find_recipients(details.groups)
    if not recipients.users:
        raise ActionError("No one is in these groups now.")
    message = benchmark.messages.create(
        subject=details.subject,
        text=details.text,
        is_urgent=details.is_urgent,
        groups=recipients.names,
        num_people=len(recipients.users),
        created_by=user,
    )
    after = {"groups": recipients.names, "people": len(recipients.users), "text": details.text}
    AuditEvent.objects.record(user, "write", benchmark, after=after)
    notices.notify_written(message, recipients.users)
    return message


@transaction.atomic
def switch_reminders(benchmark: Benchmark, user: User, on: bool) -> None:
    """Switch the reminders before deadlines on or off."""
    changed = Benchmark.objects.filter(pk=benchmark.pk).exclude(reminds_teams=on)
    if changed.update(reminds_teams=on):
        before, after = {"reminds_teams": not on}, {"reminds_teams": on}
        AuditEvent.objects.record(user, "change", benchmark, before, after)


def read_addresses(text: str) -> list[str]:
    """Return the addresses in a text, each once, in lower case; raises ActionError."""
    written = [each.strip() for each in BETWEEN.split(text)]
    found = list(dict.fromkeys(each.lower() for each in written if each))
    if len(found) > MOST_ADDRESSES:
        raise ActionError(
            f"These are {len(found):,} addresses. Invite up to {MOST_ADDRESSES} at a time."
        )
    for address in found:
        try:
            validate_email(address)
        except ValidationError:
            raise ActionError(
                f"“{address[:REPEATED]}” is not an email address. No one was invited."
            ) from None
    return found


@transaction.atomic
def invite(
    benchmark: Benchmark, user: User, addresses: Sequence[str], assessment: Assessment | None
) -> list[Invitation]:
    """Email an invitation to each address that has none yet: to take part, or to judge.

    Raises ActionError, and then invites nobody.
    """
    if assessment is not None and assessment.state == Assessment.State.CLOSED:
        raise ActionError("The judging is closed.")
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    stopped = StoppedAddress.objects.filter(email__in=addresses).first()
    if stopped is not None:
        raise ActionError(f"{stopped} gets no email: {stopped.get_reason_display()}.")
    earlier = benchmark.invitations.filter(assessment=assessment)
    known = set(earlier.open().filter(email__in=addresses).values_list("email", flat=True))
    since = timezone.now() - timedelta(days=1)
    left = MOST_INVITED_A_DAY - benchmark.invitations.filter(created_at__gt=since).count()
    new = [address for address in addresses if address not in known]
    if new and not settings.EMAIL_HOST:
        raise ActionError("This site sends no email. Share the invitation link instead.")
    if len(new) > left:
        raise ActionError(
            f"{MOST_INVITED_A_DAY} addresses a day can be invited; {max(left, 0)} are left now."
        )
    invited = [
        benchmark.invitations.create(email=address, assessment=assessment, invited_by=user)
        for address in new
    ]
    for invitation in invited:
        enqueue("invite", invitation)
    if invited:
        AuditEvent.objects.record(user, "invite", benchmark, after={"people": len(invited)})
    return invited


@transaction.atomic
def withdraw_invitation(invitation: Invitation, user: User) -> None:
    """End the link of an invitation that nobody has accepted."""
    still_open = Invitation.objects.open().filter(pk=invitation.pk)
    if still_open.update(withdrawn_at=timezone.now()):
        AuditEvent.objects.record(user, "withdraw invitation", invitation.benchmark)


@transaction.atomic
def unsubscribe(address: str) -> None:
    """Send no more email to an address: no notices, and no invitations."""
    User.objects.filter(emailaddress__email__iexact=address).update(mails=False)
    if not User.objects.filter(emailaddress__email__iexact=address).exists():
        StoppedAddress.objects.get_or_create(
            email=address.lower(), defaults={"reason": StoppedAddress.Reason.UNWANTED}
        )
