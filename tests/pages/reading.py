"""A page as its reader sees it."""

from __future__ import annotations

import re
from html import unescape

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.conftest import forget


def page_at(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def words(page: str) -> str:
    """The text alone, as one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())


def rows(page: str, table: int = 0) -> list[str]:
    """The rows of a table as text, a space between cells."""
    bodies = re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL)
    found = re.findall(r"<tr.*?</tr>", bodies[table], re.DOTALL)
    return [words(row.replace("<", " <")) for row in found]


def num_queries(client: Client, address: str) -> int:
    """How many a process asks that remembers nothing."""
    forget()
    with CaptureQueriesContext(connection) as queries:
        page_at(client, address)
    return len(queries)
