"""T12: the headers that every answer carries."""

from __future__ import annotations

import pytest
from django.http import HttpResponse

from tests.pages.test_matrix import PAGES, scene, scene_of_all

__all__ = ["scene", "scene_of_all"]

pytestmark = pytest.mark.long

ADDRESSES = [*(address for address, _ in PAGES.values()), "/account/login/", "/nowhere/"]


def answer_to_ada(scene, address: str) -> HttpResponse:
    """Ada opens every page of a blind track."""
    clients, names = scene
    return clients["ada"].get(address.format(**names))


def answer_to_nobody(scene, address: str) -> HttpResponse:
    """Who is not signed in opens many pages of an open track."""
    clients, names = scene
    open_names = names | {"run": names["open_run"], "other": names["open_other"]}
    return clients["anonymous"].get(address.format(**open_names).replace("/blind/", "/open/"))


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("answer_to", [answer_to_ada, answer_to_nobody])
def test_t12_every_answer_carries_its_headers(scene, address, answer_to):
    answer = answer_to(scene, address)
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
