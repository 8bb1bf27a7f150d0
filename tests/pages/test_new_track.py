"""One form runs a benchmark; a further track begins with the settings of the last one."""

from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.models import Benchmark, Collection, Milestone, Overview, Track
from tests.builders import make_collection, make_user, signed_in
from tests.pages.test_track_pages import form_of

RUN = "/collections/bread/tracks/new/"
ADD = "/benchmarks/bread/manage/tracks/new/"


def test_one_form_makes_a_benchmark_and_its_first_track(collection, as_ada):
    as_ada.post(RUN, {**form_of(as_ada.get(RUN)), "name": "Bread 2026", "joining": "approval"})
    benchmark = Benchmark.objects.get()
    assert (benchmark.name, benchmark.joining) == ("Bread 2026", "approval")
    assert benchmark.tracks.get().name == "Bread 2026"


def test_the_form_leads_to_a_track_beside_those_that_exist(track, as_ada):
    assertContains(as_ada.get(RUN), f"{ADD}?collection=bread")


def test_a_further_track_has_the_settings_dates_and_texts_of_the_last(track, as_ada):
    Track.objects.update(quota_per_day=3, closes_at=timezone.now(), description="Find loaves.")
    Overview.objects.create(track=track, contact="bread@example.org")
    Milestone.objects.create(track=track, label="Workshop", day="2030-09-01")
    page = as_ada.post(ADD, {"name": "Toast", "collection": track.collection_id})
    added, first = Track.objects.get(slug="toast"), Track.objects.get(slug="bread")
    assert page["Location"] == f"/benchmarks/{added.address}/setup/"
    assert (added.benchmark, added.is_draft) == (first.benchmark, True)
    for name in ("quota_per_day", "closes_at", "description", "measures", "judgment_set"):
        assert getattr(added, name) == getattr(first, name)
    assert added.overview.contact and added.milestones.get().label == "Workshop"
    assert first.overview.contact and first.milestones.exists()


def test_a_taken_name_and_a_collection_of_others_are_rejected(track, as_ada):
    make_collection(make_user("cat"), "rye")
    sent = {"name": "Toast", "slug": "bread", "collection": Collection.objects.get(slug="rye").pk}
    page = as_ada.post(ADD, sent)
    assertContains(page, "This short name is taken.", status_code=422)
    assertContains(page, 'id="id_collection_error"', status_code=422)


def test_measures_that_a_collection_cannot_give_are_named(track, as_ada, ada):
    Track.objects.update(measures=["alpha_nDCG@10"], primary_measure="alpha_nDCG@10")
    rye = make_collection(ada, "rye")
    page = as_ada.post(ADD, {"name": "Toast", "collection": rye.pk})
    assertContains(page, "alpha-nDCG needs judgments of subtopics", status_code=422)
    assert Track.objects.count() == 1


def test_only_ready_collections_of_the_organiser_are_offered(track, as_ada):
    make_collection(make_user("cat"), "rye")
    assertNotContains(as_ada.get(ADD), "Rye")


def test_strangers_add_no_track(track, cat):
    assert signed_in(cat).post(ADD, {"name": "Toast"}).status_code == 403
