"""Webhook delivery: signed HTTPS requests to public addresses, with retries.

The host's name is resolved once; every address of it has to be public, and the connection goes to
the one that was looked at, so that no name leads inside.  Redirects are not followed, and of the
answer only its status is kept.  A call has one deadline for everything: a timeout of a socket
begins anew with every byte.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from leaderboard.models import Delivery, Webhook
from leaderboard.models.jobs import Progress, Publish
from leaderboard.notifications import notices

# For a whole call: name, connection, handshake, request and answer.
SECONDS = 10
# For the name alone, while somebody waits for a form.
NAME_SECONDS = 5

Result = TypeVar("Result")


class NotCalled(Exception):
    """Why an address is not called, or did not answer."""


@dataclass(frozen=True)
class Answer:
    words: str
    good: bool


def deliver(delivery_id: str, progress: Progress) -> Publish:
    """One try at one call."""
    delivery = Delivery.objects.select_related("webhook__track").get(pk=delivery_id)
    if delivery.webhook.switched_off_at is not None:
        return lambda: Delivery.give_up(delivery_id, Webhook.SWITCHED_OFF)
    answer = answer_to(delivery)
    return lambda: keep(delivery, answer)


def keep(delivery: Delivery, answer: Answer) -> None:
    """Store the answer; notify the organisers where it switches the webhook off."""
    delivery.keep_answer(answer.words, answer.good)
    if delivery.webhook.note(answer.good):
        notices.webhook_switched_off(delivery.webhook)


def answer_to(delivery: Delivery) -> Answer:
    body = json.dumps(delivery.body).encode()
    try:
        status = post(delivery.webhook.url, body, headers_of(delivery, body))
    except (NotCalled, OSError, http.client.HTTPException) as reason:
        return Answer(str(reason) or type(reason).__name__, good=False)
    return Answer(f"HTTP {status}", good=200 <= status < 300)


def headers_of(delivery: Delivery, body: bytes) -> dict[str, str]:
    """The signature is that of the time, a dot and the body, so that no old call counts again."""
    at = str(int(time.time()))
    signed = hmac.new(delivery.webhook.secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Rankfield/{settings.VERSION}",
        "X-Rankfield-Event": delivery.happening,
        "X-Rankfield-Delivery": str(delivery.pk),
        "X-Rankfield-Timestamp": at,
        "X-Rankfield-Signature": f"sha256={signed.hexdigest()}",
    }


def post(url: str, body: bytes, headers: dict[str, str]) -> int:
    parts = parts_of(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = Pinned(parts)

    def call() -> int:
        connection.request("POST", path, body, headers)
        return connection.getresponse().status

    try:
        return within(SECONDS, call, "The call took over {} seconds.")
    finally:
        connection.hang_up()


def within(seconds: float, do: Callable[[], Result], late: str) -> Result:
    """Return what `do` returns, or raise NotCalled once its time is up.

    It runs in a thread, because nothing else interrupts the look-up of a name.
    """
    done: list[Result] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            done.append(do())
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="call", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise NotCalled(late.format(f"{seconds:g}"))
    return done[0]


def check_url(url: str) -> None:
    """Raises NotCalled where an address could not be called as things stand."""
    parts = parts_of(url)
    within(
        NAME_SECONDS,
        lambda: public_address(parts.hostname or "", port_of(parts)),
        "The host name was not resolved within {} seconds.",
    )


def parts_of(url: str) -> SplitResult:
    """The parts of an address of the right form.  Raises NotCalled."""
    try:
        parts = urlsplit(url)
        port_of(parts)
    except ValueError:
        raise NotCalled("This is not a valid URL.") from None
    if parts.scheme != "https" and not settings.WEBHOOKS_ANYWHERE:
        raise NotCalled("Use an https URL.")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise NotCalled("This URL cannot be called.")
    return parts


def port_of(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def public_address(host: str, port: int) -> str:
    """The IP address to connect to.  Raises NotCalled where the name leads inside."""
    try:
        found = [each[4][0] for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        raise NotCalled("The host name cannot be resolved.") from None
    if not settings.WEBHOOKS_ANYWHERE and not all(is_public(str(each)) for each in found):
        raise NotCalled("The host is not on the public internet.")
    return str(found[0])


def is_public(address: str) -> bool:
    """
    >>> is_public("93.184.216.34"), is_public("10.0.0.1"), is_public("::ffff:127.0.0.1")
    (True, False, False)
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if any(ip in network for network in NOT_A_HOST):
        return False
    if ip in NAT64:
        ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    mapped = getattr(ip, "ipv4_mapped", None) or ip
    return mapped.is_global and not mapped.is_multicast


# Where a network of IPv6 alone reaches the address of IPv4 that stands in the last 32 bits.
NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Other ways to write an address of IPv4 into one of IPv6, and site-local ones: all out of use.
NOT_A_HOST = [
    ipaddress.ip_network(each)
    for each in ("::/96", "::ffff:0:0:0/96", "2002::/16", "fec0::/10", "64:ff9b:1::/48")
]


class Pinned(http.client.HTTPConnection):
    """A connection to the address that was looked at, whatever the name says a moment later."""

    def __init__(self, parts: SplitResult) -> None:
        super().__init__(parts.hostname or "", port_of(parts), timeout=SECONDS)
        self.is_secure = parts.scheme == "https"
        self.line: socket.socket | None = None
        self.hung_up = False

    def connect(self) -> None:
        address = public_address(self.host, self.port)
        self.sock = self.line = socket.create_connection((address, self.port), self.timeout)
        if self.hung_up:
            self.hang_up()
        if self.is_secure:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self.host)

    def hang_up(self) -> None:
        """Close the line, also under a thread that still waits on it."""
        self.hung_up = True
        if self.line is not None:
            # The thread wakes up; to close alone would leave it waiting.
            with suppress(OSError):
                self.line.shutdown(socket.SHUT_RDWR)
            self.line.close()
        self.close()
