"""The list of collections, one that is imported, and its documents."""

import pytest
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions import uploads
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.models import AuditEvent, Collection, JudgmentSet
from tests.builders import QRELS, TOPICS, make_collection, upload, work
from tests.pages.test_other_saves import OpenForm


def test_the_list_has_what_the_reader_sees(track, as_ada):
    make_collection(track.benchmark.owner, "rye")
    assertContains(as_ada.get("/collections/"), "Rye")
    assertContains(Client().get("/collections/"), "3 topics")
    assertNotContains(Client().get("/collections/"), "Rye")


def test_only_organisers_are_led_to_a_new_track(track, as_ada, as_ben):
    assertContains(as_ada.get("/collections/"), "/collections/bread/tracks/new/")
    assertNotContains(as_ben.get("/collections/"), "/collections/bread/tracks/new/")


def test_without_any_collection_the_page_says_so(db):
    assertContains(Client().get("/collections/"), "No collections yet")


def test_a_collection_shows_its_topics_and_counts(track):
    page = Client().get("/collections/bread/")
    assertContains(page, "sourdough bread")
    assertContains(page, "<b>12</b> documents")
    assertContains(page, 'href="/benchmarks/bread/board/"')


def test_the_judgments_are_counted_where_some_track_shows_its_board(track):
    page = Client().get("/collections/bread/")
    assertContains(page, '<td class="num">8</td><td class="num">5</td><td class="num">3</td>')


def test_a_blind_track_tells_no_count_of_the_judgments(blind_track, as_ben, as_ada):
    assertNotContains(as_ben.get("/collections/bread/"), "Judgments")
    assertContains(as_ada.get("/collections/bread/"), "Judgments")


def test_only_organisers_add_judgments(track, as_ada, as_ben):
    assertContains(as_ada.get("/collections/bread/"), 'id="judgments-form"')
    assertNotContains(as_ben.get("/collections/bread/"), 'id="judgments-form"')
    form = {"version": "v2", "file": upload("second.txt", QRELS)}
    assert as_ben.post("/collections/bread/judgments/", form).status_code == 404


def test_a_collection_without_a_public_track_is_not_there(collection, as_cat):
    for address in ("", "state/", "document/?docno=d1"):
        assert as_cat.get(f"/collections/bread/{address}").status_code == 404


def test_new_judgments_are_reviewed_before_they_are_imported(collection, as_ada):
    form = {"version": "v2", "file": upload("second.txt", QRELS + "2 0 d9 2\n"), "note": "again"}
    assert as_ada.post("/collections/bread/judgments/", form).status_code == 302
    work()
    page = as_ada.get("/collections/bread/")
    assertContains(page, "<b>Ready to import</b> 9 judgments as")
    assertContains(page, 'action="/collections/bread/judgments/v2/confirm/"')


def test_confirmed_judgments_join_the_table(collection, as_ada):
    uploads.accept_judgments(collection, upload("2.txt", QRELS), "v2", collection.owner)
    work()
    as_ada.post("/collections/bread/judgments/v2/confirm/")
    work()
    assertContains(as_ada.get("/collections/bread/"), "<bdi>v2</bdi> <span")
    assert JudgmentSet.objects.get(version="v2").num_judgments == 8


def test_refused_judgments_say_what_is_wrong_with_its_line(collection, as_ada):
    uploads.accept_judgments(collection, upload("2.txt", "1 0 d1\n"), "v2", collection.owner)
    work()
    page = as_ada.get("/collections/bread/")
    assertContains(page, "Rejected: 1 error of 1 type.")
    assertContains(page, '<code class="wrong"><bdi>1 0 d1</bdi></code>')


def test_judgments_on_their_way_are_followed_by_the_page(collection, as_ada):
    uploads.accept_judgments(collection, upload("2.txt", QRELS), "v2", collection.owner)
    page = as_ada.get("/collections/bread/")
    assertContains(page, 'hx-get="/collections/bread/state/"')
    assertContains(page, "next in the queue")


def test_judgments_on_their_way_are_the_organisers_alone(track, as_ben):
    uploads.accept_judgments(track.collection, upload("2.txt", QRELS), "v2", track.benchmark.owner)
    work()
    assertNotContains(as_ben.get("/collections/bread/"), "v2")


def test_a_version_that_is_there_already_is_an_error_of_its_field(collection, as_ada):
    form = {"version": "v1", "file": upload("second.txt", QRELS)}
    page = as_ada.post("/collections/bread/judgments/", form)
    assertContains(page, "Judgments v1 already exist.", status_code=422)
    assertContains(page, 'aria-describedby="id_version_error"', status_code=422)


def test_a_document_shows_its_text(track):
    page = Client().get("/collections/bread/document/?docno=d3")
    assertContains(page, "<bdi>Loaf 3 of twelve, baked slowly.</bdi>")
    assertContains(page, "<bdi>Document 3</bdi>")


@pytest.mark.parametrize("docno", ["", "d99", "../d1", "D1", "\x00"])
def test_a_document_that_is_not_there_is_not_found(track, docno):
    page = Client().get("/collections/bread/document/", {"docno": docno})
    assert page.status_code == 404


def test_an_imported_collection_is_not_discarded(collection, as_ada):
    page = as_ada.post("/collections/bread/discard/", follow=True)
    assertContains(page, "This collection cannot be deleted")
    assert Collection.objects.filter(slug="bread").exists()


def test_topics_alone_are_a_collection(ada, as_ada):
    make_collection(ada, "plain", qrels=None)
    assertNotContains(as_ada.get("/collections/plain/"), "Versions of the judgments")


@pytest.mark.parametrize("address", ["", "bread/", "bread/state/", "bread/document/"])
def test_pages_are_only_read(track, as_ada, address):
    assert as_ada.post(f"/collections/{address}").status_code == 405


@pytest.mark.parametrize("act", ["confirm/", "discard/", "judgments/", "judgments/v1/confirm/"])
def test_acts_are_only_sent(track, as_ada, act):
    assert as_ada.get(f"/collections/bread/{act}").status_code == 405


def test_topics_and_docnos_can_be_taken_home(track, client):
    topics = client.get("/collections/bread/topics.txt").getvalue().decode()
    docnos = client.get("/collections/bread/docnos.txt").getvalue().decode()
    assert topics.splitlines()[0] == "1\tsourdough bread"
    assert docnos.splitlines() == [f"d{n}" for n in range(1, 13)]


def test_new_judgments_show_what_they_change(collection, as_ada):
    text = QRELS.replace("2 0 d4 1", "2 0 d4 3") + "1 0 d12 2\n"
    uploads.accept_judgments(collection, upload("2.txt", text), "v2", collection.owner)
    work()
    page = as_ada.get("/collections/bread/")
    assertContains(page, "1 judgment added, 1 changed and 0 removed, in 2 topics.")
    listed = as_ada.get("/collections/bread/judgments/v2/changes.csv").getvalue().decode()
    assert listed.splitlines()[1:] == ["1,d12,added,,2", "2,d4,changed,1,3"]


def test_refused_judgments_are_replaced_or_discarded(collection, as_ada):
    uploads.accept_judgments(collection, upload("2.txt", "1 0 d1\n"), "v2", collection.owner)
    work()
    mended = {"judgments": upload("mended.txt", QRELS)}
    as_ada.post("/collections/bread/judgments/v2/again/", mended)
    work()
    assertContains(as_ada.get("/collections/bread/"), "<b>Ready to import</b> 8 judgments as")
    as_ada.post("/collections/bread/judgments/v2/discard/")
    assert not JudgmentSet.objects.filter(version="v2").exists()


def test_imported_judgments_are_not_discarded(collection, as_ada):
    page = as_ada.post("/collections/bread/judgments/v1/discard/", follow=True)
    assertContains(page, "Imported judgments cannot be deleted")


def test_judgments_as_they_were_say_so(collection, as_ada):
    uploads.accept_judgments(collection, upload("2.txt", QRELS), "v2", collection.owner)
    work()
    assertContains(as_ada.get("/collections/bread/"), "No judgments changed.")


def test_a_document_that_came_as_a_docno_says_so(ada, as_ada):
    files = CollectionFiles(upload("topics", TOPICS), upload("docnos", "d1\nd2\n"))
    uploads.accept_collection(
        Collection(slug="rye", name="Rye", owner=ada, asks_first=False), files
    )
    work()
    page = as_ada.get("/collections/rye/document/?docno=d2")
    assertContains(page, "only its docno was imported")


WORDS = "/collections/bread/words/"


def test_the_words_of_a_collection_are_corrected_and_logged(track, as_ada):
    form = {"name": "Breads", "description": "Twelve loaves.", "licence": "CC BY 4.0"}
    assert as_ada.post(WORDS, form).status_code == 302
    page = as_ada.get("/collections/bread/").text
    assert "Breads" in page and "Twelve loaves." in page
    event = AuditEvent.objects.get(act="change", target_kind="collection")
    assert (event.before["name"], event.after["name"]) == ("Bread", "Breads")


def test_a_collection_keeps_a_name(track, as_ada):
    answer = as_ada.post(WORDS, {"name": " "})
    assert answer.status_code == 422 and "Words of <bdi>Bread</bdi>" in answer.text


def test_the_second_who_corrects_a_collection_is_told_what_changed(track, as_ada):
    mine, hers = OpenForm(as_ada, WORDS), OpenForm(as_ada, WORDS)
    hers.save(licence="CC0")
    mine.save(description="Loaves.")
    answer = OpenForm(as_ada, WORDS)
    assert (answer.sent["licence"], answer.sent["description"].strip()) == ("CC0", "Loaves.")


def test_words_of_a_collection_of_others_are_not_there(track, as_ben):
    assert as_ben.post(WORDS, {"name": "Mine"}).status_code == 404
