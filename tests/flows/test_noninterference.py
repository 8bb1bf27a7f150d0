"""Nothing of a blind track depends on its judgments: installations that differ in them alone.

Each world is built, walked and rolled back, so that its keys are those of the others; whatever a
participant or a stranger can receive must be the same, byte for byte.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.db import transaction
from django.test import Client

from leaderboard import organising, uploads
from leaderboard.models import ApiToken, Track, User
from tests.builders import (
    OTHER_RUN,
    QRELS,
    RUN,
    make_collection,
    make_run,
    make_track,
    make_user,
    signed_in,
    upload,
    work,
)
from tests.conftest import forget
from tests.pages.test_matrix import PAGES

OTHER_GRADES = "1 0 d9 1\n1 0 d1 0\n2 0 d5 3\n3 0 d7 1\n3 0 d6 0\n3 0 d8 0\n"
FEWER_TOPICS = "2 0 d12 1\n"
NEVER = "nobody has judged yet"
# Nobody retrieves d11 or d12, and what is judged not relevant changes no mean.
LONGER = QRELS + "2 0 d11 2\n"
SAME_MEANS = QRELS.replace("3 0 d7 0\n", "") + "1 0 d9 0\n2 0 d12 2\n3 0 d10 0\n"
WORLDS = {"other grades": OTHER_GRADES, "fewer topics": FEWER_TOPICS, "no judgments": NEVER}

FAULTY_RUNS = {
    "twice": RUN + "1 Q0 d1 4 6.0 ben-bm25\n",
    "unknown": RUN.replace("d9", "d99"),
    "columns": RUN.replace("2 Q0 d5 1 9.0 ben-bm25", "2 d5 1 9.0"),
    "rising": "".join(f"1 Q0 d{n} {n} {n}.5 rising\n" for n in range(1, 9)),
    "short": "2 Q0 d4 1 1.0 short\n",
}
CALLS = [
    "/api/v1/me",
    "/api/v1/tracks",
    "/api/v1/tracks/blind",
    "/api/v1/tracks/blind/runs",
    "/api/v1/tracks/blind/leaderboard",
    "/api/v1/tracks/blind/leaderboard?measure=P@5&format=csv",
    "/api/v1/tracks/blind/compare?a={run}&b={other}",
    "/api/v1/collections",
    "/api/v1/collections/bread",
    "/api/v1/collections/bread/judgments/v1",
    "/api/v1/runs/{run}",
    "/api/v1/runs/{run}/topics?measure=AP",
    "/api/v1/runs/{run}/file",
    "/api/v1/runs/{run}/problems",
    "/api/v1/runs/{other}",
    "/api/v1/runs/{twice}",
    "/api/v1/runs/{twice}/problems",
]

CHANGING = re.compile(
    r"""csrfmiddlewaretoken"\ value="\w+
    | \d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)?     # an instant
    | \d{1,2}\ \w{3}\ \d{4},\ \d\d:\d\d(:\d\d)?  # the same for people
    | \b\d[\d.,]*\ (ms|s|seconds?)\b          # how long it took
    | idempotency_key"\ value="[\w-]+
    | \brf_\w+                               # the start of a token
    | \?team=[\w-]+                        # the link that lets others in
    """,
    re.VERBOSE,
)
TOLD_BY_HEADERS = ("Content-Type", "Content-Disposition", "Location", "Vary", "Cache-Control")


@dataclass(frozen=True)
class Heard:
    """One answer, without what changes from one second to the next."""

    who: str
    address: str
    status: int
    headers: tuple[str, ...]
    body: str


def heard(who: str, address: str, response) -> Heard:
    body = b"".join(response) if response.streaming else response.content
    headers = tuple(response.headers.get(name, "") for name in TOLD_BY_HEADERS)
    text = CHANGING.sub("~", body.decode("utf-8", "backslashreplace"))
    return Heard(who, address, response.status_code, headers, text)


def participants(ben: User, dan: User) -> dict[str, tuple[Client, dict[str, str]]]:
    """Ben and Dan in the browser, Ben by token, and somebody who never signed in."""
    _, secret = ApiToken.objects.issue(ben, ["read", "submit"])
    return {
        "ben": (signed_in(ben), {}),
        "dan": (signed_in(dan), {}),
        "ben's program": (Client(), {"Authorization": f"Bearer {secret}"}),
        "anybody": (Client(), {}),
    }


def send_faulty_runs(track: Track, ben: User) -> dict[str, str]:
    return {name: make_run(track, ben, text).pk for name, text in FAULTY_RUNS.items()}


def judge(track: Track, ada: User, qrels: str) -> None:
    if qrels != NEVER:
        uploads.accept_judgments(track.collection, upload("q", qrels), "v1", ada, asks_first=False)
        work()
        organising.change_track(track, ada, {"judgment_set": track.collection.judgment_sets.get()})
        work()


def walk(ada: User, qrels: str, disclosure: str) -> list[Heard]:
    """Everything that is heard around a track whose judgments are these."""
    ben, dan = make_user("ben"), make_user("dan")
    track = make_track(make_collection(ada, qrels=None), slug="blind", disclosure=disclosure)
    names = {"run": make_run(track, ben).pk, "other": make_run(track, dan, OTHER_RUN).pk}
    judge(track, ada, qrels)
    names |= send_faulty_runs(track, ben)
    names |= {"token": "1"}
    return list(answers(participants(ben, dan), names))


def answers(
    people: dict[str, tuple[Client, dict[str, str]]], names: dict[str, str]
) -> Iterator[Heard]:
    addresses = [address for address, _ in PAGES.values()] + CALLS
    addresses += [f"/runs/{{{name}}}/" for name in FAULTY_RUNS]
    addresses += [f"/api/v1/runs/{{{name}}}" for name in FAULTY_RUNS]
    for who, (client, headers) in people.items():
        for address in addresses:
            path = address.format(**names)
            yield heard(who, path, client.get(path, headers=headers))


@pytest.fixture
def walked(ada, monkeypatch):
    """What is heard in a world with these judgments; nothing of that world is left behind."""

    def walked(qrels: str, disclosure: str = "blind") -> list[Heard]:
        seeded = random.Random(7)
        monkeypatch.setattr("secrets.choice", seeded.choice)
        monkeypatch.setattr("secrets.token_urlsafe", lambda _: seeded.randbytes(12).hex())
        forget()
        with transaction.atomic():
            found = walk(ada, qrels, disclosure)
            transaction.set_rollback(True)
        return found

    return walked


@pytest.mark.parametrize("judgments", WORLDS.values(), ids=list(WORLDS))
def test_no_answer_depends_on_the_judgments(walked, judgments):
    one, other = walked(QRELS), walked(judgments)
    assert len(one) >= 200
    assert [each for each in one if each not in other] == []
    assert one == other


def test_a_leaderboard_tells_no_more_than_its_means(walked):
    one, other = walked(LONGER, "leaderboard"), walked(SAME_MEANS, "leaderboard")
    assert any('"nDCG@10": 0.' in each.body for each in one)
    assert [each for each in one if each not in other] == []


def test_a_leaderboard_tells_of_other_means(walked):
    assert walked(QRELS, "leaderboard") != walked(OTHER_GRADES, "leaderboard")


def test_the_same_walk_tells_the_judgments_once_they_are_released(walked, monkeypatch):
    monkeypatch.setattr("leaderboard.disclosure.Sight.everything", True)
    assert walked(QRELS) != walked(OTHER_GRADES)
