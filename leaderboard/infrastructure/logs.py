"""Log records with the number of their request and of their job, as text or as JSON.

The number of a request is also a header of its response and is shown on error pages. The lines of a
job have the number of the request that asked for it.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType

from django.http import HttpRequest

log = logging.getLogger(__name__)

ExceptionInfo = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)
request_number: ContextVar[str] = ContextVar("request_number", default="")
job_number: ContextVar[str] = ContextVar("job_number", default="")


# What leads to an account or past a login: the end of these paths, and tokens of the API.
SECRETS = re.compile(
    r"(?<=/reset/key/)\S+|(?<=/confirm-email/)\S+|(?<=/judging/join/)\S+|(?<=badges/)\S+|\brf_[\w-]+"
)


def hide_secrets(text: str) -> str:
    """Replace what a reader of the log must not have.

    >>> hide_secrets("GET /account/password/reset/key/3-abc/")
    'GET /account/password/reset/key/…'
    >>> hide_secrets("Bearer rf_0123456789 was refused")
    'Bearer … was refused'
    """
    return SECRETS.sub("…", text)


def describe_request(request: HttpRequest, status: int, seconds: float) -> dict[str, object]:
    """Return the fields of the line that ends a request; a user only if the answer needed one."""
    user = getattr(request, "_cached_user", None)
    token = getattr(request, "auth", None)
    return {
        "method": request.method,
        "path": hide_secrets(request.path),
        "status": status,
        "milliseconds": round(1000 * seconds),
        "user": getattr(getattr(token, "user", user), "pk", None),
    }


@contextmanager
def log_failure(what: str) -> Iterator[None]:
    """Log an error and go on, so that what comes next does not depend on this."""
    try:
        yield
    except Exception:
        log.exception("%s failed", what)


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
        said = hide_secrets(super().formatMessage(record))
        return said + (f" [request {number}]" if number else "")

    def formatException(self, ei: ExceptionInfo) -> str:
        return hide_secrets(super().formatException(ei))


class JsonFormatter(logging.Formatter):
    """Format a record as a JSON object on one line, traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": hide_secrets(record.getMessage()),
            "process": record.process,
            "request": record.request_number,  # type: ignore[attr-defined]
            "job": record.job_number,  # type: ignore[attr-defined]
            **getattr(record, "figures", {}),
        }
        if record.exc_info:
            fields["traceback"] = hide_secrets(self.formatException(record.exc_info))
        return json.dumps(
            {name: value for name, value in fields.items() if value not in ("", None)}
        )
