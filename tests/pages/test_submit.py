"""Sending a run from a browser."""

from __future__ import annotations

import gzip
from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Run, Track
from tests.builders import OTHER_RUN, RUN, make_run, make_track, upload, work
from tests.pages.reading import page_at, words


def send(client, slug: str, content: str | bytes = RUN, **fields: str):
    return client.post(
        f"/benchmarks/{slug}/submit/",
        {"file": upload("a.run", content), "kind": "automatic", **fields},
    )


def test_a_run_is_taken_and_its_page_shown(track, as_ben):
    answer = send(as_ben, "bread", description="BM25, titles only")
    run = Run.objects.get()
    assert (answer.status_code, answer.url) == (302, f"/runs/{run.pk}/")
    assert (run.state, run.description) == ("queued", "BM25, titles only")
    assert "first in the queue" in as_ben.get(answer.url).content.decode()


def test_a_compressed_run_is_the_same(track, as_ben):
    send(as_ben, "bread", gzip.compress(RUN.encode()))
    work()
    assert Run.objects.get().state == "scored"


def test_without_a_file_the_form_says_so(track, as_ben):
    answer = as_ben.post("/benchmarks/bread/submit/", {"kind": "automatic"})
    assert answer.status_code == 422
    assert "This field is required" in answer.content.decode()


def test_a_closed_track_says_until_when_it_took_runs(collection, as_ben):
    make_track(collection, closes_at="2020-01-01T00:00:00Z")
    answer = send(as_ben, "bread")
    assert answer.status_code == 403
    assert "runs were accepted until" in answer.content.decode()


def test_a_used_up_day_is_told_before_sending(collection, ben, as_ben):
    track = make_track(collection, quota_per_day=1)
    make_run(track, ben)
    page = words(page_at(as_ben, "/benchmarks/bread/submit/"))
    assert "Your team has used 1 run of today.The quota resets" in page
    assert send(as_ben, "bread", OTHER_RUN).status_code == 429


@pytest.mark.parametrize("page", ["/", "/benchmarks/bread/runs/"])
def test_after_the_deadline_no_page_counts_runs_that_are_left(collection, ben, as_ben, page):
    make_run(make_track(collection, quota_per_day=20), ben)
    Track.objects.update(closes_at=timezone.now() - timedelta(days=2))
    assert " left today" not in page_at(as_ben, page)


def test_a_rejected_submission_keeps_what_was_entered(collection, ben, as_ben):
    make_run(make_track(collection, quota_per_day=1), ben)
    page = send(as_ben, "bread", OTHER_RUN, description="BM25, titles").content.decode()
    assert "<b>Your team has used 1 of 1 run for today." in page
    assert "Nothing was stored, and nothing counts." in page and "BM25, titles" in page


def test_while_some_is_left_the_page_says_when_the_day_ends(collection, ben, as_ben):
    make_run(make_track(collection, quota_per_day=2), ben)
    page = as_ben.get("/benchmarks/bread/submit/").content.decode()
    assert "1 of 2" in page and "runs left today, resets <b><time" in page


def test_a_double_click_is_one_run(track, as_ben):
    for _ in range(2):
        send(as_ben, "bread", idempotency_key="k")
    assert Run.objects.count() == 1


def test_fields_that_are_not_asked_for_are_ignored(track, as_ben):
    send(as_ben, "bread", state="scored", team="1", score="1.0", is_staff="true")
    run = Run.objects.get()
    assert (run.state, run.team.name, run.submitted_by.is_staff) == ("queued", "ben", False)


def test_the_page_knows_the_topics_for_its_own_check(track, as_ben):
    assert 'data-topics="1 2 3"' in as_ben.get("/benchmarks/bread/submit/").content.decode()


def test_the_page_says_how_to_check_a_run_at_home(collection, as_ben):
    make_track(collection, depth=20, measures=["AP", "P@5"], unknown_documents="drop")
    page = as_ben.get("/benchmarks/bread/submit/").content.decode()
    assert "--docnos docnos.txt \\\n  --depth 20 \\\n  --unknown-documents drop" in page


def test_the_page_knows_in_which_formats_it_may_look(collection, as_ben):
    make_track(collection, run_formats=["trec", "msmarco"])
    page = as_ben.get("/benchmarks/bread/submit/").content.decode()
    assert 'data-formats="trec msmarco"' in page
    assert "MS MARCO (topic docno rank)" in page


def test_strangers_sign_in_first(track, client):
    assert client.get("/benchmarks/bread/submit/").url.startswith("/account/login/")


def test_ones_runs_are_listed_with_their_states(track, ben, as_ben):
    make_run(track, ben)
    make_run(track, ben, "1 Q0 d1 1")
    page = as_ben.get("/benchmarks/bread/runs/").content.decode()
    assert "Scored" in page and "Rejected" in page and ">Errors<" in page


def test_an_empty_file_is_refused_like_any_other(track, as_ben):
    answer = send(as_ben, "bread", "")
    work()
    assert "E_EMPTY" in as_ben.get(answer.url).content.decode()
