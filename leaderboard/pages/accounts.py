"""Sign-up, account email and the storage of second factors."""

from __future__ import annotations

import base64
import hashlib
import logging
from typing import Any

import qrcode
from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from leaderboard.actions.people import needs_second_factor
from leaderboard.pages.proxy_sign_in import read_person

log = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return settings.SIGNUP_OPEN

    def get_logout_redirect_url(self, request: HttpRequest) -> str:
        """Return where a sign-out leads; a proxy would sign its person in again at once."""
        if settings.PROXY_USER_HEADER and read_person(request):
            return reverse("signed_out_of_proxy")
        return super().get_logout_redirect_url(request)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send an email, but only log a failure, so that a mail server outage breaks no page."""
        try:
            super().send_mail(template_prefix, email, context)
        except OSError as error:
            log.error("the email server rejected an email: %s", type(error).__name__)


class SecondFactorAdapter(DefaultMFAAdapter):
    """Store second-factor secrets encrypted with the secret key of the site."""

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _cipher().decrypt(encrypted_text.encode()).decode()

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        return not needs_second_factor(authenticator.user)

    def build_totp_svg(self, url: str) -> str:
        """Return a URL as an SVG QR code without inline style or script."""
        code = qrcode.QRCode(border=2)
        code.add_data(url)
        rows = code.get_matrix()
        squares = "".join(
            f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark
        )
        return format_html(
            '<svg class="qr" viewBox="0 0 {0} {0}" role="img" aria-label="QR code of the secret">'
            '<path class="paper" d="M0 0h{0}v{0}h-{0}z"/><path d="{1}"/></svg>',
            len(rows),
            squares,
        )


def _cipher() -> MultiFernet:
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    digests = (hashlib.sha256(f"second factor {key}".encode()).digest() for key in keys)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
