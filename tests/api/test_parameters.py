"""No parameter of any call, whatever stands in it, is answered by a failure of ours.

Parameters and fields are those of the OpenAPI document; right calls are the rows of the matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection

from leaderboard.api import api
from tests.api.conftest import Program
from tests.api.test_matrix import CALLS, Call, names, names_of_all, part, people
from tests.security.parameters import HOSTILE, Walker, as_bytes, other_paths

__all__ = ["names", "names_of_all", "people"]

pytestmark = [pytest.mark.long]
# PostgreSQL stores less, so tests/services/test_postgresql.py walks there by day.
if connection.vendor != "postgresql":
    pytestmark.append(pytest.mark.night)

NUMBERS = {"a power": 1e5, "40 digits": 10**40 - 1, "less than nothing": -1, "a half": 0.5}
NESTED = ("NUL", "half a character", "40 digits", "letters")


@pytest.fixture
def program(people, names, settings) -> Program:
    """Of Sue, who may do everything as often as she likes."""
    settings.API_WRITES_PER_MINUTE = 10**9
    program = Program(people["sue"])
    program.client.raise_request_exception = False
    return program


def described() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, calls in api.get_openapi_schema()["paths"].items():
        for method, call in calls.items():
            yield f"{method} {path.removeprefix('/api/v1')}", call


def parameters_of(call: dict[str, Any]) -> list[str]:
    return [each["name"] for each in call.get("parameters", []) if each["in"] == "query"]


def fields_of(call: dict[str, Any]) -> list[str]:
    """The fields of a body, of JSON or of a form."""
    content = call.get("requestBody", {}).get("content", {})
    return [name for body in content.values() for name in properties(body["schema"])]


def properties(schema: dict[str, Any]) -> list[str]:
    if "$ref" in schema:
        known = api.get_openapi_schema()["components"]["schemas"]
        return properties(known[schema["$ref"].rpartition("/")[2]])
    inside = [schema, *schema.get("anyOf", ()), *schema.get("allOf", ())]
    deeper = [properties(each) for each in inside[1:]]
    return [*schema.get("properties", {}), *(name for names in deeper for name in names)]


def json_values() -> Iterator[tuple[str, Any]]:
    yield from HOSTILE.items()
    yield from NUMBERS.items()
    yield from (("nothing", None), ("a list", []), ("a switch", True))
    for what in NESTED:
        yield f"a list of {what}", [HOSTILE[what]]
        yield f"an object of {what}", {HOSTILE[what]: HOSTILE[what]}
    yield from ((f"a list of numbers: {what}", [number]) for what, number in NUMBERS.items())


class Calls:
    """Every call with each of its parameters and fields replaced."""

    def __init__(self, program: Program, names: dict[str, str], *, thorough: bool) -> None:
        self.program, self.names = program, names
        self.walker = Walker(program.client, thorough)

    def walk(self, key: str, described: dict[str, Any], call: Call) -> None:
        address = "/api/v1" + call.address.format(**self.names)
        for other, what in other_paths(address):
            self.send(key, call, other, {}, what)
        parameters = set(parameters_of(described))
        for name in self.walker.to_try_alone(parameters):
            for what, value in HOSTILE.items():
                query = urlencode({name: value}, errors="surrogatepass")
                joint = "&" if "?" in address else "?"
                self.send(key, call, f"{address}{joint}{query}", {}, f"{what} as {name}")
        fields = {*fields_of(described), *call.form}
        for name in self.walker.to_try_alone(fields):
            for what, value in HOSTILE.items() if call.form else json_values():
                self.send(key, call, address, {name: value}, f"{what} as {name}")
        self.walker.alone |= parameters | fields

    def send(self, key: str, call: Call, address: str, put: dict[str, Any], what: str) -> None:
        method, said = key.split()[0], f"{key}: {what}"
        if call.form:
            right = {name: part(text) for name, text in call.form.items()}
            sending = partial(self.program.send, address, **as_bytes(right | put))
        elif method in ("post", "patch") or put:
            body = {**(call.body or {}), **put}
            sending = partial(getattr(self.program, method), address, body)
        else:
            sending = partial(getattr(self.program, method), address)
        self.walker.note(said, sending)


@pytest.mark.parametrize(
    "walked", ["together", pytest.param("everywhere", marks=pytest.mark.night)]
)
def test_no_parameter_and_no_field_breaks_a_call(program, names, walked):
    """The names of a call are tried together, and by night each alone."""
    calls = Calls(program, names, thorough=walked == "everywhere")
    for key, call in described():
        calls.walk(key, call, CALLS[key])
    assert calls.walker.failures == []
    assert {"facts", "measures", "ladder_step", "reason", "formats"} <= calls.walker.alone
    assert calls.walker.statuses[429] == calls.walker.statuses[401] == 0
