"""What actions raise: a rejected request with its code, or the reason in words."""

from __future__ import annotations


class NotAccepted(Exception):
    """A rejected request: error code, message and, if known, when to retry."""

    def __init__(self, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after = retry_after


class ActionError(Exception):
    """Why an action cannot be done now; the organiser sees the text."""
