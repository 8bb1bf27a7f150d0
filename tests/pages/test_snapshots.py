"""Frozen boards: what they hold stays, whatever becomes of the live one."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.actions import runs, tracks
from leaderboard.models import Overview, Snapshot
from leaderboard.scoring import contest_tests
from tests.builders import OTHER_RUN, make_run, signed_in, work


@pytest.fixture
def frozen(track, as_ada, ben, cat):
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    as_ada.post("/benchmarks/bread/manage/freeze/", {"name": "As published"})
    return Snapshot.objects.get()


def table_of(client) -> str:
    page = client.get("/benchmarks/bread/snapshots/as-published/").content.decode()
    return page.split("<tbody>")[1].split("</tbody>")[0]


def test_a_snapshot_holds_every_line_of_the_board(frozen, as_cat):
    table = table_of(as_cat)
    assert table.count("<tr>") == 2
    assert "ben-bm25" in table and "<bdi>.6944</bdi>" in table


def test_the_live_board_names_it_without_reading_its_lines(frozen, as_cat):
    with CaptureQueriesContext(connection) as asked:
        page = as_cat.get("/benchmarks/bread/board/").content.decode()
    assert "As published" in page
    assert not any('"leaderboard_snapshot"."rows"' in each["sql"] for each in asked)


def test_a_late_run_changes_the_board_and_no_snapshot(frozen, track, as_cat):
    before = table_of(as_cat)
    make_run(track, track.benchmark.owner, "1 Q0 d1 1 1.0 late\n")
    assert table_of(as_cat) == before
    assert Snapshot.objects.get().files == frozen.files


def test_a_run_withdrawn_since_stays_and_says_so(frozen, track, ben, as_cat):
    runs.withdraw_run(track.runs.get(tag="ben-bm25"), ben)
    assert "ben-bm25" in table_of(as_cat) and "withdrawn" in table_of(as_cat)


def test_the_files_are_those_of_the_day(frozen, as_cat):
    answer = as_cat.get("/benchmarks/bread/snapshots/as-published/?format=csv")
    assert answer.content.decode() == frozen.files["csv"]
    assert answer["Content-Disposition"] == 'attachment; filename="bread-as-published.csv"'


def test_a_deposit_has_the_files_and_says_how_to_cite_them(frozen, as_cat):
    answer = as_cat.get("/benchmarks/bread/snapshots/as-published/?format=zip")
    files = zipfile.ZipFile(io.BytesIO(answer.getvalue()))
    assert files.read("board.csv").decode() == frozen.files["csv"]
    deposit = json.loads(files.read(".zenodo.json"))
    assert deposit["title"] == "Bread track: As published"
    assert deposit["creators"] == [{"name": "ada"}]
    address = "http://testserver/benchmarks/bread/snapshots/as-published/"
    assert f'url: "{address}"'.encode() in files.read("CITATION.cff")


def test_a_paper_cites_it(frozen, as_cat):
    entry = as_cat.get("/benchmarks/bread/snapshots/as-published/?format=bib").content.decode()
    assert entry.startswith("@misc{bread-as-published,\n")
    assert "\\url{http://testserver/benchmarks/bread/snapshots/as-published/}" in entry


def test_the_authors_of_the_track_are_proposed_and_cited(frozen, track, as_ada, as_cat):
    Overview.objects.create(track=track, authors="Inês Moura, Porto\nT. Brandt & Co")
    page = as_ada.get("/benchmarks/bread/snapshots/")
    assert "Inês Moura, Porto\nT. Brandt &amp; Co</textarea>" in page.text
    authors = "Tobias Brandt\nInês Moura, Porto"
    as_ada.post("/benchmarks/bread/manage/freeze/", {"name": "Final", "authors": authors})
    entry = as_cat.get("/benchmarks/bread/snapshots/final/?format=bib").text
    assert "author = {{Tobias Brandt} and {Inês Moura}}" in entry


def test_a_snapshot_of_an_earlier_version_prints_no_zero_before_the_point(frozen, as_cat):
    frozen.rows = [[*row[:-1], "+0.0250 to 1.0000"] for row in frozen.rows]
    frozen.save()
    assert "+.0250 to 1.0000" in table_of(as_cat)


def test_two_snapshots_never_share_an_address(frozen, as_ada):
    page = as_ada.post("/benchmarks/bread/manage/freeze/", {"name": "as published"}, follow=True)
    assert "Snapshot as-published already exists." in page.content.decode()
    assert Snapshot.objects.count() == 1


def test_no_board_is_frozen_before_its_tests_are_made(track, ada, ben, cat, as_ada, monkeypatch):
    make_run(track, cat, OTHER_RUN)
    tracks.choose_baseline(track, ada, make_run(track, ben))
    monkeypatch.setattr(contest_tests, "IMMEDIATE_SCORES", 0)
    assert "are running." in as_ada.get("/benchmarks/bread/snapshots/").text
    page = as_ada.post("/benchmarks/bread/manage/freeze/", {"name": "Too early"}, follow=True).text
    assert "Tests are still running. Freeze the board when they finish." in page
    assert not Snapshot.objects.exists()
    work()
    assert "Freeze board" in as_ada.get("/benchmarks/bread/snapshots/").text
    as_ada.post("/benchmarks/bread/manage/freeze/", {"name": "In time"})
    assert Snapshot.objects.exists()


def test_a_blind_track_hides_its_snapshots_until_the_release(blind_track, ada, ben, as_ada):
    make_run(blind_track, ben)
    as_ada.post("/benchmarks/blind/manage/freeze/", {"name": "final"})
    as_ben = signed_in(ben)
    assert as_ben.get("/benchmarks/blind/snapshots/final/").status_code == 404
    tracks.release_track(blind_track, ada)
    assert as_ben.get("/benchmarks/blind/snapshots/final/").status_code == 200


def test_the_board_leads_to_the_latest_snapshot(frozen, as_cat):
    page = as_cat.get("/benchmarks/bread/board/").content.decode()
    assert '<a href="/benchmarks/bread/snapshots/as-published/"><bdi>As published</bdi></a>' in page


def test_numbers_stand_to_the_right_and_words_to_the_left(frozen, as_cat):
    table = table_of(as_cat)
    assert '<td class="num"><bdi>.6944</bdi></td>' in table
    assert "<td><bdi>ben</bdi></td>" in table
