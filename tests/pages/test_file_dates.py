"""Documents and judgments that appear on a date, as topics do."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions.refusals import ActionError
from leaderboard.actions.tracks import change_track
from leaderboard.models import AuditEvent, Collection, Overview, Run, Team, Track
from leaderboard.models.registrations import Download
from tests.builders import RUN, make_run, make_track, make_user, upload

DAY = timedelta(days=1)
SAVE = "/benchmarks/bread/manage/section/dates/"
DATES = {"zone": "UTC", "grace_minutes": "0", "late_runs": "refuse"}
DOCUMENTS = (
    "/collections/bread/documents/",
    "/collections/bread/document/?docno=d1",
    "/collections/bread/docnos.txt",
    "/collections/bread/sample.run",
    "/benchmarks/bread/document/?docno=d1",
)
JUDGMENTS = "/benchmarks/bread/judgments/v1/qrels.txt"
BASELINE = "/benchmarks/bread/data/baseline.run"


def date(track: Track, **dates) -> None:
    change_track(track, track.collection.owner, dates)


def answers(client, addresses) -> set[int]:
    return {client.get(address).status_code for address in addresses}


def test_documents_appear_at_their_minute(track, client, as_ada):
    Collection.objects.update(shares_documents=True)
    date(track, documents_at=timezone.now() + DAY)
    everything = (*DOCUMENTS, "/collections/bread/documents.file")
    assert answers(client, everything) == {404}
    assert answers(as_ada, everything) == {200}
    Track.objects.update(documents_at=timezone.now() - timedelta(seconds=1))
    assert answers(client, everything) == {200}


def test_the_page_of_data_has_the_day_and_no_size(track, client):
    date(track, documents_at=timezone.now() + DAY)
    page = client.get("/benchmarks/bread/data/")
    assertContains(page, "not out yet")
    assertNotContains(page, "docnos.txt")


def test_runs_are_rejected_until_the_documents_appear(track, as_ben):
    date(track, documents_at=timezone.now() + DAY)
    answer = as_ben.post("/benchmarks/bread/submit/", {"file": upload("run.txt", RUN)})
    assertContains(answer, "documents appear and runs are accepted from", status_code=422)
    assert not track.runs.exists()


def test_no_board_is_shown_before_the_documents(track, ada, client):
    run = make_run(track, ada)
    date(track, documents_at=timezone.now() + DAY)
    assertNotContains(client.get("/benchmarks/bread/board/"), run.tag)
    assert client.get(f"/runs/{run.pk}/").status_code == 404


def test_every_track_of_a_collection_has_the_date_of_its_documents(track, ada):
    other = make_track(track.collection, "rolls")
    date(track, documents_at=timezone.now() + DAY)
    other.refresh_from_db()
    assert other.documents_at == track.documents_at
    assert AuditEvent.objects.filter(track=other, act="change").exists()


def test_only_organisers_of_the_collection_date_its_documents(track):
    kim = make_user("kim")
    track.benchmark.co_organisers.add(kim)
    with pytest.raises(ActionError, match="when its documents appear"):
        change_track(track, kim, {"documents_at": timezone.now() + DAY})


def test_judgments_are_a_file_from_their_minute(track, ben, as_cat, as_ada):
    make_run(track, ben)
    date(track, shares_judgments=True, judgments_at=timezone.now() + DAY)
    assert as_cat.get(JUDGMENTS).status_code == 404
    assertContains(as_cat.get("/benchmarks/bread/data/"), "not out yet")
    assert as_ada.get(JUDGMENTS).status_code == 200
    Track.objects.update(judgments_at=timezone.now() - timedelta(seconds=1))
    assert as_cat.get(JUDGMENTS).status_code == 200


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("documents_at", "The documents are out."),
        ("judgments_at", "offered as a file."),
    ],
)
def test_taking_a_file_back_is_asked_once_more(track, as_ada, name, sentence):
    Track.objects.update(shares_judgments=True)
    sent = DATES | {name: "2099-01-01T12:00"}
    assertContains(as_ada.post(SAVE, sent), sentence)
    assert getattr(Track.objects.get(), name) is None
    as_ada.post(SAVE, sent | {"confirmed": "1"})
    assert getattr(Track.objects.get(), name).year == 2099


@pytest.fixture
def baseline(track, ada) -> Run:
    """A run of the organisers that everyone may download."""
    run = make_run(track, ada)
    Team.objects.filter(pk=run.team_id).update(of_organisers=True)
    Track.objects.update(baseline=run)
    Overview.objects.create(track=track)
    return run


def test_the_baseline_is_a_file_from_its_minute(track, baseline, as_cat, as_ada):
    date(track, baseline_at=timezone.now() + DAY)
    assert as_cat.get(BASELINE).status_code == 404
    page = as_cat.get("/benchmarks/bread/data/")
    assertContains(page, "not out yet")
    assertNotContains(page, baseline.sha256)
    assert as_ada.get(BASELINE).status_code == 200
    Track.objects.update(baseline_at=timezone.now() - timedelta(seconds=1))
    assert as_cat.get(BASELINE).status_code == 200


def test_taking_back_a_baseline_that_is_offered_is_asked_once_more(baseline, as_ada):
    sent = DATES | {"baseline_at": "2099-01-01T12:00"}
    assertContains(as_ada.post(SAVE, sent), "The baseline run is offered as a file.")


def test_the_date_of_a_baseline_that_nobody_is_offered_says_nothing(baseline, as_ada, client):
    Overview.objects.update(shares_baseline=False)
    as_ada.post(SAVE, DATES | {"baseline_at": "2099-01-01T12:00"})
    assert Track.objects.get().baseline_at.year == 2099
    assertNotContains(client.get("/benchmarks/bread/"), "2099")


def test_the_baseline_is_for_its_readers_and_their_downloads_are_noted(
    track, baseline, client, as_cat
):
    Overview.objects.update(baseline_readers="signed_in")
    assert client.get(BASELINE).status_code == 404
    assertContains(client.get("/benchmarks/bread/data/"), "for signed-in people")
    assert as_cat.get(BASELINE).status_code == 200
    assert Download.objects.get().user.username == "cat"
