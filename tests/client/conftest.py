"""A client whose requests reach the site of this process; each is compared with the contract."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from functools import cache
from io import BytesIO
from typing import Any
from urllib.error import URLError
from urllib.parse import parse_qs, urlsplit
from urllib.response import addinfourl

import pytest
from django.test import Client

from leaderboard.models import ApiToken, User
from rankfield import Site, connection
from tests.builders import work

URL = "http://testserver"
# Headers that HTTP itself knows need no line in the contract.
PLAIN = {"User-agent", "Authorization", "Content-type", "Content-length"}


@cache
def contract() -> dict[str, Any]:
    """What `/api/v1/openapi.json` answers."""
    return Client().get("/api/v1/openapi.json").json()


def schema_of(name: str) -> dict[str, Any]:
    return contract()["components"]["schemas"][name]


def call_of(method: str, path: str) -> dict[str, Any]:
    """The call of the contract that a request makes."""
    for template, calls in contract()["paths"].items():
        if re.fullmatch(re.sub(r"{\w+}", "[^/]+", template), path) and method in calls:
            return calls[method]
    raise AssertionError(f"the contract has no {method} {path}")


def assert_in_contract(request: urllib.request.Request, body: bytes, status: int) -> None:
    address = urlsplit(request.full_url)
    if not address.path.startswith("/api/"):
        return
    call = call_of(request.get_method().lower(), address.path)
    known = {parameter["name"].lower() for parameter in call.get("parameters", [])}
    headers = {name.lower() for name in request.headers if name not in PLAIN}
    assert {*parse_qs(address.query), *headers} <= known
    if body:
        kind = request.headers["Content-type"].partition(";")[0]
        sent = names_in_body(kind, body)
        known_bodies = [*names_known(call["requestBody"]["content"][kind]["schema"])]
        assert any(sent <= names for names in known_bodies), (sent, known_bodies)
    assert status >= 300 or str(status) in call["responses"], f"the contract has no {status}"


def names_known(schema: dict[str, Any]) -> Iterator[set[str]]:
    """The fields of a body, or of each body that a call takes."""
    if "$ref" in schema:
        schema = schema_of(schema["$ref"].rpartition("/")[2])
    for one in schema.get("oneOf", []):
        yield from names_known(one)
    if "oneOf" not in schema:
        yield set(schema.get("properties", {}))


def names_in_body(kind: str, body: bytes) -> set[str]:
    if kind == "application/json":
        return set(json.loads(body))
    names = re.findall(rb'name="(\w+)"', body) if kind == "multipart/form-data" else []
    return {name.decode() for name in names}


@dataclass
class InProcess(urllib.request.BaseHandler):
    """Answers requests by the application of this process; a worker works after each upload.

    The first `lost` answers get lost on their way back, and so many bytes of a piece arrive
    before its connection breaks.
    """

    lost: int = 0
    cuts: list[int] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def http_open(self, request: urllib.request.Request) -> addinfourl:
        body = request.data or b""
        body = body if isinstance(body, bytes) else b"".join(body)
        path = request.selector
        is_cut = request.get_method() == "PATCH" and bool(self.cuts)
        body = body[: self.cuts.pop(0)] if is_cut else body
        self.calls.append(f"{request.get_method()} {path}")
        headers = {**request.headers, **request.unredirected_hdrs}
        kind = headers.get("Content-type", "application/json")
        answer = Client().generic(request.get_method(), path, body, kind, headers=headers)
        work()
        assert_in_contract(request, body, answer.status_code)
        if self.lost or is_cut:
            self.lost -= not is_cut
            raise URLError("the connection was closed")
        received = Message()
        for name, value in answer.items():
            received[name] = value
        content = addinfourl(BytesIO(answer.getvalue()), received, path, answer.status_code)
        content.msg = answer.reason_phrase
        return content


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> InProcess:
    """Every client of the test uses it, without pauses between attempts."""
    network = InProcess()
    opener = urllib.request.OpenerDirector()
    for handler in (
        network,
        connection.NoRedirect(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    monkeypatch.setattr(connection, "build_opener", lambda: opener)
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0)
    return network


def site_for(user: User, scopes: list[str] | None = None) -> Site:
    _, token = ApiToken.objects.issue(user, scopes or ["read", "submit"])
    return Site(URL, token)


@pytest.fixture
def bens_site(network: InProcess, ben: User) -> Site:
    return site_for(ben)
