"""A document on the pages of a track: its grades, and its rank in every run."""

from __future__ import annotations

import csv

from leaderboard.analysis import documents
from leaderboard.models import Run, Track
from tests.builders import OTHER_RUN, make_run
from tests.pages.reading import page_at, rows, words


def test_it_names_the_topics_it_is_judged_for(track, ben, client):
    make_run(track, ben)
    page = page_at(client, "/benchmarks/bread/document/?docno=d4")
    assert rows(page, 0) == ["grade 1 2 rye flour shown here"]


def test_it_has_its_rank_in_every_run(track, ben, cat, client):
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    page = page_at(client, "/benchmarks/bread/document/?docno=d4&number=2")
    assert sorted(rows(page, 1)) == ["ben-bm25 2", "other 1"]
    assert "retrieved by 2 of 2 runs, best rank 1" in words(page)


def test_of_very_many_runs_it_has_its_rank_in_the_first(track, ben, cat, client, monkeypatch):
    monkeypatch.setattr(documents, "MOST_READ", 1)
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    page = page_at(client, "/benchmarks/bread/document/?docno=d4&number=2")
    assert rows(page, 1) == ["ben-bm25 2"]
    assert "retrieved by 1 of the first 1 run" in words(page)


def test_a_run_that_misses_it_says_so(track, ben, client):
    make_run(track, ben)
    page = page_at(client, "/benchmarks/bread/document/?docno=d12&number=2")
    assert rows(page, 0) == ["ben-bm25 not retrieved"]
    assert "retrieved by 0 of 1 run" in words(page)


def test_it_leads_back_to_where_the_reader_came_from(track, ben, client):
    run = make_run(track, ben)
    ranking = page_at(client, f"/runs/{run.pk}/ranking/?number=2")
    address = f"/benchmarks/bread/document/?docno=d4&number=2&run={run.pk}"
    assert address.replace("&", "&amp;") in ranking
    assert f'href="/runs/{run.pk}/ranking/?number=2"' in page_at(client, address)


def test_a_blind_track_shows_the_text_alone(blind_track, ben, as_ben):
    run = make_run(blind_track, ben)
    page = page_at(as_ben, f"/benchmarks/blind/document/?docno=d4&number=2&run={run.pk}")
    assert "Document 4" in page and "grade" not in words(page) and "retrieved" not in page
    answer = as_ben.get("/benchmarks/blind/document/?docno=d4&number=2&format=csv")
    assert answer.status_code == 404


def test_a_run_of_another_track_is_no_way_back(track, blind_track, ben, client):
    hidden = make_run(blind_track, ben)
    page = page_at(client, f"/benchmarks/bread/document/?docno=d4&number=2&run={hidden.pk}")
    assert hidden.pk not in page


def test_the_ranks_are_a_file(track, ben, client):
    run = make_run(track, ben)
    answer = client.get("/benchmarks/bread/document/?docno=d4&number=2&format=csv")
    (line,) = csv.DictReader(answer.content.decode().splitlines())
    assert (line["run"], line["tag"], line["rank"]) == (run.pk, "ben-bm25", "2")


def test_an_unknown_document_is_not_there(track, client):
    for address in ("?docno=d99", "?docno=d4&number=99", ""):
        assert client.get(f"/benchmarks/bread/document/{address}").status_code == 404
    assert Track.objects.count() == 1 and not Run.objects.exists()
