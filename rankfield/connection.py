"""Calls to a site over HTTP: repeated attempts, and errors as exceptions."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPException
from typing import IO, Any
from urllib.parse import urlencode

from rankfield.answers import read_problems
from rankfield.errors import RejectedError, SiteError, UnreachableError
from rankfield.forms import Form
from rankfield.version import VERSION

Query = Mapping[str, str]

API = "/api/v1"

# How many attempts a call gets, and the seconds before the second; twice as many before the next.
ATTEMPTS = 5
FIRST_PAUSE = 1.0
# If the site asks for a longer pause, such as for the quota of tomorrow, the call has failed.
LONGEST_PAUSE = 90.0
# A site that restarts or is overloaded, as its proxy reports it.
GATEWAY_ERRORS = (502, 503, 504)
UNAUTHORIZED = 401
# A longer answer is none of Rankfield's, and would fill the memory.
LONGEST_ANSWER = 2**28
LONGEST_ERROR = 2**20
# What would move the cursor of a terminal, turn its text around, or cannot be printed at all.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow no redirect: a form would become a read, and the token would go elsewhere."""

    def redirect_request(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


def build_opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(NoRedirect)


@dataclass(frozen=True)
class Connection:
    """A site, a token and what opens its addresses."""

    url: str
    token: str = ""
    timeout: float = 60.0
    opener: urllib.request.OpenerDirector = field(default_factory=lambda: build_opener())

    def get(self, path: str, query: Query | None = None) -> Any:
        """Return the JSON of a read; empty values of the query are not sent."""
        return self.decode(self.get_bytes(path, query))

    def get_bytes(self, path: str, query: Query | None = None) -> bytes:
        return self._open_repeatedly(self._request("GET", path, query))

    def post(self, path: str, form: Form) -> Any:
        """Send a form and return the JSON of the answer.

        Its key makes a repeated form count once, so an attempt without an answer is repeated.
        """
        request = self._request("POST", path)
        request.data = form
        request.add_header("Content-Type", form.content_type)
        request.add_header("Content-Length", str(form.size))
        request.add_header("Idempotency-Key", uuid.uuid4().hex)
        return self.decode(self._open_repeatedly(request))

    def post_json(self, path: str, values: Mapping[str, Any]) -> Any:
        """Send values and return the JSON of the answer; an attempt without one is repeated."""
        request = self._request("POST", path)
        request.data = json.dumps(values).encode()
        request.add_header("Content-Type", "application/json")
        return self.decode(self._open_repeatedly(request))

    def post_once(self, path: str, values: Mapping[str, Any] | None = None) -> Any:
        """Send values, if any, once, as a second time would count again; return the JSON."""
        request = self._request("POST", path)
        request.data = b"" if values is None else json.dumps(values).encode()
        request.add_header("Content-Type", "application/json")
        return self.decode(self._open(request))

    def patch(self, path: str, content: bytes, headers: Mapping[str, str]) -> Any:
        """Send bytes once and return the JSON of the answer."""
        request = self._request("PATCH", path)
        request.data = content
        request.add_header("Content-Type", "application/octet-stream")
        for name, value in headers.items():
            request.add_header(name, value)
        return self.decode(self._open(request))

    def delete(self, path: str, query: Query | None = None) -> None:
        self._open(self._request("DELETE", path, query))

    def _request(self, method: str, path: str, query: Query | None = None) -> Any:
        # A path that the site gave could make its host a part of another one.
        if not path.startswith("/"):
            raise UnreachableError(f"{self.url} does not answer as Rankfield does.")
        asked = urlencode({name: value for name, value in (query or {}).items() if value})
        headers = {"User-Agent": f"Rankfield/{VERSION}"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        address = self.url + path + (f"?{asked}" if asked else "")
        return urllib.request.Request(address, headers=headers, method=method)

    def _open_repeatedly(self, request: urllib.request.Request) -> bytes:
        pause = FIRST_PAUSE
        for _ in range(ATTEMPTS - 1):
            try:
                return self._open(request)
            except SiteError as error:
                if error.retry_after is None or error.retry_after > LONGEST_PAUSE:
                    raise
                time.sleep(max(pause, error.retry_after))
            pause *= 2
        return self._open(request)

    def _open(self, request: urllib.request.Request) -> bytes:
        try:
            with self.opener.open(request, timeout=self.timeout) as answer:
                content: bytes = answer.read(LONGEST_ANSWER + 1)
        except urllib.error.HTTPError as error:
            raise self._rejection(error) from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            message = f"{self.url} cannot be reached: {reason}."
            raise UnreachableError(message, retry_after=0) from None
        if len(content) > LONGEST_ANSWER:
            raise UnreachableError(f"The answer of {self.url} is too long.")
        return content

    def _rejection(self, answer: urllib.error.HTTPError) -> SiteError:
        """Return the error of an answer that is none of success."""
        with answer:
            content = answer.read(LONGEST_ERROR)
        retry_after = answer.headers.get("Retry-After", "")
        is_number = retry_after.isascii() and retry_after.isdigit()
        seconds = float(retry_after) if is_number else None
        if answer.code in GATEWAY_ERRORS:
            seconds = seconds or 0
        if new_url := answer.headers.get("Location", ""):
            new_url = make_printable(new_url)
            return UnreachableError(f"{self.url} redirects to {new_url}: use the URL of the site.")
        try:
            found = make_printable(json.loads(content))
            message, code = str(found["message"]), str(found["code"])
            problems = read_problems(found)
        except (ValueError, KeyError, TypeError, RecursionError, UnreachableError):
            return UnreachableError(f"{self.url} answered with status {answer.code}.", seconds)
        if answer.code == UNAUTHORIZED:
            refused = "The site does not accept this token" if self.token else "This needs a token"
            message = (
                f"{refused}. Create one at {self.url}/account/ and set RANKFIELD_TOKEN to it, or "
                f"keep it by: rankfield login {self.url}"
            )
        return RejectedError(message, problems, code, answer.code, seconds)

    def decode(self, content: bytes) -> Any:
        """Return the value of some JSON.  Raises UnreachableError."""
        try:
            return make_printable(json.loads(content))
        except (ValueError, RecursionError):
            raise UnreachableError(f"{self.url} does not answer as Rankfield does.") from None


def make_printable(value: Any) -> Any:
    """Return a JSON value whose texts do nothing to a terminal but show characters.

    >>> make_printable({"tag": "bm25\\x1b[2J"})
    {'tag': 'bm25�[2J'}
    """
    if isinstance(value, str):
        return UNPRINTABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [make_printable(part) for part in value]
    if isinstance(value, dict):
        return {make_printable(name): make_printable(part) for name, part in value.items()}
    return value
