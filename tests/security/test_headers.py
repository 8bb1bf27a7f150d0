"""T12: the headers that every answer carries; the matrix of pages asks for them everywhere."""

from __future__ import annotations

import pytest
from django.http import HttpResponse


def assert_guarded(answer: HttpResponse) -> None:
    """Fail where an answer lacks a header that keeps other sites from using it."""
    policy = dict(
        part.strip().split(" ", 1) for part in answer["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'self'" and "unsafe" not in str(policy)
    assert policy["frame-ancestors"] == policy["object-src"] == policy["base-uri"] == "'none'"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer["X-Frame-Options"] == "DENY"
    assert "Access-Control-Allow-Origin" not in answer


@pytest.mark.parametrize("address", ["/account/login/", "/nowhere/"])
def test_t12_an_answer_that_no_matrix_has_carries_its_headers(db, client, address):
    assert_guarded(client.get(address))
