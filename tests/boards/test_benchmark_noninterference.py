"""Nothing of a benchmark depends on the judgments of a blind track of it, nor on hidden names.

As for a track: each world is built, walked and rolled back, and what others can receive must be
the same. Its benchmark has a track whose scores everybody sees and one that hides them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from leaderboard.actions import people
from leaderboard.models import (
    Benchmark,
    Participation,
    Run,
    System,
    SystemVersion,
    Track,
    User,
    Worker,
)
from tests.benchmark_scene import (
    ROLLS_OTHER,
    ROLLS_RUN,
    join_tracks,
    make_rolls,
    renumbered,
    send,
)
from tests.boards.test_noninterference import (
    DIGEST,
    NEVER,
    NOON,
    OTHER_GRADES,
    Heard,
    begin_keys_anew,
    date_everything,
    heard,
    judge,
    token_of,
    told_apart,
)
from tests.builders import (
    OTHER_RUN,
    QRELS,
    RUN,
    make_collection,
    make_track,
    make_user,
    signed_in,
    upload,
    work,
)
from tests.conftest import forget
from tests.pages.test_matrix import PAGES

pytestmark = pytest.mark.long

# Choices of the board: other measures, versions, tracks, orders, baselines and files.
BOARDS = (
    *("?phase=all", "?measure=P@5", "?measure=nDCG@10", "?track=rolls", "?track=bread&track=rolls"),
    *("?versions=all", "?baseline={version}", "?family=all", "?sort=rolls", "?sort=-mean"),
    *(f"?format={name}" for name in ("csv", "tsv", "tex", "md", "json")),
)
CALLS = (
    "/api/v1/benchmarks/meal/board",
    "/api/v1/benchmarks/meal/board?versions=all&family=all",
    "/api/v1/benchmarks/meal/board?track=rolls",
    "/api/v1/benchmarks/meal/board?measure=P@5&format=csv",
    "/api/v1/benchmarks/meal/systems",
    "/api/v1/benchmarks/meal/systems/{system}/versions/v1",
    "/api/v1/benchmarks/meal/systems/{system}/versions/v2",
    "/api/v1/benchmarks/meal/systems/{system}/versions/sent",
    "/api/v1/benchmarks/meal/systems/{other}/versions/1",
)
AROUND = (
    *(
        "/",
        "/tracks/",
        "/benchmarks/meal/tracks/rolls/board/",
        "/account/",
        "/account/notices/",
        "/account/data.json",
    ),
    *("/benchmarks/meal/systems/{other}/", "/benchmarks/meal/history/?format=csv"),
)
# What tells the judgments once they are released, for all who may read it.
TELLING = (
    *(
        "/benchmarks/meal/board/",
        "/benchmarks/meal/board/?format=csv",
        "/benchmarks/meal/history/",
        "/benchmarks/meal/badge.svg",
    ),
    *(
        "/benchmark-badges/code-of-meal.svg",
        "/benchmarks/meal/systems/{system}/",
        CALLS[0],
        CALLS[5],
    ),
)


class Names(dict[str, Any]):
    """The keys of rows by name; what a world lacks is asked for as its first."""

    def __missing__(self, name: str) -> str:
        return "1"


@dataclass(frozen=True)
class World:
    qrels: str = QRELS
    disclosure: str = "blind"
    # Whether both tracks hide names, or the second one alone.
    pseudonyms: tuple[bool, bool] = (False, False)
    swaps_runs: bool = False
    # What Ben tells of himself and of his system.
    team: str = "ben"
    system: str = "oven"
    listeners: tuple[str, ...] = (
        *("ben", "dan", "cat", "anybody"),
        *("ben's program", "dan's program", "cat's program"),
    )


def make_meal(ada: User, world: World) -> Benchmark:
    """A track that is open and judged, and then one as the world says."""
    first, second = world.pseudonyms
    bread = make_track(make_collection(ada), "bread", pseudonyms=first)
    collection = make_rolls(ada)
    collection.judgment_sets.all().delete()
    fields = {"disclosure": world.disclosure, "pseudonyms": second, "judgment_set": None}
    rolls = make_track(collection, "rolls", **fields)
    words = {"main_branch": "main", "badge_code": "code-of-meal"}
    return join_tracks([bread, rolls], slug="meal", name="Meal", **words)


def fill(benchmark: Benchmark, ben: User, dan: User, world: World) -> dict[str, Any]:
    """Two versions of Ben's system, the first of main, and one of Dan's, on both tracks."""
    people.create_team(benchmark, ben, world.team)
    people.create_team(benchmark, dan, "dan")
    facts = {"models": world.system, "kind": "automatic"}
    tags = RUN.replace("ben-bm25", world.system), ROLLS_RUN.replace("ben-bm25", world.system)
    own = {"name": world.system, "facts": facts, "configuration": f"of the {world.system}"}
    both = dict(zip(("bread.run", "rolls.run"), tags, strict=True))
    send(benchmark, ben, both, version="v1", branch="main", commit="a" * 40, **own)
    later = {"bread.run": tags[0] + "3 Q0 d12 9 0.1 x\n", "rolls.run": tags[1].replace("d9", "d12")}
    later["bread.run"] = later["bread.run"].replace(" x\n", f" {world.system}\n")
    send(benchmark, ben, later, version="v2", branch="try", commit="b" * 40, **own)
    send(benchmark, dan, {"bread.run": OTHER_RUN, "rolls.run": ROLLS_OTHER}, "stove")
    oven, stove = System.objects.order_by("pk")
    Benchmark.objects.filter(pk=benchmark.pk).update(baseline=stove)
    newest = oven.versions.get(label="v2")
    return {"system": oven.pk, "other": stove.pk, "version": newest.pk}


def swap_runs(track: Track, ben: User, dan: User) -> None:
    """Let Dan's team have submitted Ben's runs on a track and Ben's team those of Dan.

    The pseudonyms stay with the runs.
    """
    ours, theirs = (track.team_of(user) for user in (ben, dan))
    mine, his = (track.runs.filter(team=team) for team in (ours, theirs))
    first, other = (runs.earliest("received_at") for runs in (mine, his))
    ids = list(mine.values_list("pk", flat=True)), list(his.values_list("pk", flat=True))
    aliases = track.participations.order_by("team").values_list("team", "alias")
    (one, alias), (two, another) = aliases
    track.participations.all().delete()
    Participation.objects.create(track=track, team_id=one, alias=another)
    Participation.objects.create(track=track, team_id=two, alias=alias)
    track.runs.update(version=None)
    Run.objects.filter(pk__in=ids[0]).update(team=theirs)
    Run.objects.filter(pk__in=ids[1]).update(team=ours)
    Run.objects.filter(pk=first.pk).update(version=other.version, submitted_by=dan)
    Run.objects.filter(pk=other.pk).update(version=first.version, submitted_by=ben)


def send_more(ben: User) -> Iterator[Heard]:
    """What Ben hears of what he submits, of a repetition and of faults."""
    client, headers = signed_in(ben), token_of(ben)
    form = {"name": "oven", "version": "sent", "kind": "automatic", "branch": "try"}
    good = {"rolls.run": ROLLS_RUN.replace("d2 ", "d7 ")}
    faulty = {"rolls.run": "11 d1\n"}
    for sent in (good, good, faulty):
        files = [upload(name, text) for name, text in sent.items()]
        yield heard(
            "ben", "submits", client.post("/benchmarks/meal/submit/", {**form, "files": files})
        )
        work()
        files = [upload(name, text) for name, text in sent.items()]
        told = {"name": "oven", "version": "sent", "branch": "try", "files": files}
        address = "/api/v1/benchmarks/meal/systems"
        yield heard("ben's program", "submits", Client().post(address, told, headers=headers))
        work()


def walk(ada: User, world: World) -> list[Heard]:
    ben, dan, cat = make_user("ben"), make_user("dan"), make_user("cat")
    benchmark = make_meal(ada, world)
    names = Names(fill(benchmark, ben, dan, world))
    rolls = benchmark.tracks.in_order()[1]
    if world.swaps_runs:
        swap_runs(rolls, ben, dan)
    judge(rolls, ada, NEVER if world.qrels == NEVER else renumbered(world.qrels))
    work()
    acted = list(send_more(ben)) if "ben" in world.listeners else []
    work()
    date_versions()
    return acted + list(answers(world, {"ben": ben, "dan": dan, "cat": cat}, names))


def date_versions() -> None:
    date_everything()
    for place, version in enumerate(SystemVersion.objects.order_by("pk")):
        made_at = NOON + timedelta(minutes=place)
        SystemVersion.objects.filter(pk=version.pk).update(created_at=made_at)


def answers(world: World, people: dict[str, User], names: Names) -> Iterator[Heard]:
    of_benchmark = [
        address
        for address, _ in PAGES.values()
        if "meal" in address and "meal/tracks/" not in address
    ]
    boards = [f"/benchmarks/meal/board/{choice}" for choice in BOARDS]
    asked = [*of_benchmark, *boards, *CALLS, *AROUND]
    for who in world.listeners:
        user = people.get(who.removesuffix("'s program"))
        is_program = who.endswith("program")
        client = Client() if user is None or is_program else signed_in(user)
        headers = token_of(user) if user is not None and is_program else {}
        # The first answer of a board asks for tests that later ones contain.
        client.get("/benchmarks/meal/board/", headers=headers)
        client.get("/benchmarks/meal/board/?family=all", headers=headers)
        work()
        for address in asked:
            path = address.format_map(names)
            yield heard(who, address, client.get(path, headers=headers))


Walk = Callable[..., list[Heard]]


@pytest.fixture
def walked(ada: User, monkeypatch: pytest.MonkeyPatch) -> Walk:
    """What is heard in a world; nothing of that world is left behind."""

    def walked(**told: Any) -> list[Heard]:
        seeded = random.Random(7)
        monkeypatch.setattr("secrets.choice", seeded.choice)
        monkeypatch.setattr("secrets.token_urlsafe", lambda _: seeded.randbytes(12).hex())
        # However long a walk takes, its worker counts as alive.
        monkeypatch.setattr(Worker, "SILENCE", 86_400)
        forget()
        begin_keys_anew()
        with transaction.atomic():
            found = walk(ada, World(**told))
            transaction.set_rollback(True)
        return found

    return walked


@pytest.mark.night
@pytest.mark.parametrize("judgments", [OTHER_GRADES, NEVER], ids=["grades", "none"])
def test_no_answer_of_a_benchmark_depends_on_the_judgments_of_a_blind_track(
    walked: Walk, judgments: str
) -> None:
    one, other = walked(), walked(qrels=judgments)
    assert len(one) >= 200
    assert any(each.address == TELLING[0] and "0.6" in each.body for each in one)
    assert told_apart(one, other) == []
    assert one == other


@pytest.mark.night
def test_the_same_walk_tells_the_judgments_once_they_are_released(walked: Walk) -> None:
    one, other = walked(disclosure="open"), walked(disclosure="open", qrels=OTHER_GRADES)
    told = {mine.address for mine, theirs in zip(one, other, strict=True) if mine != theirs}
    assert set(TELLING) <= told


OTHERS = {"listeners": ("cat", "anybody", "cat's program"), "disclosure": "open"}
ZEBRA = {"team": "Zebra", "system": "zebra-splade"}


def without_digests(found: list[Heard]) -> list[Heard]:
    return [replace(each, body=DIGEST.sub("~", each.body)) for each in found]


@pytest.mark.night
def test_no_answer_of_a_benchmark_tells_whose_run_one_with_a_pseudonym_is(walked: Walk) -> None:
    told = {**OTHERS, "pseudonyms": (False, True)}
    one, other = walked(**told), walked(**told, swaps_runs=True)
    assert told_apart(one, other) == []


@pytest.mark.night
def test_without_pseudonyms_the_same_walk_tells_whose_run_it_is(walked: Walk) -> None:
    one, other = walked(**OTHERS), walked(**OTHERS, swaps_runs=True)
    told = {mine.address for mine, theirs in zip(one, other, strict=True) if mine != theirs}
    assert {"/benchmarks/meal/board/", CALLS[0], CALLS[5]} <= told


@pytest.mark.night
def test_no_answer_of_a_benchmark_of_pseudonyms_depends_on_who_takes_part(walked: Walk) -> None:
    told = {**OTHERS, "pseudonyms": (True, True)}
    one, other = without_digests(walked(**told)), without_digests(walked(**told, **ZEBRA))
    assert not any(re.search("zebra", each.body, re.IGNORECASE) for each in other)
    assert told_apart(one, other) == []
