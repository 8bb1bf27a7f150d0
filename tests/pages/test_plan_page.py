"""A plan of topics and pools: the page has the numbers of the functions and of the command."""

from __future__ import annotations

import re

import numpy as np
import pytest

from evaluation.significance import (
    critical_before,
    detectable_effect,
    pair_deviations,
    topics_in_family,
    variances_of,
)
from leaderboard.analysis import rescoring
from leaderboard.models import Job, Track, User
from leaderboard.pages.forms.planning import PlanForm
from leaderboard.scoring import order_trials
from leaderboard.scoring.scores import score_matrix
from tests.builders import make_track, work
from tests.pages.commands import commands, printed_by
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import QRELS, run_of, send, ten_track

ADDRESS = "/benchmarks/ten/plan/"
RUNS = {
    "one": [1, 2, 1, 3, 1, 2, 5, 1, 2, 4],
    "two": [2, 2, 3, 1, 4, 2, 5, 2, 1, 6],
    "deep": [7, 8, 9, 7, 8, 9, 7, 8, 9, 7],
}


def make_scene(ada: User, ben: User, cat: User) -> None:
    track = ten_track(ada)
    for tag, ranks in RUNS.items():
        send(track, ben, tag, ranks)


@pytest.fixture
def ten(scene) -> Track:
    return Track.objects.get(slug="ten")


@pytest.fixture
def files(ten, tmp_path):
    (tmp_path / "qrels.v1.txt").write_text(QRELS)
    for tag, ranks in RUNS.items():
        (tmp_path / f"{tag}.run").write_text(run_of(tag, ranks))
    return tmp_path


def test_a_typed_variance_needs_the_topics_of_the_literature(ten, client):
    """Sakai 2016: variance .0462 and difference .1 need 74, 91 and 146 topics."""
    for runs, topics in ((2, 74), (3, 91), (10, 146)):
        page = page_at(client, f"{ADDRESS}?variance=.0462&difference=.1&runs={runs}")
        assert rows(page, 1)[2].split()[-1] == str(topics)


def test_without_one_the_variance_is_that_of_the_measure_on_the_board(ten, client):
    runs = [run.pk for run in ten.runs.all()]
    found = variances_of(score_matrix(ten.edition, "RR", runs))
    page = page_at(client, f"{ADDRESS}?measure=RR&difference=.2")
    assert rows(page, 1)[0].split()[-1] == str(topics_in_family(0.2 / found.paired**0.5, 10))
    assert "Variances of RR on this board (3 runs):" in words(page)
    assert "Detecting that a run named in advance is 0.2 better or worse" in words(page)


def test_a_pool_is_shown_with_its_documents_hours_and_order(ten, client):
    """To depth 5 the run `deep` finds nothing, so it is last in both orders."""
    first, second, *_ = rows(page_at(client, f"{ADDRESS}?seconds=360"), 3)
    documents = first.split()[1]
    assert first.split()[0] == "5" and second.split()[0] == "10"
    assert first.split()[4] == f"{int(documents) / 10:.1f}"
    assert second.split()[-2:] == ["1.000", "1.000"]


def test_the_printed_command_gives_the_topics_and_pools_of_the_page(ten, client, files):
    page = page_at(client, f"{ADDRESS}?difference=.2&runs=3&seconds=30")
    [command] = commands(page_at(client, linked(page)))
    printed = printed_by(command, files)
    topics = [row.split()[-1].replace(",", "") for row in rows(page, 1)]
    assert [line.split()[-1] for line in printed.splitlines()[2:6]] == topics
    for row in rows(page, 3):
        depth, documents, judged, relevant, hours, *_ = row.split()
        line = next(each for each in printed.splitlines() if each.split()[:1] == [depth])
        assert line.split()[1:5] == [documents, judged, relevant, hours]


def test_the_command_of_a_typed_variance_needs_no_files(ten, client, tmp_path):
    page = page_at(client, f"{ADDRESS}?variance=.0462&difference=.1&runs=10")
    [command] = commands(page_at(client, linked(page)))
    assert "146" in printed_by(command, tmp_path)


def linked(page: str) -> str:
    """The address of how a plan is computed."""
    start = page.index("/benchmarks/ten/computed/planning/")
    return page[start : page.index('"', start)].replace("&amp;", "&")


OUT_OF_RANGE = ["difference=0", "alpha=1", "runs=x", "power=nan", "seconds=", "alpha=.5&power=.5"]


@pytest.mark.parametrize("asked", OUT_OF_RANGE)
def test_a_value_out_of_range_is_refused_beside_its_field(ten, client, asked):
    page = page_at(client, f"{ADDRESS}?{asked}")
    assert "Some values are out of range." in page and 'class="error' in page


def limits() -> list[str]:
    """The least and the greatest value of each field of the plan."""
    fields = [each for each in PlanForm.base_fields.items() if hasattr(each[1], "max_value")]
    ends = [(f"{name}={field.min_value}", f"{name}={field.max_value}") for name, field in fields]
    least, most = ("&".join(each) for each in zip(*ends, strict=True))
    return [least, most.replace("alpha=0.5", ""), *(end for each in ends for end in each)]


@pytest.mark.parametrize("asked", limits())
def test_extreme_plans_are_answered(ten, client, asked):
    assert len(rows(page_at(client, f"{ADDRESS}?{asked}"), 1)) == 4


def test_runs_that_differ_by_the_same_on_all_topics_have_no_variance(ten, ben, client):
    ten.runs.all().delete()
    send(ten, ben, "first", [1] * 10)
    send(ten, ben, "third", [3] * 10)
    for asked in ("measure=RR", "measure=RR&difference=1e6"):
        assert "A variance is needed" in page_at(client, f"{ADDRESS}?{asked}")


def test_an_organiser_plans_before_there_is_a_board(collection, as_ada, client):
    make_track(collection, slug="later", judgment_set=None)
    address = "/benchmarks/later/plan/"
    assert "A variance is needed" in page_at(as_ada, address)
    page = page_at(as_ada, f"{address}?variance=.0462&difference=.1&runs=2")
    assert rows(page, 1)[2].endswith("74")
    assert client.get(address).status_code == 404


def test_large_boards_leave_the_pools_to_the_command(ten, client, monkeypatch):
    monkeypatch.setattr(rescoring, "MOST_DOCUMENTS", 10)
    assert "too many documents to compare pools here" in page_at(client, ADDRESS)


def test_both_tables_go_to_other_programs(ten, client):
    topics = client.get(f"{ADDRESS}?format=csv&variance=.0462&difference=.1").text.splitlines()
    assert (
        topics[0] == "design,runs,detects,size,topics" and "ANOVA,10,difference,0.1,146" in topics
    )
    pools = client.get(f"{ADDRESS}?format=csv&table=pools").text.splitlines()
    assert pools[0] == "depth,documents,judged,relevant,hours,tau_b,tau_ap" and len(pools) == 6


def test_the_significance_page_leads_here(ten, client):
    assert f'href="{ADDRESS}"' in page_at(client, "/benchmarks/ten/significance/")


def variance_at(page: str) -> str:
    """The variance of differences that the page has learnt."""
    return re.search(r"([\d.]+) for the difference between two", words(page))[1]


@pytest.fixture
def other(ten, ada, ben) -> Track:
    """Another track of the site, whose runs vary otherwise."""
    track = make_track(ten.collection, slug="other", measures=["AP", "RR"])
    for tag, ranks in (("a", [1, 5, 1, 5, 1, 5, 1, 5, 1, 5]), ("b", 2), ("c", 3)):
        send(track, ben, tag, ranks)
    return track


def test_the_variance_of_any_other_board_can_be_taken(other, client):
    runs = list(other.runs.values_list("pk", flat=True))
    found = variances_of(score_matrix(other.edition, "RR", sorted(runs)))
    page = page_at(client, f"{ADDRESS}?board=other&measure=RR&difference=.1")
    assert variance_at(page) == f"{found.paired:.4f}".removeprefix("0")
    assert "Variances of RR on Other track (3 runs)" in words(page)
    assert variance_at(page_at(client, ADDRESS)) != variance_at(page)


def test_the_command_of_another_board_names_its_runs(other, client, tmp_path):
    page = page_at(client, f"{ADDRESS}?board=other&difference=.2&runs=3")
    [command] = commands(page_at(client, linked(page)))
    (tmp_path / "qrels.v1.txt").write_text(QRELS)
    for tag, ranks in (("a", [1, 5, 1, 5, 1, 5, 1, 5, 1, 5]), ("b", 2), ("c", 3)):
        (tmp_path / f"{tag}.run").write_text(run_of(tag, ranks))
    topics = [row.split()[-1].replace(",", "") for row in rows(page, 1)]
    printed = printed_by(command, tmp_path).splitlines()[2:6]
    assert [line.split()[-1] for line in printed] == topics


def test_a_board_that_the_reader_may_not_see_teaches_nothing(other, blind_track, client, as_ada):
    """Neither blind boards nor those for members are offered, and asking by name says the same."""
    Track.objects.filter(pk=other.pk).update(visibility=Track.Visibility.MEMBERS)
    for slug in ("blind", "other", "none"):
        page = page_at(client, f"{ADDRESS}?board={slug}")
        assert f'value="{slug}"' not in page.partition("<select")[2].partition("</select>")[0]
        assert "Some values are out of range." in page
    offered = page_at(as_ada, ADDRESS).partition("<select")[2].partition("</select>")[0]
    assert 'value="other"' in offered


def test_a_draft_without_a_board_learns_from_another(other, collection, as_ada):
    make_track(collection, slug="draft", judgment_set=None)
    assert "(3 runs)" in words(page_at(as_ada, "/benchmarks/draft/plan/?board=other"))


def test_the_chart_has_the_values_of_its_table(ten, client):
    page = page_at(client, f"{ADDRESS}?difference=.2")
    first, last = rows(page)[0].split(), rows(page)[-1].split()
    runs = sorted(ten.runs.values_list("pk", flat=True))
    scores = score_matrix(ten.edition, "AP", runs)
    low, high = np.percentile(pair_deviations(scores), [25, 75])
    effect = detectable_effect(10, critical_before(10, 10))
    expected = [effect * each for each in (variances_of(scores).paired ** 0.5, low, high)]
    assert first == ["10", *(f"{value:.3f}".removeprefix("0") for value in expected)]
    assert int(last[0].replace(",", "")) >= 200
    needed = rows(page, 1)[0].split()[-1]
    assert f"{needed} topics detect .200" in page
    assert client.get(f"{ADDRESS}?format=csv&table=curve").text.startswith("topics,difference,")


def test_hours_over_those_at_hand_are_struck_out(ten, client):
    """A pool to depth 5 has 50 documents or so; each takes six minutes, a tenth of them twice."""
    page = page_at(client, f"{ADDRESS}?seconds=360&hours=40&twice=10&difference=.2")
    documents = int(rows(page, 3)[0].split()[1])
    lines = client.get(f"{ADDRESS}?seconds=360&twice=10&format=csv&table=costs").text.splitlines()
    head, depth_5 = lines[0].split(","), lines[1].split(",")
    hours = float(depth_5[head.index("25 topics")])
    assert hours == pytest.approx(documents / 10 * 25 * 1.1 * 360 / 3600)
    assert page.count("<s>") > 0 and "over your hours" in page


def test_a_plan_within_the_hours_names_its_depth(ten, client):
    said = words(page_at(client, f"{ADDRESS}?hours=100000&difference=.2"))
    assert "At pool depth 100 judging them takes" in said and "of your 100000 hours" in said
    said = words(page_at(client, f"{ADDRESS}?hours=.01&difference=.2"))
    assert "Even at pool depth 5 judging them takes more than your 0.01 hours." in said


@pytest.mark.parametrize("page", ["plan", "reusability"])
def test_strangers_of_a_blind_track_see_nothing(blind_track, client, as_ada, page):
    assert client.get(f"/benchmarks/blind/{page}/?variance=1").status_code == 404
    assert as_ada.get(f"/benchmarks/blind/{page}/").status_code == 200


def test_queries_do_not_grow_with_the_board(ten, ben, client):
    asked = num_queries(client, ADDRESS)
    for rank in (2, 4):
        send(ten, ben, f"r{rank}", rank)
    assert num_queries(client, ADDRESS) == asked


def test_a_trial_that_failed_is_not_queued_by_every_reader(ten, as_ada, monkeypatch):
    page_at(as_ada, ADDRESS)
    with monkeypatch.context() as broken:
        broken.setattr(order_trials, "try_orders", None)
        work()
    assert "The trial of the orders failed on our side." in words(page_at(as_ada, ADDRESS))
    assert not Job.objects.open().exists()


def test_orders_of_judging_are_tried_on_the_board_for_organisers(ten, as_ada, client):
    assert "being computed" in page_at(as_ada, ADDRESS)
    work()
    page = page_at(as_ada, ADDRESS)
    assert "Thompson sampling" in page and "25 documents per topic" in page
    lines = as_ada.get(f"{ADDRESS}?format=csv&table=orders").content.decode().splitlines()
    assert lines[0] == "order,budget,found,tau_ap,tau" and len(lines) == 19
    assert "Orders of judging" not in page_at(client, ADDRESS)
