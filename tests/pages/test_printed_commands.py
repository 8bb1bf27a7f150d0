"""Every p on a page comes out of the command that the page prints, to the last digit."""

from __future__ import annotations

import json
import random
import re

import pytest

from leaderboard.actions import tracks
from leaderboard.models import Run, Track, User
from tests.builders import work
from tests.pages.commands import commands, printed_by
from tests.pages.reading import page_at
from tests.pages.ten_topics import QRELS, run_of, send, ten_track, with_baseline

pytestmark = pytest.mark.long

MEASURES = ["AP", "RR", "GMAP", "NumRelRet", "nDCG@10"]


def make_scene(ada: User, ben: User, cat: User) -> dict[str, str]:
    """A track of five runs by five measures; the files that its commands read."""
    track = ten_track(ada)
    Track.objects.filter(pk=track.pk).update(measures=MEASURES, primary_measure="AP")
    track.refresh_from_db()
    tracks.renew_edition(track)
    work()
    with_baseline(track, ada, 3)
    files = {"qrels.v1.txt": QRELS, "base.run": run_of("base", 3)}
    dice = random.Random(19)
    for tag in ("one", "two", "three", "four"):
        ranks = [dice.randint(1, 5) for _ in range(10)]
        send(track, ben, tag, ranks)
        files[f"{tag}.run"] = run_of(tag, ranks)
    work()
    return files


@pytest.fixture
def files(scene, tmp_path):
    for name, text in scene.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("family", ["baseline", "all"])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_printed_command_gives_every_p_of_the_board(client, files, family, measure):
    asked = f"measure={measure}&family={family}"
    board = client.get(f"/api/v1/tracks/ten/leaderboard?{asked}").json()
    first = next(run for run in board["standings"] if run["tag"] == "one")
    page = page_at(client, f"/benchmarks/ten/computed/difference/?run={first['run']}&{asked}")
    printed = json.loads(printed_by(*commands(page), files, "--format", "json"))
    outcomes = {found["run"]: found["outcome"] for found in printed["comparisons"]}
    for run in board["standings"]:
        if run["tag"] != "base":
            outcome = outcomes[run["tag"]]
            assert run["p_adjusted"] == outcome["p_adjusted"]
            for name in ("difference", "low", "high"):
                expected = outcome[name]
                assert run[name] == (expected and pytest.approx(expected, rel=1e-12))


@pytest.mark.parametrize("measure", MEASURES)
def test_the_printed_command_gives_every_p_of_the_matrix(client, files, measure):
    asked = f"measure={measure}&family=all"
    table = client.get(f"/benchmarks/ten/significance/?format=csv&{asked}").content.decode()
    page = page_at(client, f"/benchmarks/ten/computed/all-pairs/?{asked}")
    printed = printed_by(*commands(page), files, "--format", "tsv")
    lines = [line.split("\t") for line in printed.splitlines()[1:-1]]
    known = {frozenset(line[1:3]): line[4] for line in lines}
    rows = [line.split(",") for line in table.splitlines()[1:]]
    assert {frozenset((row[1], row[3])): f"{float(row[5]):.3g}" for row in rows} == known


def test_the_command_names_the_runs_that_could_have_been_the_best_of_their_team(client, files):
    Track.objects.update(selection="best")
    command = page_at(client, "/benchmarks/ten/computed/all-pairs/?family=all")
    for tag in ("base", "one", "two", "three", "four"):
        assert f"{tag}.run" in command


# All five retrieve the same number of relevant documents, so none is ahead.
@pytest.mark.parametrize("measure", [each for each in MEASURES if each != "NumRelRet"])
@pytest.mark.parametrize("region", ["0.0", "0.02"])
def test_the_printed_command_gives_every_digit_of_the_probabilities(client, files, measure, region):
    one, two = Run.objects.get(tag="one"), Run.objects.get(tag="two")
    asked = f"run={two.pk}&a={one.pk}&measure={measure}&region={region}"
    page = page_at(client, f"/benchmarks/ten/computed/probability/?{asked}")
    printed = json.loads(printed_by(*commands(page), files, "--format", "json"))
    found = printed["comparisons"][1]["probability"]
    shown = re.findall(r"<dt>(Better|Within|Worse)</dt><dd title=\"(.*?)\"", page)
    assert [float(value) for _, value in shown] == list(found.values())


def test_the_printed_command_gives_every_digit_of_a_curve(client, files):
    two = Run.objects.get(tag="two")
    page = page_at(client, f"/benchmarks/ten/computed/curve/?run={two.pk}&number=3")
    printed = printed_by(*commands(page), files, "--format", "tsv", "--digits", "17")
    found = [line.split("\t")[2] for line in printed.splitlines()[1:]]
    table = client.get("/benchmarks/ten/topic/?number=3&format=csv&table=recall").text
    shown = [line.split(",") for line in table.splitlines()[1:]]
    assert [float(value) for value in found] == [float(c[3]) for c in shown if c[0] == two.pk]
