"""Notices go out by mail too: to a confirmed address of who wants it, and again where it fails.

A mail says what the notice says and where to read on, nothing else.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage
from django.urls import reverse

from leaderboard.models import Mail, Notice
from leaderboard.models.jobs import Progress, Publish

LONGEST_SUBJECT = 120
BODY = """{text}

{address}

You get this email because you turned on email notices.
Turn this off: {account}
"""


def mail(mail_id: str, progress: Progress) -> Publish:
    """One try at one mail; a notice that was read meanwhile needs none."""
    row = Mail.objects.select_related("notice__user").get(pk=mail_id)
    if row.notice.read_at is not None:
        return lambda: row.keep_answer("read on the site", good=True)
    address = address_of(row.notice)
    if address is None:
        return lambda: row.keep_answer("not wanted any more", good=True)
    try:
        message_to(address, row).send()
    except OSError as error:
        reason = str(error) or type(error).__name__
        return lambda: row.keep_answer(reason, good=False)
    return lambda: row.keep_answer("sent", good=True)


def address_of(notice: Notice) -> str | None:
    """Where its reader takes mail: the confirmed address, and only while mails are wanted."""
    wanted = EmailAddress.objects.filter(user=notice.user, user__mails=True, user__is_active=True)
    return wanted.filter(verified=True).values_list("email", flat=True).first()


def message_to(address: str, row: Mail) -> EmailMessage:
    text, site = row.notice.text, urlsplit(settings.SITE_URL).hostname or "rankfield"
    body = BODY.format(
        text=text,
        address=f"{settings.SITE_URL}{row.notice.address}",
        account=f"{settings.SITE_URL}{reverse('account')}",
    )
    return EmailMessage(
        f"[Rankfield] {' '.join(text.split())[:LONGEST_SUBJECT]}",
        body,
        to=[address],
        headers={
            # The same at every try, so that what came twice is known for one.
            "Message-ID": f"<notice-{row.pk}@{site}>",
            "Auto-Submitted": "auto-generated",
        },
    )
