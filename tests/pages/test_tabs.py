"""Tabs: at most seven for organisers and five for others, and views beneath the current one."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from leaderboard.models import Track
from tests.builders import make_assessment, make_pool, make_run, make_track, make_user


@pytest.fixture
def track(collection, ben) -> Track:
    track = make_track(collection)
    make_run(track, ben)
    return track


def names(client: Client, path: str, label: str = "Track") -> list[str]:
    """The names in a line of tabs or views of a page; the current one has a star."""
    page = client.get(path).text
    line = re.search(f'<nav class="[a-z]+" aria-label="{label}">(.*?)</nav>', page, re.S)
    links = re.findall(r'<a href="[^"]+"( aria-current="\w+")?\s*>([^<]+)', line[1]) if line else []
    return [name.strip() + "*" * bool(current) for current, name in links]


def test_others_have_five_tabs(track, as_ben):
    assert names(as_ben, "/benchmarks/bread/board/") == [
        *("Overview", "Board*", "Topics", "Data", "My runs")
    ]


def test_organisers_have_two_more(track, as_ada):
    shown = names(as_ada, "/benchmarks/bread/desk/")
    assert shown[4:] == ["My runs", "Judging", "Organise*"]


def test_judging_begins_with_a_pool_and_goes_on_with_its_assessment(track, ada, as_ada):
    assert names(as_ada, "/benchmarks/bread/pools/", "Views")[:2] == ["Pools*", "Assessments"]
    make_assessment(make_pool(track, ada, track.runs.all()), ada, make_user("pia"))
    assert names(as_ada, "/benchmarks/bread/pools/", "Views")[:2] == ["Assessments", "Pools*"]


def test_analyses_are_views_of_the_board(track, client):
    views = names(client, "/benchmarks/bread/cost/?measure=AP", "Views")
    assert views[:4] == ["Runs", "All pairs", "Compare two", "Over time"] and "Cost*" in views


def test_views_keep_the_measure_of_their_reader(track, client):
    page = client.get("/benchmarks/bread/cost/?measure=P%405").text
    assert 'href="/benchmarks/bread/history/?measure=P%405"' in page


def test_a_page_beneath_a_view_is_its(track, as_ada):
    assert names(as_ada, "/benchmarks/bread/manage/webhooks/", "Views")[-2:] == [
        *("Settings*", "Activity")
    ]


def test_where_scores_are_hidden_no_analysis_is_offered(track, client):
    Track.objects.update(disclosure="blind")
    assert names(client, "/benchmarks/bread/board/", "Views") == []


def test_questions_of_a_benchmark_with_one_track_are_beside_its_overview(track, client):
    assert names(client, "/benchmarks/bread/questions/", "Views") == ["Overview", "Questions*"]


def test_a_benchmark_of_several_tracks_has_tabs_of_its_own(collection, as_ada):
    first = make_track(collection)
    make_track(collection, slug="rye", benchmark=first.benchmark)
    shown = names(as_ada, "/benchmarks/bread/manage/", "Benchmark")
    assert shown == ["Overview", "Board", "Systems", "Questions", "Submit", "Organise*"]
