"""Bringing a collection."""

import pytest
from pytest_django.asserts import assertContains

from leaderboard.models import Collection
from tests.builders import DOCUMENTS, QRELS, TOPICS, upload, work


def files(**fields):
    sent = {
        "name": "Bread and rye",
        "topics": upload("topics.trec", TOPICS),
        "documents": upload("documents.jsonl", DOCUMENTS),
        "judgments": upload("qrels.txt", QRELS),
    }
    return {**sent, **fields}


def test_the_form_stands_for_organisers(as_ada):
    page = as_ada.get("/collections/new/")
    assertContains(page, 'enctype="multipart/form-data"')
    assertContains(page, '<label for="id_topics">')


def test_others_are_told_that_it_is_not_for_them(client, as_ben, settings):
    settings.EVERYONE_ORGANISES = False
    assert client.get("/collections/new/").status_code == 302
    assert as_ben.get("/collections/new/").status_code == 403
    assert as_ben.post("/collections/new/", files()).status_code == 403


def test_the_files_are_checked_and_wait_for_a_confirmation(as_ada):
    page = as_ada.post("/collections/new/", files())
    work()
    assert page["Location"] == "/collections/bread-and-rye/"
    assert Collection.objects.get().state == "preview"


def test_topics_alone_are_enough(as_ada):
    as_ada.post("/collections/new/", {"name": "Rye", "topics": upload("topics.trec", TOPICS)})
    work()
    assert Collection.objects.get(slug="rye").preview["topics"]["count"] == 3


def test_without_topics_nothing_is_kept_and_the_field_says_why(as_ada):
    page = as_ada.post("/collections/new/", {"name": "Rye"})
    assertContains(page, 'id="id_topics_error"', status_code=422)
    assertContains(page, 'value="Rye"', status_code=422)
    assert not Collection.objects.exists()


def test_a_short_name_that_is_taken_is_said_at_its_field(as_ada, collection):
    page = as_ada.post("/collections/new/", files(slug="bread"))
    assertContains(page, 'id="id_slug_error"', status_code=422)
    assertContains(page, "This short name is taken", status_code=422)


@pytest.mark.parametrize("slug", ["new", "admin", "api"])
def test_words_of_other_addresses_are_no_short_names(as_ada, slug):
    page = as_ada.post("/collections/new/", files(slug=slug))
    assertContains(page, "reserved for site URLs", status_code=422)


def test_two_collections_of_one_name_have_two_addresses(as_ada):
    as_ada.post("/collections/new/", files())
    as_ada.post("/collections/new/", files())
    assert sorted(Collection.objects.values_list("slug", flat=True)) == [
        "bread-and-rye",
        "bread-and-rye-2",
    ]


def test_a_file_over_the_limit_is_not_stored(as_ada, settings):
    settings.COLLECTION_UPLOAD_LIMIT = 100
    page = as_ada.post("/collections/new/", files())
    assertContains(page, "the limit is 100.", status_code=422)
    assert not Collection.objects.exists()
