"""Webhook delivery: signed HTTPS requests to public addresses, with retries.

The host name is resolved once; all of its addresses must be public, and the connection goes to a
checked one, so no name leads into the server's own network.  Redirects are not followed, and only
the status of the response is stored.  A call has one deadline for everything, because the timeout
of a socket starts again with every byte.
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

# For a whole call: name, connection, handshake, request and response.
CALL_SECONDS = 10
# For the name alone, while a user waits for a form.
LOOKUP_SECONDS = 5

Result = TypeVar("Result")


class WebhookError(Exception):
    """A URL cannot be called, or did not respond."""


@dataclass(frozen=True)
class Response:
    """The response to a call, in text, and whether the call succeeded."""

    text: str
    succeeded: bool


def deliver(delivery_id: str, progress: Progress) -> Publish:
    """Try to deliver one call."""
    delivery = Delivery.objects.select_related("webhook__track").get(pk=delivery_id)
    if delivery.webhook.switched_off_at is not None:
        return lambda: Delivery.give_up(delivery_id, Webhook.SWITCHED_OFF)
    response = send(delivery)
    return lambda: record_response(delivery, response)


def record_response(delivery: Delivery, response: Response) -> None:
    """Store the response; notify the organisers if it switches the webhook off."""
    delivery.record_try(response.text, response.succeeded)
    if delivery.webhook.record_result(response.succeeded):
        notices.notify_webhook_switched_off(delivery.webhook)


def send(delivery: Delivery) -> Response:
    """Make a call and return the response or the reason of its failure."""
    body = json.dumps(delivery.body).encode()
    try:
        status = post(delivery.webhook.url, body, build_headers(delivery, body))
    except (WebhookError, OSError, http.client.HTTPException) as reason:
        return Response(str(reason) or type(reason).__name__, succeeded=False)
    return Response(f"HTTP {status}", succeeded=200 <= status < 300)


def build_headers(delivery: Delivery, body: bytes) -> dict[str, str]:
    """Return the headers of a call; the signature covers the time, so no call can be replayed."""
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
    """Send a POST request and return the HTTP status.  Raises WebhookError."""
    parts = parse_url(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = PinnedConnection(parts)

    def call() -> int:
        connection.request("POST", path, body, headers)
        return connection.getresponse().status

    try:
        return run_with_deadline(CALL_SECONDS, call, "The call took over {} seconds.")
    finally:
        connection.abort()


def run_with_deadline(seconds: float, action: Callable[[], Result], message: str) -> Result:
    """Return what `action` returns, or raise WebhookError when its time is over.

    It runs in a thread, because nothing else interrupts the lookup of a name.
    """
    done: list[Result] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            done.append(action())
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="call", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise WebhookError(message.format(f"{seconds:g}"))
    return done[0]


def check_url(url: str) -> None:
    """Raise WebhookError if a URL cannot be called now."""
    parts = parse_url(url)
    run_with_deadline(
        LOOKUP_SECONDS,
        lambda: resolve_public_address(parts.hostname or "", port_of(parts)),
        "The host name was not resolved within {} seconds.",
    )


def parse_url(url: str) -> SplitResult:
    """Return the parts of a URL of the right form.  Raises WebhookError."""
    try:
        parts = urlsplit(url)
        port_of(parts)
    except ValueError:
        raise WebhookError("This is not a valid URL.") from None
    if parts.scheme != "https" and not settings.WEBHOOKS_ANYWHERE:
        raise WebhookError("Use an https URL.")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise WebhookError("This URL cannot be called.")
    return parts


def port_of(parts: SplitResult) -> int:
    """Return the port of a URL, or the default port of its scheme."""
    return parts.port or (443 if parts.scheme == "https" else 80)


def resolve_public_address(host: str, port: int) -> str:
    """Return the IP address to connect to.  Raises WebhookError unless it is public."""
    try:
        addresses = [
            str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        ]
    except (OSError, UnicodeError):
        raise WebhookError("The host name cannot be resolved.") from None
    if not settings.WEBHOOKS_ANYWHERE and not all(map(is_public, addresses)):
        raise WebhookError("The host is not on the public internet.")
    return addresses[0]


def is_public(address: str) -> bool:
    """Return whether an IP address is on the public internet.

    >>> is_public("93.184.216.34"), is_public("10.0.0.1"), is_public("::ffff:127.0.0.1")
    (True, False, False)
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if ip in NAT64_NETWORK:
        ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if any(ip in network for network in SPECIAL_NETWORKS):
        return False
    is_unicast = ip.version == 4 or ip in UNICAST_NETWORK
    return is_unicast and ip.is_global and not ip.is_multicast


# A network with IPv6 alone reaches an IPv4 address through its last 32 bits.
NAT64_NETWORK = ipaddress.ip_network("64:ff9b::/96")
# All hosts with IPv6 on the public internet are in here.
UNICAST_NETWORK = ipaddress.ip_network("2000::/3")
# Networks of the registries of special purposes that some versions of Python call global.
SPECIAL_NETWORKS = [
    ipaddress.ip_network(network)
    for network in (
        *("192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
        *("192.175.48.0/24", "2001::/23", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    )
]


class PinnedConnection(http.client.HTTPConnection):
    """A connection to the checked address, even if the name changes meanwhile."""

    def __init__(self, parts: SplitResult) -> None:
        super().__init__(parts.hostname or "", port_of(parts), timeout=CALL_SECONDS)
        self.is_secure = parts.scheme == "https"
        self.open_socket: socket.socket | None = None
        self.is_aborted = False

    def connect(self) -> None:
        address = resolve_public_address(self.host, self.port)
        self.sock = self.open_socket = socket.create_connection((address, self.port), self.timeout)
        if self.is_aborted:
            self.abort()
        if self.is_secure:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self.host)

    def abort(self) -> None:
        """Close the socket, even while a thread still waits for it."""
        self.is_aborted = True
        if self.open_socket is not None:
            # This wakes the thread; closing alone would leave it waiting.
            with suppress(OSError):
                self.open_socket.shutdown(socket.SHUT_RDWR)
            self.open_socket.close()
        self.close()
