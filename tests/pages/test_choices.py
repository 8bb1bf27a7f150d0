"""What a reader chose of a board holds on every page that follows."""

from __future__ import annotations

import re
from html import unescape

import pytest

from leaderboard.models import Run, User
from tests.pages.reading import page_at
from tests.pages.ten_topics import send, ten_track, with_baseline

# Pages that show scores by a measure, or against a baseline.
FOLLOWING = re.compile(
    r'href="((?:/runs/\w+/(?:ranking/|topics/|failures/|file-and-facts/)?'
    r"|/benchmarks/ten/(?:board|topics/map|topics|topic|document|significance|measures|cost|plan|reusability|compare|history)/"
    r')(?:\?[^"#]*)?)(?:#\w+)?"'
)
CHOSEN = "measure=P@5&baseline={base}"
PAGES = (
    "/benchmarks/ten/board/?",
    "/benchmarks/ten/topics/?",
    "/benchmarks/ten/topics/map/?",
    "/benchmarks/ten/topic/?number=3&",
    "/benchmarks/ten/significance/?",
    "/benchmarks/ten/measures/?",
    "/benchmarks/ten/cost/?",
    "/benchmarks/ten/plan/?",
    "/benchmarks/ten/reusability/?",
    "/benchmarks/ten/compare/?",
    "/benchmarks/ten/judgments/?",
    "/benchmarks/ten/history/?",
    "/benchmarks/ten/computed/?",
    "/runs/{ours}/?",
    "/runs/{ours}/topics/?",
    "/runs/{ours}/failures/?",
    "/runs/{ours}/file-and-facts/?",
    "/runs/{ours}/ranking/?number=3&",
)


def make_scene(ada: User, ben: User, cat: User) -> dict[str, str]:
    """The ids of the baseline, and of Ben's run, which does better."""
    track = ten_track(ada)
    base = with_baseline(track, ada, 3)
    return {"base": base.pk, "ours": send(track, ben, "ours", 1).pk}


@pytest.fixture
def runs(scene) -> dict[str, str]:
    return scene


def links(page: str) -> list[str]:
    return [unescape(href) for href in FOLLOWING.findall(page)]


@pytest.mark.parametrize("page", PAGES)
def test_measure_and_baseline_go_along_with_every_link(runs, client, page):
    found = links(page_at(client, (page + CHOSEN).format(**runs)))
    assert found
    assert [each for each in found if "measure=" not in each] == []
    assert [each for each in found if f"baseline={runs['base']}" not in each] == []


def test_a_run_can_be_seen_by_another_measure_and_baseline(runs, client, ben):
    second = send(Run.objects.get(pk=runs["ours"]).track, ben, "second", 2)
    page = page_at(client, f"/runs/{runs['ours']}/?measure=P@5&baseline={second.pk}")
    assert "<b>P@5</b> against <b><bdi>second</bdi></b>" in page
    assert "<option selected>P@5</option>" in page
    assert f'<option value="{second.pk}" selected>second</option>' in page


def test_choosing_a_baseline_keeps_the_order_and_the_median(runs, client):
    page = page_at(client, f"/runs/{runs['ours']}/?order=topic&against=median")
    assert '<input type="hidden" name="order" value="topic">' in page
    assert '<input type="hidden" name="against" value="median">' in page


def test_both_rankings_keep_their_order_and_depth(runs, client):
    page = page_at(client, "/benchmarks/ten/compare/?order=topic&depth=20")
    assert "&amp;number=3&amp;order=topic&amp;depth=20#topic" in page


def test_filters_keep_the_eyes_of_everybody(runs, as_ada):
    page = page_at(as_ada, "/benchmarks/ten/board/?as=everybody")
    assert '<input type="hidden" name="as" value="everybody">' in page


def test_two_other_runs_are_compared_with_what_was_chosen(runs, client):
    chosen = CHOSEN.format(**runs) + "&order=topic&number=3"
    page = page_at(client, f"/benchmarks/ten/compare/?{chosen}")
    kept = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', page))
    assert kept == {"baseline": runs["base"], "order": "topic", "number": "3"}
