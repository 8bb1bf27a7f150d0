"""Another version of the judgments, weighed before the board switches to it."""

from __future__ import annotations

import pytest

from leaderboard import comparing, organising, uploads
from leaderboard.breakdowns.impact import impact_of
from leaderboard.models import Comparison, Edition, Track
from tests.builders import OTHER_RUN, QRELS, make_run, upload, work

# What Ben has first is no longer relevant, and what Cat has first is.
V2 = "1 0 d1 0\n1 0 d3 2\n1 0 d9 1\n2 0 d4 1\n2 0 d5 0\n"


@pytest.fixture
def runs(track, ben, cat):
    return [make_run(track, ben), make_run(track, cat, OTHER_RUN)]


@pytest.fixture
def v2(track, ada, runs):
    file = upload("v2.txt", V2)
    made = uploads.accept_judgments(track.collection, file, "v2", ada, asks_first=False)
    work()
    return made


@pytest.fixture
def tried(as_ada, v2):
    as_ada.post("/tracks/bread/judgments/v2/try/")
    work()


@pytest.fixture
def impact(track, tried):
    track.refresh_from_db()
    new = Edition.objects.get(judgment_set__version="v2")
    return impact_of(track.edition, new, "AP")


def test_trying_judgments_leaves_the_board_alone(track, tried):
    assert Track.objects.get().edition.judgment_set.version == "v1"
    assert Edition.objects.get(judgment_set__version="v2").state == "ready"


def test_runs_that_change_places_are_named_with_both_ranks(impact):
    moved = {each.run.tag: (each.old_rank, each.new_rank) for each in impact.moves}
    assert moved == {"ben-bm25": (1, 2), "other": (2, 1)}
    assert impact.agreement.tau == -1 and impact.agreement.first_changed


def test_means_are_those_of_the_topics_that_each_version_judges(impact):
    other = next(each for each in impact.moves if each.run.tag == "other")
    assert other.old == pytest.approx((5 / 12 + 1 + 1 / 6) / 3)
    assert other.new == pytest.approx((1 + 1) / 2)


def test_topics_that_are_no_longer_judged_are_named(impact):
    assert [topic.number for topic in impact.removed] == ["3"] and not impact.added
    assert [each.topic.number for each in impact.topics] == ["1"]


def test_the_page_says_what_would_change(as_ada, tried):
    page = as_ada.get("/tracks/bread/judgments/v2/impact/").content.decode()
    assert "leads now; 2 runs of 2 change place" in page
    assert "Switch the board to v2" in page


def test_what_the_page_shows_is_a_table_too(as_ada, tried):
    table = as_ada.get("/tracks/bread/judgments/v2/impact/?format=csv").content.decode()
    assert table.splitlines()[0] == "run,tag,old_rank,new_rank,old,new"
    assert "ben-bm25,1,2," in table


def test_a_switch_puts_the_new_edition_on_the_board(as_ada, tried):
    as_ada.post("/tracks/bread/judgments/v2/switch/")
    work()
    assert Track.objects.get().edition.judgment_set.version == "v2"


def test_the_same_judgments_turn_nothing(track, ada, as_ada, runs):
    file = upload("again.txt", QRELS)
    uploads.accept_judgments(track.collection, file, "v1-again", ada, asks_first=False)
    work()
    as_ada.post("/tracks/bread/judgments/v1-again/try/")
    work()
    track.refresh_from_db()
    same = impact_of(track.edition, Edition.objects.latest("pk"), "AP")
    assert same.num_moved == 0 and same.topics == [] and same.agreement.tau == 1


def test_before_a_try_the_page_offers_it(as_ada, v2):
    page = as_ada.get("/tracks/bread/judgments/v2/impact/").content.decode()
    assert "Not tried yet" in page


def test_verdicts_of_large_boards_wait_for_a_job(track, ada, as_ada, tried, monkeypatch):
    organising.choose_baseline(track, ada, track.runs.first())
    work()
    Comparison.objects.all().delete()
    monkeypatch.setattr(comparing, "AT_ONCE", 0)
    page = as_ada.get("/tracks/bread/judgments/v2/impact/").content.decode()
    assert "are being made" in page and "Known when the tests are made." in page
    work()
    assert "are being made" not in as_ada.get("/tracks/bread/judgments/v2/impact/").content.decode()
