"""How the numbers beside the measures are made: of each a page, and a way to it."""

from __future__ import annotations

import importlib
import re
from html import unescape

import pytest

from leaderboard.actions import tracks
from leaderboard.models import Run, User
from leaderboard.pages import wording
from tests.builders import work
from tests.pages.commands import commands, printed_by
from tests.pages.reading import page_at, words
from tests.pages.ten_topics import QRELS, run_of, send, ten_track, with_baseline
from tests.pages.test_cost_page import state

pytestmark = pytest.mark.long

PAGES = (
    "/benchmarks/ten/board/",
    "/benchmarks/ten/topics/",
    "/benchmarks/ten/topics/map/",
    "/benchmarks/ten/topic/?number=3",
    "/benchmarks/ten/significance/",
    "/benchmarks/ten/measures/",
    "/benchmarks/ten/cost/",
    "/benchmarks/ten/plan/",
    "/benchmarks/ten/reusability/",
    "/benchmarks/ten/compare/?a={base}&b={ours}",
    "/benchmarks/ten/judgments/",
    "/runs/{ours}/",
    "/runs/{ours}/topics/",
    "/runs/{ours}/failures/",
    "/runs/{ours}/ranking/?number=3",
)
LINK = re.compile(r'href="(/benchmarks/ten/computed/([\w-]+)/[^"]*)"')


def make_scene(ada: User, ben: User, cat: User) -> str:
    """Ben's run, better than the baseline on all topics but one."""
    track = ten_track(ada)
    with_baseline(track, ada, 3)
    return send(track, ben, "ours", [1, 1, 4, 1, 1, 1, 1, 1, 2, 1]).pk


@pytest.fixture
def ours(scene) -> Run:
    return Run.objects.get(pk=scene)


@pytest.fixture
def files(tmp_path):
    """What the commands of the track are given."""
    (tmp_path / "qrels.v1.txt").write_text(QRELS)
    (tmp_path / "base.run").write_text(run_of("base", 3))
    (tmp_path / "ours.run").write_text(run_of("ours", [1, 1, 4, 1, 1, 1, 1, 1, 2, 1]))
    return tmp_path


def test_every_statistic_names_code_that_is_there():
    for name, statistic in wording.STATISTICS.items():
        for path in statistic.function.split(", "):
            module, _, function = path.rpartition(".")
            assert hasattr(importlib.import_module(module), function), name


def test_every_statistic_is_linked_where_it_stands(ours, as_ada, ada):
    state(ours, ada, 0.5)
    base = Run.objects.get(tag="base").pk
    pages = [page_at(as_ada, page.format(ours=ours.pk, base=base)) for page in PAGES]
    found = {name: unescape(href) for page in pages for href, name in LINK.findall(page)}
    assert set(found) == set(wording.STATISTICS)
    for name, href in found.items():
        assert wording.STATISTICS[name].says[0][:40] in words(page_at(as_ada, href))


def test_what_is_of_no_single_measure_names_none(ours, client):
    said = words(page_at(client, "/benchmarks/ten/computed/agreement/"))
    assert "Agreement of two boardsTen track" in said and "AP on" not in said


def test_a_difference_of_the_board_is_told_with_all_that_is_known(ours, client):
    said = words(page_at(client, f"/benchmarks/ten/computed/difference/?run={ours.pk}"))
    assert "AP on Ten track: ours against base" in said
    assert "9 won, 1 lost, 0 tied" in said
    assert "adjusted for 1 run" in said
    assert ours.sha256 in said


def test_two_runs_have_the_verdict_of_the_board_and_the_p_of_the_pair_alone(ours, client):
    base = Run.objects.get(tag="base")
    page = page_at(client, f"/benchmarks/ten/computed/pair/?run={ours.pk}&a={base.pk}")
    assert re.search(r"Alonep \.\d+ by the exact sign-flip test, not adjusted", words(page))
    board = page_at(client, f"/benchmarks/ten/computed/difference/?run={ours.pk}")
    adjusted = re.compile(r"p(\.\d+), adjusted for")
    assert adjusted.search(words(page))[1] == adjusted.search(words(board))[1]


def test_the_command_gives_the_same_difference(ours, client, files):
    page = page_at(client, f"/benchmarks/ten/computed/difference/?run={ours.pk}")
    full = re.search(r"full value ([\d.]+)", words(page))[1]
    assert f"{float(full):.4f}" in printed_by(*commands(page), files)


def command_on(client, address) -> str:
    [command] = commands(page_at(client, address))
    return command


def test_the_commands_know_from_which_grade_on_a_document_is_relevant(ours, ada, client):
    tracks.change_track(ours.track, ada, {"relevance_threshold": 2})
    work()
    for name in (f"difference/?run={ours.pk}", "all-pairs/", "agreement/", "bounds/"):
        [command] = commands(page_at(client, f"/benchmarks/ten/computed/{name}"))
        assert "-m 'AP(rel=2)'" in command


def test_the_command_names_all_that_are_held_to_the_baseline_so_p_is_that_of_the_board(
    ours, cat, client, files
):
    send(ours.track, cat, "theirs", [2, 1, 3, 3, 2, 3, 3, 4, 1, 3])
    (files / "theirs.run").write_text(run_of("theirs", [2, 1, 3, 3, 2, 3, 3, 4, 1, 3]))
    page = page_at(client, f"/benchmarks/ten/computed/difference/?run={ours.pk}")
    [command] = commands(page)
    assert "qrels.v1.txt base.run ours.run theirs.run" in command
    adjusted = re.search(r"p(\.\d+), adjusted for 2 runs", words(page))[1]
    [printed] = re.findall(r"ours .*", printed_by(command, files))
    assert f"{float(printed.split()[-5]):.3f}" == f"{float(adjusted):.3f}"


def test_the_command_of_all_pairs_gives_the_ranks(ours, client, files):
    command = command_on(client, "/benchmarks/ten/computed/all-pairs/")
    assert "studentised maximum over 2 runs" in printed_by(command, files)
    assert "best rank" in printed_by(command, files, "--ranks")


def test_the_command_of_agreement_gives_the_boards_of_all_measures(ours, client, files):
    printed = printed_by(command_on(client, "/benchmarks/ten/computed/agreement/"), files)
    assert re.search(r"AP +RR +1\.0000 +1\.0000", printed)


def test_the_command_of_overlap_gives_that_of_every_topic(ours, client, files):
    compared = f"/benchmarks/ten/compare/?a={Run.objects.get(tag='base').pk}&b={ours.pk}"
    [address] = re.findall(r'href="([^"]*/computed/overlap/[^"]*)"', page_at(client, compared))
    printed = printed_by(command_on(client, unescape(address)), files)
    overlaps = re.findall(r"^\d+ +0(\.\d{4})$", printed, re.MULTILINE)
    table = words(page_at(client, compared))
    assert len(overlaps) == 10 and all(overlap[:3] in table for overlap in overlaps)


def test_the_command_of_bounds_gives_those_of_the_page(ours, client, files):
    printed = printed_by(command_on(client, "/benchmarks/ten/computed/bounds/?measure=P@5"), files)
    [low, high] = re.search(r"P@5 +ours +0(\S+) +\S+ +0(\S+)", printed).groups()
    page = words(page_at(client, "/benchmarks/ten/judgments/?measure=P@5"))
    assert low in page and high in page


def test_the_command_of_precision_gives_the_means_of_the_run(ours, client, files):
    printed = printed_by(command_on(client, "/benchmarks/ten/computed/precision/"), files)
    csv = client.get(f"/runs/{ours.pk}/?format=csv&table=recall").text.splitlines()
    level, own, *_ = csv[2].split(",")
    ours_alone = printed.split("ours")[1]
    assert re.search(rf"IPrec@{level}\S*\s+all\s+{float(own):.4f}", ours_alone)


def test_the_command_of_the_spread_gives_the_scores_of_a_topic(ours, client, files):
    printed = printed_by(command_on(client, "/benchmarks/ten/computed/spread/"), files)
    assert re.findall(r"AP\s+3\s+(\S+)", printed) == ["0.2500", "0.3333"]


def test_the_command_of_cost_holds_all_runs_to_the_best_of_those_that_state_it(
    ours, ada, client, files
):
    base = Run.objects.get(tag="base")
    assert not commands(page_at(client, "/benchmarks/ten/computed/cost/"))
    state(base, ada, 1.0)
    command = command_on(client, "/benchmarks/ten/computed/cost/?cost=seconds_per_topic")
    assert "compare qrels.v1.txt base.run ours.run" in command
    assert "ours" in printed_by(command, files)


def test_strangers_of_a_blind_track_learn_nothing(blind_track, client):
    assert client.get("/benchmarks/blind/computed/difference/").status_code == 404


NUMBER = re.compile(r'class="number" href="(/benchmarks/ten/computed/\?[^"]*)" title="([^"]*)"')


@pytest.mark.parametrize(
    "page",
    [
        "/runs/{ours}/",
        "/benchmarks/ten/topics/map/",
        "/benchmarks/ten/compare/",
        "/benchmarks/ten/judgments/",
    ],
)
def test_a_number_of_a_table_opens_into_how_that_very_value_was_made(page, ours, client):
    found = NUMBER.findall(page_at(client, page.format(ours=ours.pk)))
    for href, value in [*found[:3], *found[-3:]]:
        assert f"full value {value}" in words(page_at(client, unescape(href)))


@pytest.mark.parametrize("cutoff", [5, 10, 20, 100])
def test_how_much_was_judged_is_explained_at_every_depth(cutoff, ours, client):
    page = page_at(client, "/benchmarks/ten/judgments/")
    href = f"/benchmarks/ten/computed/?run={ours.pk}&amp;measure=Judged%40{cutoff}"
    [value] = re.findall(f'href="{re.escape(href)}" title="([^"]*)"', page)
    assert f"full value {value}" in words(page_at(client, unescape(href)))
