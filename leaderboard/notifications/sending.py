"""Send an email at most once: what a server may have taken is never sent again."""

from __future__ import annotations

import smtplib
from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

from leaderboard.models import StoppedAddress
from leaderboard.models.jobs import Publish
from leaderboard.models.notices import OutgoingMessage

# A server that looks for spam may take this long to answer, in seconds.
PATIENCE = 60
UNKNOWN = "It may have been sent: a try ended without an answer. It is not sent again."
# From this code on an answer of a server is final.
FINAL = 500


class UncertainError(OSError):
    """The server had the text of an email and gave no answer."""


class _WaitsForAnswer:
    """Tells a server that took a text in silence from one that was never reached."""

    def data(self, msg: Any) -> Any:
        self.sock.settimeout(PATIENCE)  # type: ignore[attr-defined]
        try:
            return super().data(msg)  # type: ignore[misc]
        except smtplib.SMTPResponseException:
            raise
        except OSError as error:
            raise UncertainError(str(error)) from error


class _Server(_WaitsForAnswer, smtplib.SMTP):
    pass


class _TlsServer(_WaitsForAnswer, smtplib.SMTP_SSL):
    pass


class OnceBackend(EmailBackend):
    """Django's way to a mail server; raises UncertainError where a text may have been taken."""

    @property
    def connection_class(self) -> Callable[..., smtplib.SMTP]:
        return _TlsServer if self.use_ssl else _Server


def send_once(row: OutgoingMessage, message: EmailMessage) -> Publish:
    """Try to send an email, and return what records how that ended."""
    give_up = partial(type(row).give_up, str(row.pk))
    if not row.begin():
        return partial(give_up, UNKNOWN)
    try:
        message.send()
    except UncertainError:
        return partial(give_up, UNKNOWN)
    except smtplib.SMTPRecipientsRefused as refusal:
        ((address, (code, words)),) = refusal.recipients.items()
        answer = f"{code} {words.decode('utf-8', 'replace')}"
        if code >= FINAL:
            return partial(_record_refusal, row, address, answer)
        return partial(row.record_try, answer, succeeded=False)
    except OSError as error:
        return partial(row.record_try, str(error) or type(error).__name__, succeeded=False)
    return partial(row.record_try, "sent", succeeded=True)


def _record_refusal(row: OutgoingMessage, address: str, answer: str) -> None:
    row.give_up(str(row.pk), answer)
    StoppedAddress.objects.update_or_create(
        email=address.lower(),
        defaults={"reason": StoppedAddress.Reason.REFUSED, "answer": answer[:200]},
    )
