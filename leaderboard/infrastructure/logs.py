"""Log records with the number of their request and of their job, as text or as JSON.

The number of a request is also a header of its response and is shown on error pages.
"""

from __future__ import annotations

import json
import logging
import secrets
from contextvars import ContextVar
from datetime import UTC, datetime

request_number: ContextVar[str] = ContextVar("request_number", default="")
job_number: ContextVar[str] = ContextVar("job_number", default="")


def new_request_number() -> str:
    """Return a new random number for a request."""
    return secrets.token_hex(6)


class NumberFilter(logging.Filter):
    """Add the numbers of the request and of the job to each record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_number = request_number.get()
        record.job_number = job_number.get()
        return True


class DemoteToWarning(logging.Filter):
    """Log a malformed request as a warning of one line, where Django logs an error."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.exc_info = None
        return True


class TextFormatter(logging.Formatter):
    """Format a record as a line of text: time, level, logger, message and request."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        number = record.request_number  # type: ignore[attr-defined]
        return super().formatMessage(record) + (f" [request {number}]" if number else "")


class JsonFormatter(logging.Formatter):
    """Format a record as a JSON object on one line, traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            "request": record.request_number,  # type: ignore[attr-defined]
            "job": record.job_number,  # type: ignore[attr-defined]
            **getattr(record, "figures", {}),
        }
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return json.dumps(
            {name: value for name, value in fields.items() if value not in ("", None)}
        )
