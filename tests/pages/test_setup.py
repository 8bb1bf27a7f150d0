"""A draft: only organisers know it, and its checklist leads to the opening."""

import pytest
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions import tracks
from leaderboard.jobs.running import run_due_jobs
from leaderboard.models import AuditEvent, Benchmark, Collection, Run, Track
from tests.builders import make_run, upload, work
from tests.pages.test_meanwhile import pages_made_while

SETUP = "/benchmarks/bread/setup/"


@pytest.fixture
def draft(track: Track) -> Track:
    Track.objects.update(is_draft=True)
    track.refresh_from_db()
    return track


def ready(track: Track) -> None:
    Track.objects.update(description="Find loaves.")
    Collection.objects.update(licence="CC BY 4.0")


@pytest.mark.parametrize(
    "page", ["board/", "", "data/", "topics/", "feed.xml", "badge.svg", "history/"]
)
def test_a_draft_is_not_there_for_others(draft, as_ben, client, page):
    for reader in (as_ben, client):
        assert reader.get(f"/benchmarks/bread/{page}").status_code == 404


def test_nobody_joins_a_draft_or_finds_it(draft, as_ben, client):
    assert as_ben.get("/benchmarks/bread/join/").status_code == 404
    assertNotContains(client.get("/"), "/benchmarks/bread/board/")
    assertNotContains(as_ben.get("/search/?q=bread"), "/benchmarks/bread/board/")


def test_a_draft_hides_its_collection_too(draft, client, as_ada):
    assert client.get("/collections/bread/").status_code == 404
    assert as_ada.get("/collections/bread/").status_code == 200


def test_the_api_knows_no_draft_of_others(draft, client, as_ben):
    assert as_ben.get("/api/v1/tracks/bread").status_code == 404
    assert "bread" not in client.get("/api/v1/tracks").content.decode()


def test_nobody_sends_a_run_to_a_draft(draft, as_ben):
    sent = as_ben.post("/benchmarks/bread/submit/", {"file": upload("a.run", "1 Q0 d1 1 1 a\n")})
    assert sent.status_code == 404
    assert not Run.objects.exists()


def test_steps_are_ticked_by_facts(draft, as_ada):
    assertContains(as_ada.get(SETUP), "<b>2 of 7 steps are done.</b>")
    ready(draft)
    assertContains(as_ada.get(SETUP), "<b>4 of 7 steps are done.</b>")


def test_the_step_of_the_data_names_what_is_missing(draft, as_ada):
    missing = "Name a licence, or say where to get the documents."
    assertContains(as_ada.get(SETUP), missing)
    assertContains(as_ada.get("/benchmarks/bread/manage/overview/"), "a licence or a source")
    ready(draft)
    assertNotContains(as_ada.get(SETUP), missing)


@pytest.mark.parametrize(
    ("joining", "link"),
    [("everyone", "/benchmarks/bread/"), ("invitation", "/benchmarks/bread/join/?invitation=")],
)
def test_the_link_to_share_is_printed(draft, as_ada, joining, link):
    Benchmark.objects.update(joining=joining)
    assertContains(as_ada.get(SETUP), f'<pre id="invitation">http://testserver{link}')


def test_a_draft_opens_after_its_first_steps(draft, as_ada, client):
    as_ada.post(f"{SETUP}open/")
    assert Track.objects.get().is_draft
    ready(draft)
    assert as_ada.post(f"{SETUP}open/")["Location"] == "/benchmarks/bread/"
    assert client.get("/benchmarks/bread/").status_code == 200
    assert AuditEvent.objects.filter(act="open").count() == 2


def test_a_baseline_is_on_its_way_until_it_is_checked_and_has_its_name(draft, as_ada):
    as_ada.post(f"{SETUP}baseline/")
    run_due_jobs("tests", limit=1)
    assert Track.objects.get().baseline.state == "queued"
    assertContains(as_ada.get(SETUP), "BM25 is ranking the documents.")
    assertContains(as_ada.get(SETUP), 'hx-trigger="every 2s"')


def test_bm25_becomes_the_baseline_of_a_draft(draft, as_ada):
    as_ada.post(f"{SETUP}baseline/")
    assertContains(as_ada.get(SETUP), "BM25 is ranking the documents.")
    assertContains(as_ada.get(SETUP), 'hx-trigger="every 2s"')
    work()
    run = Run.objects.get()
    assert (run.state, run.tag, run.team.of_organisers) == ("scored", "bm25", True)
    assert Track.objects.get().baseline == run
    assertContains(as_ada.get(SETUP), "bm25 is the baseline")
    assertContains(
        as_ada.get(SETUP), 'href="/benchmarks/bread/manage/section/judgments/#field-baseline"'
    )
    assertNotContains(as_ada.get(SETUP), 'hx-trigger="every 2s"')


def test_a_baseline_that_comes_while_the_page_is_made_is_not_missed(draft, as_ada):
    as_ada.post(f"{SETUP}baseline/")
    for page in pages_made_while(as_ada, SETUP, lambda: run_due_jobs("tests", limit=1)):
        assertContains(page, 'hx-trigger="every 2s"')


def test_a_baseline_asked_for_twice_is_one_run(draft, as_ada):
    as_ada.post(f"{SETUP}baseline/")
    as_ada.post(f"{SETUP}baseline/")
    work()
    as_ada.post(f"{SETUP}baseline/")
    work()
    assert Run.objects.count() == 1


def test_a_chosen_baseline_stays(draft, ada, as_ada):
    chosen = make_run(draft, ada)
    tracks.choose_baseline(draft, ada, chosen)
    as_ada.post(f"{SETUP}baseline/")
    work()
    assert Track.objects.get().baseline == chosen


def test_without_documents_a_baseline_is_uploaded(draft, as_ada):
    Collection.objects.update(num_documents=0)
    assertNotContains(as_ada.get(SETUP), "Make a BM25 baseline")
    page = as_ada.post(f"{SETUP}baseline/", follow=True)
    assertContains(page, "Upload a run instead.")


def test_strangers_do_not_open_a_draft(draft, as_cat: Client):
    ready(draft)
    assert as_cat.post(f"{SETUP}open/").status_code == 404
    assert Track.objects.get().is_draft


def test_a_draft_is_deleted_after_typing_its_name(draft, as_ada):
    assertContains(as_ada.get("/benchmarks/bread/manage/delete/"), "Delete track")
    wrong = as_ada.post("/benchmarks/bread/manage/delete/", {"name": "Bread"})
    assertContains(wrong, "Type the name", status_code=422)
    as_ada.post("/benchmarks/bread/manage/delete/", {"name": "Bread track"})
    assert not Track.objects.exists()
    assert AuditEvent.objects.filter(act="delete", target_kind="track").exists()


def test_an_open_track_is_not_deleted_on_a_page(track, as_ada):
    assert (
        as_ada.post("/benchmarks/bread/manage/delete/", {"name": "Bread track"}).status_code == 404
    )
    assert Track.objects.exists()
