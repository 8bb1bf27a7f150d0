"""Email of notices to confirmed addresses of readers who want it, with retries.

An urgent notice has an email of its own; the others of a day are in one. An email has the text of
a notice, what an organiser wrote, and links to pages, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.urls import reverse

from leaderboard.models import Digest, Invitation, Mail, Notice, StoppedAddress, User
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.notices import OutgoingMessage
from leaderboard.notifications.sending import send_once

LONGEST_SUBJECT = 120
SALT = "leaderboard.unsubscribe"
BODY = """{text}

{why}
No more email, without signing in: {unsubscribe}
"""
WHY = "You get this email because you turned on email notices."
WHY_INVITED = (
    "{inviter} entered this address. If this is not for you, do nothing: no one learns that you "
    "read this."
)


def send_mail(mail_id: str, progress: Progress) -> Publish:
    """Try to send one email; a notice that is already read needs none."""
    row = Mail.objects.select_related("notice__user", "notice__message").get(pk=mail_id)
    if row.notice.read_at is not None:
        return partial(row.record_try, "read on the site", succeeded=True)
    address = find_address(row.notice.user)
    if address is None:
        return partial(row.record_try, "not wanted any more", succeeded=True)
    subject = row.notice.text
    if row.notice.message is not None:
        subject = row.notice.message.subject
    return send_once(row, build_message(row, address, subject, describe_notice(row.notice), WHY))


def send_digest(digest_id: str, progress: Progress) -> Publish:
    """Try to send the notices of a day that are still unread."""
    row = Digest.objects.select_related("user").get(pk=digest_id)
    unread = row.notices.filter(read_at=None).select_related("message").order_by("at", "pk")
    notices = list(unread)
    if not notices:
        return partial(row.record_try, "read on the site", succeeded=True)
    address = find_address(row.user)
    if address is None:
        return partial(row.record_try, "not wanted any more", succeeded=True)
    subject = notices[0].text if len(notices) == 1 else f"{len(notices)} notices"
    text = "\n\n\n".join(describe_notice(notice) for notice in notices)
    return send_once(row, build_message(row, address, subject, text, WHY))


def send_invitation(invitation_id: str, progress: Progress) -> Publish:
    """Try to send an invitation, unless it was withdrawn or its reader wants no email."""
    row = Invitation.objects.select_related("benchmark", "assessment__track", "invited_by").get(
        pk=invitation_id
    )
    if row.withdrawn_at is not None:
        return partial(row.record_try, "withdrawn", succeeded=True)
    if is_stopped(row.email):
        return partial(row.give_up, str(row.pk), "no email is sent to this address")
    inviter = row.invited_by.display_name
    subject = f"{inviter} invites you to {describe_invitation(row)}"
    text = (
        f"{subject}.\n\nRead what it is about, and accept if you like:\n"
        f"{settings.SITE_URL}{invitation_path(row)}\n\n"
        f"The link is for one person and works until {row.ends_at:%d %b %Y}."
    )
    why = WHY_INVITED.format(inviter=inviter)
    return send_once(row, build_message(row, row.email, subject, text, why))


def describe_invitation(invitation: Invitation) -> str:
    """Return what somebody is invited to, after "invites you to"."""
    if invitation.assessment is None:
        return f"take part in {invitation.benchmark}"
    return f"judge for {invitation.assessment.track}"


def invitation_path(invitation: Invitation) -> str:
    """Return the page that says who invites to what, also to people without an account."""
    if invitation.assessment is not None:
        return reverse("join_judging", args=[invitation.code])
    return f"{reverse('join', args=[invitation.benchmark.slug])}?invitation={invitation.code}"


def describe_notice(notice: Notice) -> str:
    """Return a notice for an email: its text, what an organiser wrote, and the link."""
    link = f"{settings.SITE_URL}{notice.address}"
    written = [notice.message.text.strip()] if notice.message is not None else []
    return "\n\n".join([notice.text, *written, link])


def find_address(user: User) -> str | None:
    """Return the confirmed address of a reader, or nothing if email is not wanted."""
    return wanted_addresses().filter(user=user).values_list("email", flat=True).first()


def wanted_addresses() -> QuerySet[EmailAddress]:
    """Return the confirmed addresses of active users who want their notices by email."""
    wanted = EmailAddress.objects.filter(user__mails=True, user__is_active=True, verified=True)
    stopped = StoppedAddress.objects.values("email")
    return wanted.annotate(plain=Lower("email")).exclude(plain__in=stopped)


def count_by_email(users: Iterable[int]) -> int:
    """Return how many of these users get their notices by email too."""
    if not settings.EMAIL_HOST:
        return 0
    return wanted_addresses().filter(user__in=users).values("user").distinct().count()


def is_stopped(address: str) -> bool:
    return StoppedAddress.objects.filter(email=address.lower()).exists()


def unsubscribe_link(address: str) -> str:
    """Return the link that ends email to an address, for whoever reads its email."""
    return f"{settings.SITE_URL}{reverse('unsubscribe', args=[signing.dumps(address, salt=SALT)])}"


def read_unsubscribe_code(code: str) -> str | None:
    """Return the address of a link; nothing if this site did not make it."""
    try:
        return str(signing.loads(code, salt=SALT))
    except signing.BadSignature:
        return None


def build_message(
    row: OutgoingMessage, address: str, subject: str, text: str, why: str
) -> EmailMessage:
    """Return an email; a line end in the subject cannot begin a header."""
    site = urlsplit(settings.SITE_URL).hostname or "rankfield"
    link = unsubscribe_link(address)
    return EmailMessage(
        f"[Rankfield] {' '.join(subject.split())[:LONGEST_SUBJECT]}",
        BODY.format(text=text, why=why, unsubscribe=link),
        to=[address],
        headers={
            # The same at every try, so that mail programs recognise a duplicate.
            "Message-ID": f"<{row.KIND}-{row.pk}@{site}>",
            "Auto-Submitted": "auto-generated",
            "List-Unsubscribe": f"<{link}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        },
    )
