"""The life of a shared task, from the call to the archive, as its people live it.

The judgments come weeks after the last run, nobody sees a score before the release, and what was
published stays what it was.  The deadline passes because time does: the clock of the host is put
forward.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.builders import DOCUMENTS, OTHER_RUN, RUN, TOPICS, upload
from tests.faults.profiles import Clock
from tests.services.machines import (
    ServerSite,
    Site,
    SqliteSite,
    binary,
    folder,
    own_postgres,
    own_redis,
    until,
)
from tests.services.people import Page, Person, organiser, sign_up

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

GRACE = timedelta(minutes=10)
# All within an hour: files keep their real dates, and what looks older than that may be swept.
DEADLINE = timedelta(minutes=20)
LATE_RUN = RUN.replace("1 Q0 d9 3 7.0", "1 Q0 d3 3 7.0").replace("ben-bm25", "dan-late")
BROKEN_RUN = "1 Q0 d1 1 high dan-late\n"
# What the assessors find relevant, first and when they look again.
RELEVANT = {"1 d1", "1 d2", "2 d4", "3 d6"}
RELEVANT_AGAIN = {"1 d3", "2 d4", "3 d10", "3 d11"}
FACTS = """
    select team.name, run.tag, score.measure, score.mean, score.by_topic
    from leaderboard_score score
    join leaderboard_scoreset scored on scored.id = score.score_set_id
    join leaderboard_run run on run.id = scored.run_id
    join leaderboard_team team on team.id = run.team_id
    join leaderboard_track track on track.edition_id = scored.edition_id
    where track.slug = 'life'
"""


@pytest.fixture(params=["servers", pytest.param("embedded", marks=pytest.mark.night)])
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """A site of its own, with a clock that can be put forward."""
    with ExitStack() as stack:
        home = stack.enter_context(folder())
        made = servers(stack, home) if request.param == "servers" else SqliteSite(home)
        clock = clock_of(made)
        made.environment |= clock.for_python()
        made.environment["DJANGO_SETTINGS_MODULE"] = "tests.services.stepped"
        clock.step(0)
        stack.callback(made.close)
        made.open()
        yield made


def servers(stack: ExitStack, home: Path) -> ServerSite:
    if binary("initdb") is None or binary("redis-server") is None:
        pytest.skip("no servers on this machine: apt-get install postgresql redis-server")
    postgres, redis = stack.enter_context(own_postgres()), stack.enter_context(own_redis())
    return ServerSite(home, postgres, redis)


def clock_of(site: Site) -> Clock:
    return Clock(site.home / "clock")


def put_forward(site: Site, by: timedelta) -> None:
    """So much after the test began."""
    clock_of(site).step(int(by.total_seconds()))


@pytest.fixture
def elsewhere() -> Iterator[SqliteSite]:
    """Another installation, which has never run."""
    with folder() as home:
        yield SqliteSite(home)


@pytest.mark.night
def test_a_track_lives_from_its_call_to_its_archive(site: Site, elsewhere: SqliteSite) -> None:
    ada = organiser(site, "life-ada")
    ben, cat, dan = (sign_up(site, f"life-{name}") for name in ("ben", "cat", "dan"))
    call_for_runs(ada)
    takes_part(ben, "Crumbs")
    takes_part(cat, "Rye")
    takes_part(dan, "Oven")

    first = sent_by_page(ben, RUN)
    assert state_of(dan, sent_by_page(dan, BROKEN_RUN)) == "refused"
    put_forward(site, DEADLINE + GRACE / 2)
    second = sent_by_api(cat, OTHER_RUN)
    assert state_of(ben, first) == state_of(cat, second) == "valid"

    put_forward(site, DEADLINE + GRACE + timedelta(minutes=1))
    assert ada.ask("/tracks/life")["state"] == "closed"
    assert "uns were accepted until" in sends_a_run(dan, LATE_RUN).text
    ada.ask("/tracks/life", {"late_runs": "mark"}, method="PATCH")
    third = sent_by_page(dan, LATE_RUN)
    assert state_of(dan, third) == "valid"

    pool = gathered(ada, [first, second, third])
    judgments_come_back(ada, judged(pool, RELEVANT))
    assert switched(ada, "v1") == {"ben-bm25": 1, "dan-late": 1, "other": 3}
    assert [sees_a_board(each) for each in (ada, ben)] == [True, False]
    assert state_of(ben, first) == "valid"

    ada.send("/benchmarks/life/manage/release/")
    assert sees_a_board(ben) and state_of(ben, first) == "scored"
    assert ben.open("/benchmarks/life/board/").text.count(">late</span>") == 1

    bring_judgments(ada, "v2", judged(pool, RELEVANT_AGAIN))
    assert "of 3 runs change rank" in impact_of(ada, "v2").text
    assert ranks(ben) == {"ben-bm25": 1, "dan-late": 1, "other": 3}
    assert switched(ada, "v2") == {"other": 1, "dan-late": 2, "ben-bm25": 3}

    published = frozen(ada, "As published")
    disqualify(ada, second, "It was tuned on the judgments.")
    assert ranks(ben) == {"dan-late": 1, "ben-bm25": 2}
    assert "tuned on the judgments" in ben.open(f"/runs/{second}/").text
    assert frozen_table(ben) == published and published.count("\n") == 4

    archive = site.home / "life.zip"
    site.manage("export_benchmark", "life", str(archive))
    assert "All scores match the archive exactly." in elsewhere.manage(
        "import_benchmark", str(archive)
    )
    assert scores_on(elsewhere) == scores_on(site) != set()


def call_for_runs(ada: Person) -> None:
    """A collection that nobody has judged, and a blind track on it that closes soon."""
    files = {
        "topics": upload("topics.trec", TOPICS),
        "documents": upload("documents.jsonl", DOCUMENTS),
    }
    ada.ask("/collections", slug="life", name="Life", **files)
    until(lambda: ada.ask("/collections/life")["state"] == "ready", "the collection is ready")
    track = {"slug": "life", "name": "Life", "collection": "life", "judgments": None}
    measures = {"measures": ["AP", "nDCG@10"], "primary_measure": "AP"}
    ada.ask("/tracks", {**track, **measures, "disclosure": "blind", "pseudonyms": True})
    closes_at = (datetime.now(UTC) + DEADLINE).isoformat()
    dates = {"closes_at": closes_at, "grace_minutes": GRACE.seconds // 60}
    ada.ask("/tracks/life", dates, method="PATCH")


def takes_part(person: Person, team: str) -> None:
    page = person.send("/benchmarks/life/join/", team_name=team)
    assert page.address == "/benchmarks/life/submit/", page.text


def sends_a_run(person: Person, text: str) -> Page:
    return person.send("/benchmarks/life/submit/", file=upload("run.txt", text), kind="automatic")


def sent_by_page(person: Person, text: str) -> str:
    page = sends_a_run(person, text)
    found = re.fullmatch(r"/runs/([\w-]+)/", page.address)
    assert found is not None, page.text
    return found[1]


def sent_by_api(person: Person, text: str) -> str:
    return person.ask("/tracks/life/runs", file=upload("run.txt", text))["id"]


def state_of(person: Person, run: str) -> str:
    until(lambda: person.ask(f"/runs/{run}")["done"], f"run {run} is through")
    return person.ask(f"/runs/{run}")["state"]


def gathered(ada: Person, runs: list[str]) -> list[str]:
    """What the first three documents of each run are, as the organisers download it."""
    page = ada.send("/benchmarks/life/pools/", runs=runs, method="depth", size=3).address
    until(lambda: "Approve pool" in ada.open(page).text, "the pool is gathered")
    ada.send(f"{page}keep/")
    return ada.open(f"{page}pool.txt").text.splitlines()


def judged(pool: list[str], relevant: set[str]) -> str:
    """The assessors give every document of the pool a grade."""
    lines = (line.split() for line in pool)
    return "".join(
        f"{topic} 0 {docno} {int(f'{topic} {docno}' in relevant)}\n" for topic, docno in lines
    )


def judgments_come_back(ada: Person, qrels: str) -> None:
    """Those of the pool: looked at, and confirmed."""
    file = upload("v1.txt", qrels)
    page = ada.send("/benchmarks/life/pools/pool-1/judgments/", version="v1", file=file)
    assert page.address == "/collections/life/", page.text
    until(lambda: state_of_judgments(ada, "v1") == "preview", "the judgments are checked")
    ada.send("/collections/life/judgments/v1/confirm/")
    until(lambda: state_of_judgments(ada, "v1") == "ready", "the judgments are imported")


def bring_judgments(ada: Person, version: str, qrels: str) -> None:
    file = upload(f"{version}.txt", qrels)
    ada.ask("/collections/life/judgments", version=version, file=file)
    until(lambda: state_of_judgments(ada, version) == "ready", "the judgments are imported")


def state_of_judgments(ada: Person, version: str) -> str:
    return ada.ask(f"/collections/life/judgments/{version}")["state"]


def switched(ada: Person, version: str) -> dict[str, int]:
    """The ranks of the board once it is that of these judgments."""
    ada.send(f"/benchmarks/life/judgments/{version}/switch/")
    until(lambda: shows(ada, version), f"the board changes to {version}")
    return ranks(ada)


def shows(person: Person, version: str) -> bool:
    return sees_a_board(person) and board(person)["judgments"] == version


def sees_a_board(person: Person) -> bool:
    return person.open("/api/v1/tracks/life/leaderboard").status == 200


def board(person: Person) -> dict:
    return person.ask("/tracks/life/leaderboard")


def ranks(person: Person) -> dict[str, int]:
    return {each["tag"]: each["rank"] for each in board(person)["standings"]}


def impact_of(ada: Person, version: str) -> Page:
    """The report of what these judgments would change, once every run is scored with them."""
    page = f"/benchmarks/life/judgments/{version}/impact/"
    until(lambda: "Switch the board" in ada.open(page).text, "the runs are scored once more")
    return ada.open(page)


def frozen(ada: Person, name: str) -> str:
    page = ada.send("/benchmarks/life/manage/freeze/", name=name)
    assert page.address == "/benchmarks/life/snapshots/as-published/", page.text
    return frozen_table(ada)


def frozen_table(person: Person) -> str:
    return person.open("/benchmarks/life/snapshots/as-published/?format=csv").text


def disqualify(ada: Person, run: str, reason: str) -> None:
    page = ada.send(f"/runs/{run}/take-off/", how="disqualified", reason=reason)
    assert page.status == 410, page.text


def scores_on(site: Site) -> set[tuple]:
    """Every value of every topic, to the bit."""
    return {(*facts, bytes(by_topic)) for *facts, by_topic in site.rows(FACTS)}
