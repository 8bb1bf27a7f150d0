"""Lines of the log that belong together: each carries the number of its request and of its job.

People get a line of text, programs a line of JSON.  The number of a request is also a header of
its answer and stands on the page that says that something went wrong.
"""

from __future__ import annotations

import json
import logging
import secrets
from contextvars import ContextVar
from datetime import UTC, datetime

request_number: ContextVar[str] = ContextVar("request_number", default="")
job_number: ContextVar[str] = ContextVar("job_number", default="")


def new_number() -> str:
    return secrets.token_hex(6)


class Numbered(logging.Filter):
    """Gives each record the numbers of what it was written for."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_number = request_number.get()
        record.job_number = job_number.get()
        return True


class Suspicious(logging.Filter):
    """Turns an error that Django logs for a malformed request into a warning of one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.exc_info = None
        return True


class Lines(logging.Formatter):
    """For people: the time, how bad, who, what, and for which request or job."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        number = record.request_number  # type: ignore[attr-defined]
        return super().formatMessage(record) + (f" [request {number}]" if number else "")


class JsonLines(logging.Formatter):
    """For programs: one object a line, with the traceback in it."""

    def format(self, record: logging.LogRecord) -> str:
        said = {
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
            said["traceback"] = self.formatException(record.exc_info)
        return json.dumps({name: word for name, word in said.items() if word not in ("", None)})
