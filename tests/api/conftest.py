"""The cast with tokens: what programs of Ada, Ben and Cat send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from leaderboard.models import ApiToken, Run, Track, User
from tests.builders import OTHER_RUN, RUN, make_run, upload
from tests.recording import road


class Program:
    """Calls the API with a token, as a script does."""

    def __init__(self, user: User | None = None, scopes: list[str] | None = None) -> None:
        self.client = Client(raise_request_exception=True)
        self.headers = {}
        if user is not None:
            scopes = ["read", "submit", "organise"] if scopes is None else scopes
            with road.staying():
                self.token, secret = ApiToken.objects.issue(user, scopes)
            self.headers = {"Authorization": f"Bearer {secret}"}

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(path, headers=self.headers | headers)

    def delete(self, path: str, body: Any = None) -> Any:
        body = "" if body is None else json.dumps(body)
        return self.client.delete(path, body, "application/json", headers=self.headers)

    def post(self, path: str, body: Any = None) -> Any:
        return self.client.post(
            path, json.dumps(body or {}), "application/json", headers=self.headers
        )

    def patch(self, path: str, body: Any) -> Any:
        return self.client.patch(path, json.dumps(body), "application/json", headers=self.headers)

    def append(self, path: str, offset: int, piece: bytes) -> Any:
        """Send a piece of a file."""
        headers = self.headers | {"Upload-Offset": str(offset)}
        return self.client.patch(path, piece, "application/octet-stream", headers=headers)

    def send(self, path: str, key: str = "", **parts: Any) -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        return self.client.post(path, parts, headers=self.headers | headers)

    def send_run(self, text: str | bytes = RUN, slug: str = "bread", **parts: Any) -> Any:
        return self.send(f"/api/v1/tracks/{slug}/runs", file=upload("run.txt", text), **parts)


@pytest.fixture(autouse=True)
def nobody_wrote_yet() -> None:
    cache.clear()


@pytest.fixture
def ada_api(ada: User) -> Program:
    return Program(ada)


@pytest.fixture
def ben_api(ben: User) -> Program:
    return Program(ben, ["read", "submit"])


@pytest.fixture
def cat_api(cat: User) -> Program:
    return Program(cat, ["read", "submit"])


@pytest.fixture
def anybody_api(db) -> Program:
    return Program()


@pytest.fixture
def bens_run(track: Track, ben: User) -> Run:
    """AP 1, 1/2 and 7/12 on the three topics."""
    return make_run(track, ben, RUN)


@pytest.fixture
def adas_run(track: Track, ada: User) -> Run:
    """AP 5/12, 1 and 1/6 on the three topics; the organisers' own."""
    return make_run(track, ada, OTHER_RUN)
