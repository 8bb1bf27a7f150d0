"""The overview of a track, its data, and what organisers write there."""

import hashlib
import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.collections.importing import record_missing_checksums
from leaderboard.models import AuditEvent, Benchmark, Collection, Job, Overview, Track
from tests.builders import DOCUMENTS, make_run, make_track

BENCHMARK = "/benchmarks/bread/"
EDIT = "/benchmarks/bread/manage/overview/"
FILE = "/collections/bread/documents.file"


def body(answer) -> bytes:
    return b"".join(answer.streaming_content)


def save(client: Client, **fields: str):
    return client.post(EDIT, {"description": "", **fields})


def test_the_old_address_of_a_track_leads_to_its_home(track, client):
    assert client.get("/benchmarks/bread/about/")["Location"] == BENCHMARK


def test_what_organisers_write_is_on_the_page(track, as_ada, client):
    save(
        as_ada,
        description="Find **loaves**.\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        authors="Inês Moura, University of Porto\nTobias Brandt",
        contact="bread@example.org",
        questions="## May we pool?\nYes.",
    )
    page = client.get(BENCHMARK)
    assertContains(page, "Find <strong>loaves</strong>.")
    assertContains(page, "<td>1</td>")
    assertContains(page, "University of Porto")
    assertContains(page, 'href="mailto:bread@example.org"')
    assertContains(page, "May we pool?")


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "<script>alert(1)</script>",
        "![x](https://example.org/a.png)",
        '<a href="x" onclick="y">z</a>',
    ],
)
def test_a_text_brings_no_script_and_no_image(track, as_ada, client, text):
    save(as_ada, description=text, questions=text)
    page = client.get(BENCHMARK).content.decode()
    written = page[page.index('class="prose written"') :]
    assert "<script" not in written and "<img src=x" not in written
    assert 'href="javascript' not in written and '<a href="x"' not in written


def test_a_link_of_a_text_passes_nothing_on(track, as_ada, client):
    save(as_ada, description="[paper](https://example.org/p)")
    assertContains(
        client.get(BENCHMARK), '<a href="https://example.org/p" rel="nofollow noopener">paper</a>'
    )


def test_the_schedule_orders_dates_of_both_kinds(collection, as_ada, client):
    make_track(collection, closes_at="2030-11-30T11:59:59Z", disclosure="blind")
    save(as_ada, schedule="2031-03-22 to 2031-03-23 Workshop\n1 Sep 2026: Documents out")
    page = client.get(BENCHMARK).content.decode()
    order = [page.index(f"<bdi>{label}</bdi>") for label in ("Documents out", "Closes")]
    assert order == sorted(order) and page.index("22–23 Mar 2031") > order[1]


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("Workshop", "Line 1: start with a date"),
        ("2026-09-01 A\n2026-02-30 B", "Line 2: 2026-02-30 is not a date"),
        ("2026-09-02 to 2026-09-01 A", "Line 1: the last day must follow the first"),
    ],
)
def test_a_wrong_line_of_the_schedule_is_named(track, as_ada, schedule, problem):
    assertContains(save(as_ada, schedule=schedule), problem, status_code=422)
    assert not track.milestones.exists()


def test_a_change_of_the_page_is_in_the_trail_once(track, as_ada):
    save(as_ada, citation="Moura 2027.")
    save(as_ada, citation="Moura 2027.")
    event = AuditEvent.objects.get(act="change")
    assert event.after == {"citation": "Moura 2027.", "shares_baseline": False}


def test_strangers_do_not_edit_the_page(track, as_cat):
    assert save(as_cat, description="Mine.").status_code == 403
    assert Track.objects.get().description == ""


def test_bibtex_has_the_names_of_the_authors(track, as_ada, client):
    save(as_ada, authors="Inês Moura, Porto\nT. Brandt & Co")
    text = client.get(BENCHMARK + "?format=bib").content.decode()
    assert "author = {{Inês Moura} and {T. Brandt \\& Co}}" in text
    assert "howpublished = {\\url{http://testserver/benchmarks/bread/}}" in text


def test_a_leaderboard_says_after_the_deadline_that_all_scores_are_visible(
    leaderboard_track, client
):
    Track.objects.update(ladder_step=0.01, closes_at=timezone.now() - timedelta(minutes=1))
    page = client.get("/benchmarks/lead/")
    assertContains(page, "Everyone who sees the track sees all scores.")
    assertNotContains(page, "Each team shows one score")


def test_documents_are_downloaded_where_organisers_share_them(track, as_ada, client):
    assert client.get(FILE).status_code == 404
    assertContains(client.get(BENCHMARK), "not shared")
    save(as_ada, shares_documents="on", licence="CC BY 4.0")
    assert body(client.get(FILE)) == DOCUMENTS.encode()
    assertContains(client.get(BENCHMARK), "CC BY 4.0")


def test_who_organises_only_the_track_is_offered_no_documents(track, cat, as_cat):
    track.benchmark.co_organisers.add(cat)
    assert as_cat.get(FILE).status_code == 404
    assertNotContains(as_cat.get("/benchmarks/bread/data/"), FILE)


def test_the_printed_digest_is_that_of_the_file(track, client):
    Collection.objects.update(shares_documents=True)
    digest = hashlib.sha256(body(client.get(FILE))).hexdigest()
    assertContains(client.get("/benchmarks/bread/data/"), f"{digest}  documents.jsonl")


@pytest.mark.parametrize("kind", ["topics.trec", "topics.jsonl", "sample.run", "docnos.txt"])
def test_every_file_has_its_digest(track, client, kind):
    data = client.get(f"/collections/bread/{kind}")
    digest = hashlib.sha256(body(data)).hexdigest()
    assertContains(client.get("/benchmarks/bread/data/"), digest)


def test_digests_of_older_collections_are_computed_later(collection):
    before = Collection.objects.get().documents_sha256
    Collection.objects.update(documents_sha256="", topics_sha256="")
    record_missing_checksums()
    assert Collection.objects.get().documents_sha256 == before != ""


def test_a_broken_download_continues(track, client):
    Collection.objects.update(shares_documents=True)
    whole = body(client.get(FILE))
    rest = client.get(FILE, headers={"Range": "bytes=10-"})
    assert rest.status_code == 206
    assert rest["Content-Range"] == f"bytes 10-{len(whole) - 1}/{len(whole)}"
    assert body(rest) == whole[10:]


def test_a_range_beyond_the_file_is_refused(track, client):
    Collection.objects.update(shares_documents=True)
    answer = client.get(FILE, headers={"Range": "bytes=999999-"})
    assert (answer.status_code, answer["Content-Range"][:8]) == (416, "bytes */")


@pytest.mark.parametrize("asked", ["bytes=0-" + "9" * 5000, "bytes=²-", "bytes=٣-", "bytes=-"])
def test_a_range_that_is_not_understood_is_ignored(track, client, asked):
    Collection.objects.update(shares_documents=True)
    answer = client.get(FILE, headers={"Range": asked})
    assert answer.status_code == 200 and len(body(answer)) == int(answer["Content-Length"])


def test_a_changed_file_is_sent_whole(track, client):
    Collection.objects.update(shares_documents=True)
    answer = client.get(FILE, headers={"Range": "bytes=10-", "If-Range": '"other"'})
    assert answer.status_code == 200


def test_the_topics_come_in_two_forms(track, client):
    trec = body(client.get("/collections/bread/topics.trec")).decode()
    assert trec.count("<top>") == 3 and "<num> Number: 1" in trec
    rows = body(client.get("/collections/bread/topics.jsonl")).splitlines()
    assert [json.loads(row)["number"] for row in rows] == ["1", "2", "3"]


def test_the_sample_run_is_a_valid_run(track, ben, client):
    text = body(client.get("/collections/bread/sample.run"))
    assert make_run(track, ben, text).state == "scored"


def test_a_document_is_found_by_its_docno(track, client):
    found = client.get("/collections/bread/documents/?docno=d1")
    assert found["Location"] == "/collections/bread/document/?docno=d1"
    assertContains(
        client.get("/collections/bread/documents/?docno=x"), "There is no document", status_code=404
    )


def test_documents_are_found_by_their_words(track, client):
    page = client.get("/collections/bread/documents/?words=Twelve+seven+7")
    assertContains(page, "12 documents")
    assertContains(page, "<mark>twelve</mark>")
    first = page.content.decode().index("docno=d7")
    assert first < page.content.decode().index("docno=d1")
    assertContains(client.get("/collections/bread/documents/?words=twelve&page=2"), "11 to 12")


def test_words_that_no_document_has_find_nothing(track, client):
    assertContains(client.get("/collections/bread/documents/?words=loa"), "Nothing found")
    assertContains(client.get("/collections/bread/documents/?words=%3F!"), "at least one word")


def test_the_page_says_why_words_cannot_be_searched(track, client, monkeypatch):
    Collection.objects.update(words="")
    job = Job.objects.get(kind="index_words")
    for state, sentence in [("running", "is being built"), ("failed", "the index failed")]:
        Job.objects.filter(pk=job.pk).update(state=state)
        assertContains(client.get("/collections/bread/documents/?words=loaf"), sentence)
    Collection.objects.update(num_documents=1_000_001)
    assertContains(client.get("/collections/bread/documents/"), "up to 1,000,000 documents")


def test_words_are_searched_only_where_documents_are_seen(track, as_cat):
    Track.objects.update(visibility="members")
    Benchmark.objects.update(joining="invitation")
    assert as_cat.get("/collections/bread/documents/?words=loaf").status_code == 404


def test_the_baseline_of_organisers_is_handed_out(blind_track, ada, client):
    run = make_run(blind_track, ada)
    Track.objects.update(baseline=run)
    assert client.get("/benchmarks/blind/data/baseline.run").status_code == 404
    Overview.objects.create(track=blind_track)
    assert body(client.get("/benchmarks/blind/data/baseline.run")) == body_of(run)


def body_of(run) -> bytes:
    with run.file.open() as file:
        return file.read()


def test_the_baseline_of_a_team_stays_its_own(track, ben, client):
    Track.objects.update(baseline=make_run(track, ben))
    Overview.objects.create(track=track)
    assert client.get("/benchmarks/bread/data/baseline.run").status_code == 404


def test_judgments_have_a_row_before_their_release(collection, client):
    make_track(collection, disclosure="blind", shares_judgments=True)
    assertContains(client.get(BENCHMARK), "after release")
    assertNotContains(client.get(BENCHMARK), "qrels.txt")


def test_the_front_page_leads_strangers_in(track, client):
    page = client.get("/")
    assertContains(page, "Join a benchmark")
    assertContains(page, f'href="{BENCHMARK}"')


def test_the_only_live_benchmark_is_a_click_away(track, client, collection):
    assertContains(
        client.get("/"), f'<a class="button main-button" href="{BENCHMARK}">Join a benchmark</a>'
    )
    make_track(collection, slug="other")
    assertContains(client.get("/"), 'href="#live">Join a benchmark</a>')


def test_strangers_create_an_account_to_join(track, client, as_ben, settings):
    assertContains(client.get(BENCHMARK), 'href="/benchmarks/bread/join/"')
    assertContains(as_ben.get(BENCHMARK), 'main-button" href="/benchmarks/bread/join/"')
    settings.SIGNUP_OPEN = False
    assertContains(client.get(BENCHMARK), 'main-button" href="/benchmarks/bread/join/"')


def test_a_new_organiser_begins_with_a_collection(db, client, settings):
    settings.EVERYONE_ORGANISES = True
    assertContains(client.get("/organise/"), "/account/signup/?next=/collections/new/")
    settings.EVERYONE_ORGANISES = False
    assertContains(client.get("/organise/"), "/account/signup/?next=/organise/")


def test_judgments_that_only_organisers_can_download_are_marked(track, as_ada):
    Collection.objects.update(shares_documents=True)
    assertContains(as_ada.get(BENCHMARK), "only organisers see this link", count=1)
    Track.objects.update(shares_judgments=True)
    assertNotContains(as_ada.get(BENCHMARK), "only organisers see this link")


def test_an_empty_site_leads_to_its_first_benchmark(db, client):
    page = client.get("/")
    assertContains(page, 'class="button main-button" href="/organise/"')
    assertNotContains(page, "Join a benchmark")


def test_members_keep_their_list_of_tracks(track, as_ben):
    assertContains(as_ben.get("/"), "Your team")


def test_the_front_page_says_nothing_of_a_blind_track(blind_track, ben, client):
    make_run(blind_track, ben)
    page = client.get("/")
    assertContains(page, "scores on release")
    assertNotContains(page, "ben-bm25")
