"""HEAD has the answer of GET without its body, for programs that look before they download."""

from __future__ import annotations

import pytest

ADDRESSES = [
    "/",
    "/benchmarks/bread/board/",
    "/benchmarks/bread/board/?format=csv",
    "/benchmarks/bread/feed.xml",
    "/benchmarks/bread/badge.svg",
    "/benchmarks/bread/pack.zip",
    "/benchmarks/bread/no-such-page/",
    "/collections/bread/topics.trec",
    "/account/login/",
    "/api/v1/tracks",
    "/api/v1/tracks/bread/leaderboard",
    "/api/v1/openapi.json",
    "/api/v1/docs",
    "/api/v1/no-such-call",
    "/healthz",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_head_has_the_status_and_the_headers_of_get(track, client, address):
    whole, head = client.get(address), client.head(address)
    assert (head.status_code, head["Content-Type"]) == (whole.status_code, whole["Content-Type"])
    assert head.status_code != 405 and b"".join(head) == b""


def test_head_does_nothing_where_only_post_does(track, as_ada):
    assert as_ada.head("/benchmarks/bread/manage/freeze/").status_code == 405
