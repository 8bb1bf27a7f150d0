"""Every address of the API that reads, beside a board that is tested, untested, being tested."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import pytest

from leaderboard.actions import snapshots
from leaderboard.actions.partial_uploads import begin_upload
from leaderboard.api import api
from leaderboard.boards.benchmark_boards import find_benchmark_board
from leaderboard.boards.disclosure import shared_benchmark_sight
from leaderboard.boards.standings import find_untested_board
from leaderboard.jobs import calculations
from leaderboard.models import (
    Assignment,
    Battles,
    Calculation,
    Run,
    System,
    SystemVersion,
    Track,
)
from leaderboard.scoring import contest_tests
from tests.api.conftest import Program
from tests.builders import (
    OTHER_RUN,
    make_assessment,
    make_collection,
    make_pool,
    make_results_file,
    make_run,
    make_track,
    make_user,
    store_an_answer,
    store_nuggets,
    work,
)

pytestmark = pytest.mark.long

BOARD = "/api/v1/tracks/bread/leaderboard"
VALUES = {
    "family": ("", "baseline", "all"),
    "measure": ("AP", "nDCG@10"),
    "judgments": ("v1",),
    "region": ("0.01",),
    "tab": ("1",),
    "most": ("2",),
    "first": ("v1",),
    "second": ("v1",),
    "track": ("bread",),
    "table": ("pairs",),
    "margin": ("0.1",),
    "builds": ("50",),
    "look": ("1",),
    "topic": ("1",),
    "about": ("bread",),
    "group": ("none",),
    "turn": ("1",),
    "until": ("2026",),
    "all": ("true",),
    "documents": ("true",),
}
# What boards of benchmarks have besides and of their own; the other tests choose among it.
OF_BENCHMARKS = {"phase", "versions", "baseline"}
# The formats of addresses that are not boards.
OWN_FORMATS = {
    "nuggets/{version}/file": ("nuggetizer",),
    "layers/{version}/file": ("columns", "argue"),
    "pools/{pool}/file": ("tsv", "jsonl"),
    "/marks": ("jsonl", "trec"),
    "/agreement": ("json", "csv"),
    # There is no table here, because no machine judged.
    "/corrected-means": ("json",),
}


@pytest.fixture
def names(bens_run: Run, adas_run: Run, monkeypatch) -> dict[str, str]:
    """A board too large to be tested at once; what stands in the addresses."""
    monkeypatch.setattr(contest_tests, "IMMEDIATE_SCORES", 0)
    Track.objects.update(baseline=adas_run, gate_margin=0.1)
    Run.objects.update(answer_file=store_an_answer())
    store_nuggets(bens_run.track)
    Battles.objects.create(track=bens_run.track, voters="signed in")
    ids = {
        "run_id": bens_run.pk,
        "voters": "person",
        "statistic": "kappa",
        "a": adas_run.pk,
        "b": bens_run.pk,
        "baseline": bens_run.pk,
    }
    ids |= {"run": bens_run.pk, "reference": adas_run.pk}
    ids |= {
        "name": "judging-1",
        "pool": "pool-1",
        "machine": "v1",
        "against": bens_run.pk,
        "assignment_id": str(judge_pools(bens_run, adas_run).pk),
    }
    ids |= make_benchmark(bens_run)
    make_results_file(bens_run.track.benchmark)
    upload = begin_upload(adas_run.submitted_by, "my.run", 9, "0" * 64).upload
    ids["upload_id"] = upload.pk
    return {"slug": "bread", "version": "v1", "after": "", "limit": "5", **ids}


def make_benchmark(run: Run) -> dict[str, str]:
    """A benchmark of the track alone, with a system of this run."""
    benchmark = run.track.benchmark
    system = System.objects.create(benchmark=benchmark, team=run.team, name="oven")
    version = SystemVersion.objects.create(system=system, label="1", created_by=run.submitted_by)
    Run.objects.filter(pk=run.pk).update(version=version)
    sight = shared_benchmark_sight(benchmark)
    board = find_benchmark_board(sight, tested=False)
    snapshots.freeze_benchmark_board(board, benchmark.owner, "judging-1")
    snapshots.freeze_board(find_untested_board(*sight.sights), benchmark.owner, "judging-1")
    return {"system_id": str(system.pk), "label": "1"}


def judge_pools(bens_run: Run, adas_run: Run) -> Assignment:
    """Dan judges a pool of the track; Ada, who reads its board, one of another track."""
    ada = adas_run.submitted_by
    make_assessment(make_pool(bens_run.track, ada, [adas_run]), ada, make_user("dan"))
    other = make_track(make_collection(ada, slug="rolls"), slug="rolls")
    make_assessment(make_pool(other, ada, [make_run(other, ada, OTHER_RUN)]), ada, ada)
    return Assignment.objects.filter(assessor__user=ada).first()


def be_tested(program: Program) -> None:
    for measure, baseline in product(("AP", "nDCG@10"), Run.objects.all()):
        program.get(f"{BOARD}?measure={measure}&baseline={baseline.pk}")
    work()


def be_untested(program: Program) -> None:
    Calculation.objects.all().delete()


def be_asked_for(program: Program) -> None:
    be_untested(program)
    for measure in ("AP", "nDCG@10"):
        program.get(f"{BOARD}?measure={measure}")
    assert Calculation.objects.waiting().count() == 2


STATES = {"tested": be_tested, "untested": be_untested, "being tested": be_asked_for}


def addresses(names: dict[str, str], walk: Walk) -> Iterator[str]:
    """Every address that is read, with the choices of its parameters that a walk combines."""
    for path, calls in api.get_openapi_schema()["paths"].items():
        if path.endswith(("/judges", "/judges/boards", "/judges/systems", "/replies")):
            # Runs of this track are rankings, and no machine said anything here.
            continue
        asked = calls.get("get", {}).get("parameters", [])
        own = next((of for end, of in OWN_FORMATS.items() if path.endswith(end)), walk.formats)
        values = VALUES | {"format": own}
        if path.startswith("/api/v1/benchmarks"):
            asked = [each for each in asked if each["name"] not in OF_BENCHMARKS]
        choices = [choices_of(each, names, values) for each in asked if each["in"] == "query"]
        for chosen in walk.combine(*choices) if "get" in calls else ():
            yield f"{path.format(**names)}?{'&'.join(filter(None, chosen))}"


def choices_of(
    parameter: dict[str, Any], names: dict[str, str], values: dict[str, tuple[str, ...]]
) -> list[str]:
    name = parameter["name"]
    given = [f"{name}={value}" for value in values.get(name) or (names[name],)]
    return given if parameter["required"] else ["", *given]


def cover_pairs(*choices: list[str]) -> list[tuple[str, ...]]:
    """Combine choices in few rows, in which any two of different parameters meet."""
    rows, chosen = list(product(*choices)), []
    left = set().union(*map(pairs_of, rows))
    while left or not chosen:
        best = max(rows, key=lambda row: len(pairs_of(row) & left))
        chosen.append(best)
        left -= pairs_of(best)
    return chosen


def pairs_of(row: tuple[str, ...]) -> set[Any]:
    return set(combinations(enumerate(row), 2)) | set(enumerate(row))


@dataclass(frozen=True)
class Walk:
    formats: tuple[str, ...]
    combine: Callable[..., Iterable[tuple[str, ...]]]


# Every file is made of the same standings, so most of them wait for the night, as do three and more
# choices together.
WALKS = [
    pytest.param(Walk(("json",), cover_pairs), id="pairs"),
    pytest.param(Walk(("json",), product), id="json", marks=pytest.mark.night),
    pytest.param(Walk(("csv", "tsv", "tex", "md"), product), id="files", marks=pytest.mark.night),
]


# By day the state that has most to do.
BY_DAY_AND_NIGHT = [
    "untested",
    *(pytest.param(state, marks=pytest.mark.night) for state in ("tested", "being tested")),
]


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("state", BY_DAY_AND_NIGHT)
def test_every_address_is_read_beside_a_board_of_this_state(names, ada_api, state, walk):
    STATES[state](ada_api)
    walked = list(addresses(names, walk))
    assert len(walked) > 50
    for address in walked:
        if state == "untested":
            # The answer before has asked for the tests.
            be_untested(ada_api)
        assert (address, ada_api.get(address).status_code) == (address, 200)


def test_who_asks_for_an_untested_board_has_it_tested(names, anybody_api):
    Calculation.objects.all().delete()
    asked = f"{BOARD}?measure=nDCG@10"
    assert [each["p"] for each in anybody_api.get(asked).json()["standings"]] == [None, None]
    work()
    assert anybody_api.get(asked).json()["standings"][0]["p"] is not None


def test_a_robot_that_asks_for_every_board_has_few_tested(names, anybody_api, monkeypatch):
    monkeypatch.setattr(calculations, "MOST_WAITING", 1)
    Calculation.objects.all().delete()
    for measure in ("AP", "nDCG@10"):
        assert anybody_api.get(f"{BOARD}?measure={measure}").status_code == 200
    assert Calculation.objects.waiting().count() == 1
