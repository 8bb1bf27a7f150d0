"""Errors are also sent to a collector that speaks Sentry's protocol, if the operator names one.

It receives what the log has: message, traceback, and the numbers of request and job. It receives no
request, no user, no variable and no query, because nothing but the record of the log is read.
"""

from __future__ import annotations

import atexit
import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leaderboard.infrastructure.logs import hide_secrets

if TYPE_CHECKING:
    from sentry_sdk import Client

LAST_SECONDS = 2.0


class ErrorReports(logging.Handler):
    """Send each error of the log; the package is imported with the first one."""

    def __init__(self, address: str, version: str) -> None:
        super().__init__(logging.ERROR)
        self.address, self.version = address, version

    @cached_property
    def client(self) -> Client:
        from sentry_sdk import Client

        client = Client(
            self.address,
            release=self.version,
            default_integrations=False,
            auto_enabling_integrations=False,
            include_local_variables=False,
            send_default_pii=False,
            max_breadcrumbs=0,
        )
        atexit.register(client.flush, LAST_SECONDS)
        return client

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.client.capture_event(self.describe(record))
        except Exception:
            self.handleError(record)

    def describe(self, record: logging.LogRecord) -> Any:
        """Return a record of the log as an event of the protocol."""
        from sentry_sdk.utils import event_from_exception

        event: dict[str, Any] = {}
        if record.exc_info and record.exc_info[0] is not None:
            event, _ = event_from_exception(record.exc_info, client_options=self.client.options)
        for error in event.get("exception", {}).get("values", []):
            error["value"] = hide_secrets(str(error.get("value", "")))
        numbers = {name: getattr(record, f"{name}_number", "") for name in ("request", "job")}
        return {
            **event,
            "level": "error",
            "logger": record.name,
            "logentry": {"formatted": hide_secrets(record.getMessage())},
            "tags": {name: number for name, number in numbers.items() if number},
        }
