"""Results that others report, uploaded by organisers: checked, previewed, then imported."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest
from django.http import HttpResponse
from django.test import Client

from leaderboard.collections import reported_scores
from leaderboard.models import Job, ReportedScores, ResultsFile
from tests.builders import make_result_lines, render_result, upload, work
from tests.pages.reading import page_at, words

pytestmark = pytest.mark.django_db
PAGE = "/benchmarks/bread/manage/reported/"
LINES = make_result_lines(one=0.5, two=0.25)


def archive(**files: bytes) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in files.items():
            made.writestr(f"lab__one/r1/{name}.json", content)
    return file.getvalue()


def send(client: Client, content: bytes | str, table: str = "") -> HttpResponse:
    sent = {"source": "results.example.org", "file": upload("results", content)}
    if table:
        sent["table"] = upload("groups.csv", table)
    return client.post(PAGE, sent)


def test_an_archive_is_previewed_and_then_imported(track, as_ada):
    assert send(as_ada, archive(a=render_result("a", 0.5)), "collection,group\na,Retrieval\n")
    work()
    assert "1 score of 1 system on 1 collection" in words(page_at(as_ada, PAGE))
    assert not ReportedScores.objects.exists()
    as_ada.post(f"{PAGE}v1/confirm/")
    work()
    scores = ReportedScores.objects.get()
    assert (scores.collections, scores.source) == ([["a", "Retrieval"]], "results.example.org")
    assert ResultsFile.objects.get().scores == scores
    assert "v1: 1 score by results.example.org" in words(page_at(as_ada, PAGE))


def test_lines_of_json_are_read_too(track, as_ada):
    send(as_ada, LINES)
    work()
    page = words(page_at(as_ada, PAGE))
    assert "2 scores of 2 systems on 1 collection" in page and "from 0.2500 to 0.5000" in page
    assert "Reported, not recomputed: results.example.org" in page


def test_what_is_no_result_is_named_with_its_place(track, as_ada):
    send(as_ada, f"{LINES}[]\n")
    work()
    page = words(page_at(as_ada, PAGE))
    assert "1 case3[]E_FORMAT: the line is no JSON object" in page


def test_a_file_without_results_is_rejected_and_replaced(track, as_ada):
    send(as_ada, "{}\n")
    work()
    assert "Rejected. Nothing was imported." in words(page_at(as_ada, PAGE))
    as_ada.post(f"{PAGE}v1/again/", {"file": upload("results.jsonl", LINES)})
    work()
    assert ResultsFile.objects.get().state == "preview"


def test_the_page_says_how_much_is_read(track, as_ada):
    send(as_ada, LINES)
    Job.objects.update(progress=500, progress_of=2000)
    assert "500 of 2,000 are read." in words(page_at(as_ada, PAGE))


def test_the_piece_of_a_file_asks_for_itself_and_then_for_the_whole_page(track, as_ada):
    send(as_ada, LINES)
    asked = {"HX-Request": "true", "HX-Target": "results-v1"}
    assert 'hx-select="#results-v1"' in as_ada.get(PAGE, headers=asked).text
    work()
    over = as_ada.get(PAGE, headers=asked).text
    assert 'id="results-v1"' in over and f'hx-get="{PAGE}" hx-trigger="load, every 1s"' in over
    whole = as_ada.get(PAGE, headers={"HX-Request": "true", "HX-Target": "main"}).text
    assert "2 scores of 2 systems" in words(whole)


def test_a_job_tells_how_much_it_has_read(track, as_ada, monkeypatch):
    monkeypatch.setattr("evaluation.reading.results.STEP", 1)
    send(as_ada, LINES)
    told = []
    file = ResultsFile.objects.get()
    reported_scores.check_results(str(file.pk), lambda done, total: told.append((done, total)))
    assert told == [(1, 0), (2, 0)]


@pytest.mark.parametrize(
    ("table", "told"), [("name\n", "line 1"), ("collection,group\na\n", "line 2")]
)
def test_a_table_of_groups_that_cannot_be_read_is_refused(track, as_ada, table, told):
    answer = send(as_ada, LINES, table)
    assert (answer.status_code, told in answer.content.decode()) == (422, True)
    assert not ResultsFile.objects.exists()


def test_what_is_imported_is_not_discarded(track, as_ada):
    send(as_ada, LINES)
    work()
    as_ada.post(f"{PAGE}v1/confirm/")
    work()
    as_ada.post(f"{PAGE}v1/discard/")
    assert ResultsFile.objects.get().state == "ready"


def test_the_next_file_has_the_next_name(track, as_ada):
    for _ in range(2):
        send(as_ada, LINES)
    assert list(ResultsFile.objects.values_list("version", flat=True)) == ["v1", "v2"]
