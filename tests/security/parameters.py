"""Requests whose parameters hold what no parameter is meant to: all together, and each alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.db import DataError, connection, transaction
from django.http import HttpResponse, QueryDict
from django.test import Client
from django.urls import resolve

HOSTILE = {
    "letters": "abc",
    "a power": "1e5",
    "NUL": "\0",
    "40 digits": "9" * 40,
    "5,000 digits": "9" * 5_000,
    "a digit that is no number": "²",
    "half a character": "\ud800",
    "10,000 characters": "x" * 10_000,
}
# By night, only an address that reads more names than these leaves out what others tried alone.
MANY = 10
LOOKS = ("__getitem__", "__contains__", "get", "getlist")


def refuse_nul(
    execute: Callable[..., Any], sql: str, values: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Refuse on every database what PostgreSQL refuses: NUL in a query."""
    rows = values if many else [values]
    if any(isinstance(each, str) and "\0" in each for row in rows for each in row or ()):
        raise DataError("a text with NUL")
    return execute(sql, values, many, context)


@dataclass
class Walker:
    """Asks for addresses, and keeps what was answered by a failure."""

    client: Client
    # Try each name alone at every address that reads it, and not only all names together.
    thorough: bool = False
    # The names that the views read, as they read them.
    read: set[str] = field(default_factory=set)
    alone: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def note(self, what: str, send: Callable[[], HttpResponse]) -> None:
        """Each request finds the same database and the same session."""
        cookies = self.client.cookies.copy()
        with connection.execute_wrapper(refuse_nul), transaction.atomic():
            answer = send()
            if answer.streaming:
                b"".join(answer)
            transaction.set_rollback(True)
        self.client.cookies = cookies
        self.statuses[answer.status_code] += 1
        if answer.status_code >= 500:
            self.failures.append(what)

    def ask(
        self, method: str, address: str, form: dict[str, Any], put: dict[str, str], what: str = ""
    ) -> None:
        """An address with these parameters, in its query and in its form."""
        joint = "&" if "?" in address else "?"
        asked = f"{address}{joint}{urlencode(put, errors='surrogatepass')}" if put else address
        filled = as_bytes(form | put) if method == "post" else None
        said = f"{method} {address[:100]}: {what} in {', '.join(put) or 'its path'}"
        self.note(said, lambda: getattr(self.client, method)(asked, filled))

    def walk(self, method: str, address: str, form: dict[str, Any]) -> set[str]:
        """The address with each part of its path and each of its parameters replaced, and with all
        of them; the names of these."""
        for other, what in other_paths(address):
            self.ask(method, other, form, {}, what)
        names = self.learn(method, address, form)
        for what, value in HOSTILE.items():
            for chosen in [*([name] for name in self.to_try_alone(names)), names]:
                self.ask(method, address, form, dict.fromkeys(chosen, value), what)
        self.alone |= names
        return names

    def learn(self, method: str, address: str, form: dict[str, Any]) -> set[str]:
        """What is read of a right request, and of those which that makes wrong."""
        self.read.clear()
        self.ask(method, address, form, {})
        names: set[str] = set()
        while names != self.read | set(form):
            names = self.read | set(form)
            self.ask(method, address, form, dict.fromkeys(names, "abc"), "letters")
        return names

    def to_try_alone(self, names: set[str]) -> list[str]:
        if not self.thorough:
            return []
        return sorted(names if len(names) <= MANY else names - self.alone)


def as_bytes(form: dict[str, Any]) -> dict[str, Any]:
    """Half a character can be sent by bytes alone."""
    return {name: [bytes_of(each) for each in listed(value)] for name, value in form.items()}


def listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else [value]


def bytes_of(value: Any) -> Any:
    if hasattr(value, "seek"):
        value.seek(0)
        return value
    return str(value).encode("utf-8", "surrogatepass")


def other_paths(address: str) -> Iterator[tuple[str, str]]:
    """The address with each part of its path that is a parameter replaced."""
    path, _, query = address.partition("?")
    for name, value in resolve(path).kwargs.items():
        stands = re.compile(rf"(?<=[/.-]){re.escape(str(value))}(?=[/.-]|$)")
        assert stands.search(path), f"{name} is not seen in {path}"
        for what, other in HOSTILE.items():
            written = quote(other, safe="", errors="surrogatepass")
            yield f"{stands.sub(written, path)}?{query}".rstrip("?"), f"{what} as {name}"


def reading(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """A set that fills with the names under which queries and forms are read."""
    # Clients keep what every template was given, which takes most of a large form's time.
    monkeypatch.setattr("django.test.client.store_rendered_templates", lambda *_, **__: None)
    names: set[str] = set()
    for method in LOOKS:
        monkeypatch.setattr(QueryDict, method, noting(getattr(QueryDict, method), names))
    return names


def noting(look: Callable[..., Any], names: set[str]) -> Callable[..., Any]:
    def looked(self: QueryDict, name: str, *rest: Any) -> Any:
        names.add(name)
        return look(self, name, *rest)

    return looked
