"""Email of notices to confirmed addresses of readers who want it, with retries.

An email has the text of the notice and a link to its page, nothing else.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import QuerySet
from django.urls import reverse

from leaderboard.models import Mail, Notice
from leaderboard.models.jobs import Progress, Publish

LONGEST_SUBJECT = 120
BODY = """{text}

{address}

You get this email because you turned on email notices.
Turn this off: {account}
"""


def send_mail(mail_id: str, progress: Progress) -> Publish:
    """Try to send one email; a notice that is already read needs none."""
    row = Mail.objects.select_related("notice__user").get(pk=mail_id)
    if row.notice.read_at is not None:
        return lambda: row.record_try("read on the site", succeeded=True)
    address = find_address(row.notice)
    if address is None:
        return lambda: row.record_try("not wanted any more", succeeded=True)
    try:
        build_message(address, row).send()
    except OSError as error:
        reason = str(error) or type(error).__name__
        return lambda: row.record_try(reason, succeeded=False)
    return lambda: row.record_try("sent", succeeded=True)


def find_address(notice: Notice) -> str | None:
    """Return the confirmed address of the reader, or nothing if email is not wanted."""
    return wanted_addresses().filter(user=notice.user).values_list("email", flat=True).first()


def wanted_addresses() -> QuerySet[EmailAddress]:
    """Return the confirmed addresses of active users who want their notices by email."""
    return EmailAddress.objects.filter(user__mails=True, user__is_active=True, verified=True)


def build_message(address: str, row: Mail) -> EmailMessage:
    """Return the email of a notice."""
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
            # The same at every try, so that mail programs recognise a duplicate.
            "Message-ID": f"<notice-{row.pk}@{site}>",
            "Auto-Submitted": "auto-generated",
        },
    )
