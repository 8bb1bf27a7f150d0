"""Making, presenting, joining and managing a benchmark in the browser's forms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django.asserts import assertContains

from leaderboard.models import Benchmark, Track
from tests.benchmark_scene import make_benchmark, make_rolls
from tests.builders import make_collection, make_track
from tests.pages.reading import words

NOON = datetime(2036, 1, 1, 12, tzinfo=UTC)


def test_collections_become_a_benchmark_in_one_form(ada, as_ada):
    make_collection(ada)
    make_rolls(ada)
    page = as_ada.get("/benchmarks/new/").content.decode()
    assert page.count(" checked") == 2
    chosen = [str(row.pk) for row in ada.collections.all()]
    made = as_ada.post("/benchmarks/new/", {"name": "Baking", "collections": chosen}, follow=True)
    assert made.redirect_chain == [("/benchmarks/baking/", 302)]
    assert [track.visibility for track in Benchmark.objects.get().tracks.all()] == [
        "members",
        "members",
    ]


def test_a_benchmark_is_made_of_own_tracks_alone(ada, as_ada, as_ben):
    track = make_track(make_collection(ada), "bread")
    assert "You organise no track that is free" in as_ben.get("/benchmarks/new/").content.decode()
    assert as_ben.post("/benchmarks/new/", {"name": "x", "tracks": track.pk}).status_code == 422
    as_ada.post("/benchmarks/new/", {"name": "Baking", "tracks": track.pk})
    assert [one.slug for one in Benchmark.objects.get(slug="baking").tracks.all()] == ["bread"]


@pytest.fixture
def benchmark(ada):
    return make_benchmark(ada, description="Bake *all*.", terms="Be kind.")


def test_the_home_page_presents_a_benchmark(benchmark, client):
    page = client.get("/benchmarks/baking/").content.decode()
    assert "Bake <em>all</em>." in page
    assert "Be kind." in page
    assert '"/benchmarks/baking/tracks/rolls/"' in page
    assert '"/benchmarks/baking/"' in client.get("/benchmarks/").content.decode()


def test_terms_are_accepted_once_for_all_tracks(benchmark, as_ben, ben):
    Benchmark.objects.update(terms="Be kind.")
    assert as_ben.get("/benchmarks/baking/submit/").url == "/benchmarks/baking/join/"
    assert as_ben.post("/benchmarks/baking/join/", {"team_name": "Crumbs"}).status_code == 422
    form = {"team_name": "Crumbs", "accepts_terms": "on"}
    assert as_ben.post("/benchmarks/baking/join/", form).url == "/benchmarks/baking/submit/"
    assert ben.memberships.get().accepted_terms_at is not None


def test_a_team_is_approved_for_all_tracks(benchmark, as_ada, as_ben, ben):
    as_ada.post("/benchmarks/baking/manage/section/people/", {"joining": "approval"})
    as_ben.post("/benchmarks/baking/join/", {"team_name": "Crumbs"})
    assert "asked to join Baking" in as_ada.get("/account/notices/").content.decode()
    asked = ben.join_requests.get()
    assert "Crumbs" in as_ada.get("/benchmarks/baking/manage/people/").content.decode()
    as_ada.post(f"/benchmarks/baking/manage/requests/{asked.pk}/", {"approve": "Crumbs"})
    assert ben.memberships.get().team.name == "Crumbs"


def test_an_invitation_opens_a_benchmark_of_members(benchmark, as_ada, as_ben, ben):
    as_ada.post("/benchmarks/baking/manage/section/people/", {"joining": "invitation"})
    Track.objects.update(visibility="members")
    assert as_ben.get("/benchmarks/baking/join/").status_code == 404
    code = Benchmark.objects.get().invitation
    as_ben.post(f"/benchmarks/baking/join/?invitation={code}", {"team_name": "Crumbs"})
    assert ben.memberships.get().team.name == "Crumbs"


def test_a_draft_of_a_benchmark_is_not_told_to_others(benchmark, as_ben, as_ada):
    Track.objects.filter(slug="rolls").update(is_draft=True, name="Secret rolls")
    for address in ("/benchmarks/baking/", "/benchmarks/", "/benchmarks/baking/join/"):
        assert "rolls" not in as_ben.get(address).content.decode().lower()
    assert "Secret rolls" in as_ada.get("/benchmarks/baking/").content.decode()


def test_organisers_order_tracks_and_name_phases(benchmark, as_ada):
    form = {"bread-position": 2, "bread-phase": "test", "rolls-position": 1}
    as_ada.post("/benchmarks/baking/manage/tracks/", form)
    placed = benchmark.tracks.in_order().values_list("slug", "phase")
    assert list(placed) == [("rolls", ""), ("bread", "test")]


def test_a_measure_that_no_track_has_is_refused(benchmark, as_ada):
    answer = as_ada.post("/benchmarks/baking/manage/section/board/", {"measure": "P@7"})
    assert answer.status_code == 422
    assert "No track has this measure" in answer.content.decode()


def test_pages_lead_to_benchmarks(benchmark, client, as_ben):
    of_tracks = [f"/benchmarks/baking/tracks/{page}" for page in ("bread/board/", "rolls/")]
    for address in ("/", "/tracks/", *of_tracks):
        assert '"/benchmarks/baking/board/"' in client.get(address).content.decode(), address
    assert '"/benchmarks/new/"' in client.get("/organise/").content.decode()
    assert '"/benchmarks/baking/"' in as_ben.get("/benchmarks/baking/join/").text


def test_the_team_page_of_a_track_speaks_for_the_benchmark(benchmark, as_ben, ben):
    form = {"team_name": "Crumbs", "accepts_terms": "on"}
    as_ben.post("/benchmarks/baking/join/", form)
    assert "takes part in all tracks of" in as_ben.get("/benchmarks/baking/tracks/rolls/team/").text
    as_ben.post("/benchmarks/baking/join/", {"team_name": "Others"})
    assert benchmark.teams.get().name == "Crumbs"


def test_a_track_of_a_benchmark_keeps_its_rule_for_joining(benchmark, as_ada):
    page = as_ada.get("/benchmarks/baking/tracks/bread/manage/section/people/").content.decode()
    assert "A setting of its benchmark." in page


def test_the_navigation_marks_benchmarks(db, client):
    assert 'aria-current="true">Benchmarks</a>' in client.get("/benchmarks/").content.decode()


def test_settings_say_whose_they_are(benchmark, as_ada):
    of_all = as_ada.get("/benchmarks/baking/manage/section/people/")
    of_one = as_ada.get("/benchmarks/baking/tracks/rolls/manage/section/runs/")
    assertContains(of_all, "Of the benchmark, for all its tracks.")
    assertContains(of_one, "Of the track <bdi>Rolls track</bdi>.")


def test_a_section_of_a_benchmark_changes_nothing_else(benchmark, as_ada):
    as_ada.post("/benchmarks/baking/manage/section/runs/", {"quota_per_day": "4"})
    changed = Benchmark.objects.get()
    assert (changed.quota_per_day, changed.name) == (4, "Baking")


def test_dates_of_all_tracks_are_in_one_order(benchmark, as_ada):
    Track.objects.filter(slug="bread").update(closes_at=NOON + timedelta(days=9))
    Track.objects.filter(slug="rolls").update(closes_at=NOON + timedelta(days=2))
    dates = words(as_ada.get("/benchmarks/baking/desk/deadlines/").text)
    assert dates.index("Closes Rolls track") < dates.index("Closes Bread track")
