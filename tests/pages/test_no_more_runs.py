"""Where no run can be submitted there is no form: why, what remains possible, whom to ask."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Overview, Participation, Track
from tests.benchmark_scene import make_benchmark
from tests.builders import make_run, make_track
from tests.pages.reading import page_at, words

SUBMIT = "/benchmarks/bread/submit/"
FORM = 'type="file"'


@pytest.fixture
def closed(collection, ben) -> Track:
    track = make_track(collection, quota_per_day=20)
    make_run(track, ben)
    Track.objects.update(closes_at=timezone.now() - timedelta(days=2))
    Overview.objects.create(track=track, contact="ada@example.org")
    return track


def test_after_the_deadline_there_is_no_form_but_the_runs_and_the_contact(closed, as_ben):
    page = page_at(as_ben, SUBMIT)
    assert FORM not in page and "mailto:ada@example.org" in page and "20 runs" not in words(page)
    assert "Closed since" in words(page) and "2 days ago" in words(page)
    assert "ben-bm25" in page and "Check a file without sending it" in page


def test_a_link_to_replace_a_run_says_the_same_after_the_deadline(closed, as_ben):
    run = closed.runs.get()
    assert "Closed since" in words(page_at(as_ben, f"{SUBMIT}?replaces={run.pk}"))


def test_a_team_with_a_later_deadline_has_the_form(closed, as_ben):
    Participation.objects.update(closes_at=timezone.now() + timedelta(days=2))
    assert FORM in page_at(as_ben, SUBMIT)


def test_my_runs_and_home_count_no_runs_left_after_the_deadline(closed, as_ben):
    for address in ("/benchmarks/bread/runs/", "/"):
        page = words(page_at(as_ben, address))
        assert "left today" not in page and "Submit a run" not in page
    assert "mailto:ada@example.org" in page_at(as_ben, "/benchmarks/bread/runs/")


def test_my_runs_say_how_many_are_left_while_the_track_is_open(collection, ben, as_ben):
    make_run(make_track(collection, quota_per_day=20), ben)
    assert "19 of 20 runs left today" in words(page_at(as_ben, "/benchmarks/bread/runs/"))


def test_with_the_quota_used_up_a_run_can_be_replaced(collection, ben, as_ben):
    run = make_run(make_track(collection, quota_total=1), ben)
    page = page_at(as_ben, SUBMIT)
    assert "Your team has used 1 of 1 run." in words(page) and FORM not in page
    assert f'name="replaces" value="{run.pk}"' in page
    assert FORM in page_at(as_ben, f"{SUBMIT}?replaces={run.pk}")


def test_home_shows_the_limit_that_is_reached_first(collection, ben, as_ben):
    make_run(make_track(collection, quota_per_day=20, quota_total=1), ben)
    assert "0 of 1 run left: your runs" in words(page_at(as_ben, "/"))


def test_before_the_track_opens_the_page_says_when(collection, as_ben):
    make_track(collection, opens_at=timezone.now() + timedelta(days=2))
    page = page_at(as_ben, SUBMIT)
    assert "Not open yet: runs are accepted from" in words(page) and FORM not in page


def test_organisers_keep_the_form(closed, as_ada):
    assert FORM in page_at(as_ada, SUBMIT)


def test_a_benchmark_without_an_open_track_has_no_form_either(ada, as_cat):
    benchmark = make_benchmark(ada)
    address = f"/benchmarks/{benchmark.slug}/submit/"
    assert FORM in page_at(as_cat, address)
    Track.objects.update(closes_at="2020-01-01T00:00:00Z")
    page = page_at(as_cat, address)
    assert "No track of this benchmark accepts runs" in words(page) and FORM not in page
