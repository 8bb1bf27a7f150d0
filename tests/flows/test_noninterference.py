"""Nothing of a blind track depends on its judgments: installations that differ in them alone.

Nor does anything that others read of a track of pseudonyms depend on who takes part.

Each world is built, walked and rolled back, so that its keys are those of the others; whatever a
participant or a stranger can receive must be the same, byte for byte.
"""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.test import Client

from leaderboard import joining, organising, uploads
from leaderboard.models import ApiToken, Edition, Run, Track, User
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
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
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
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
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
    if response.headers.get("Content-Type") == "application/zip":
        body = unzipped(body)
    headers = tuple(response.headers.get(name, "") for name in TOLD_BY_HEADERS)
    text = CHANGING.sub("~", body.decode("utf-8", "backslashreplace"))
    return Heard(who, address, response.status_code, headers, text)


def unzipped(body: bytes) -> bytes:
    """The members of a file one after the other, without the digests of them all."""
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        names = [name for name in file.namelist() if name != "SHA256SUMS"]
        return b"".join(name.encode() + b"\n" + file.read(name) for name in names)


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


@dataclass(frozen=True)
class World:
    qrels: str = QRELS
    disclosure: str = "blind"
    pseudonyms: bool = False
    public_topics: tuple[str, ...] = ()
    listeners: tuple[str, ...] = ("ben", "dan", "ben's program", "anybody")
    # What Ben tells of himself with his first run.
    team: str = "ben"
    tag: str = "ben-bm25"


def walk(ada: User, world: World) -> list[Heard]:
    """Everything that is heard around the track of that world."""
    ben, dan = make_user("ben"), make_user("dan")
    track = make_track(
        make_collection(ada, qrels=None),
        slug="blind",
        disclosure=world.disclosure,
        pseudonyms=world.pseudonyms,
        public_topics=list(world.public_topics),
    )
    joining.join(track, ben, joining.Asking(team_name=world.team))
    told = {"description": f"the {world.tag} of {world.team}", "facts": {"models": world.tag}}
    names = {
        "run": make_run(track, ben, RUN.replace("ben-bm25", world.tag), **told).pk,
        "other": make_run(track, dan, OTHER_RUN).pk,
    }
    judge(track, ada, world.qrels)
    names |= send_faulty_runs(track, ben)
    names |= {"token": "1"}
    date_everything()
    people = participants(ben, dan)
    return list(answers({who: people[who] for who in world.listeners}, names))


def date_everything() -> None:
    """A minute between two runs: charts draw when they came."""
    for place, run in enumerate(Run.objects.order_by("received_at")):
        Run.objects.filter(pk=run.pk).update(received_at=NOON + timedelta(minutes=place))
    Edition.objects.update(ready_at=NOON)


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

    def walked(qrels: str, disclosure: str = "blind", **told: object) -> list[Heard]:
        seeded = random.Random(7)
        monkeypatch.setattr("secrets.choice", seeded.choice)
        monkeypatch.setattr("secrets.token_urlsafe", lambda _: seeded.randbytes(12).hex())
        forget()
        with transaction.atomic():
            found = walk(ada, World(qrels, disclosure, **told))
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


def test_a_split_leaderboard_tells_nothing_of_the_topics_that_it_keeps_back(walked):
    of_two = "".join(line for line in QRELS.splitlines(keepends=True) if line[0] == "2")
    elsewhere = "1 0 d9 1\n1 0 d1 0\n3 0 d7 3\n3 0 d6 0\n3 0 d10 1\n"
    one = walked(QRELS, "leaderboard", public_topics=("2",))
    other = walked(of_two + elsewhere, "leaderboard", public_topics=("2",))
    assert any('"AP": 0.5' in each.body for each in one)
    assert [each for each in one if each not in other] == []


@pytest.fixture
def heard_by_others(walked):
    """What all but Ben hear; a digest of bytes tells something only to who has them."""

    def heard_by_others(disclosure: str, pseudonyms: bool, **of_ben: str) -> list[Heard]:
        told = {"pseudonyms": pseudonyms, "listeners": ("dan", "anybody"), **of_ben}
        found = walked(QRELS, disclosure, **told)
        return [replace(each, body=DIGEST.sub("~", each.body)) for each in found]

    return heard_by_others


ZEBRA = {"team": "Zebra", "tag": "zebra-splade"}


@pytest.mark.parametrize("disclosure", ["leaderboard", "open"])
def test_no_answer_to_others_depends_on_who_takes_part(heard_by_others, disclosure):
    one = heard_by_others(disclosure, pseudonyms=True)
    other = heard_by_others(disclosure, pseudonyms=True, **ZEBRA)
    assert not any("zebra" in each.body.casefold() for each in other)
    assert [each for each in one if each not in other] == []


def test_without_pseudonyms_others_read_who_takes_part(heard_by_others):
    other = heard_by_others("open", pseudonyms=False, **ZEBRA)
    assert any("zebra-splade" in each.body for each in other)


def test_the_same_walk_tells_the_judgments_once_they_are_released(walked, monkeypatch):
    monkeypatch.setattr("leaderboard.disclosure.Sight.everything", True)
    assert walked(QRELS) != walked(OTHER_GRADES)
