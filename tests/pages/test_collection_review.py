"""What was found in the files of a collection, before it is imported."""

import pytest
from django.core.files.uploadedfile import UploadedFile
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard import importing, uploads
from leaderboard.models import Collection, Job
from leaderboard.uploads import CollectionFiles
from tests.builders import DOCUMENTS, QRELS, TOPICS, upload, work

BY_ORDER = TOPICS.replace("Number: 3", "Number: 8")


@pytest.fixture
def bring(ada):
    """A collection of these files, as far as it comes without a confirmation."""

    def brought(topics=TOPICS, documents=DOCUMENTS, qrels=QRELS, check=True) -> Collection:
        sent = [("topics.trec", topics), ("documents.jsonl", documents), ("qrels.txt", qrels)]
        files = CollectionFiles(*(named(name, text) for name, text in sent))
        collection = Collection(slug="rye", name="Rye", owner=ada)
        uploads.accept_collection(collection, files)
        if check:
            work()
        return collection

    return brought


def named(name: str, text: str | None) -> UploadedFile | None:
    return None if text is None else upload(name, text)


def state() -> str:
    return Collection.objects.get(slug="rye").state


def test_each_file_is_told_with_its_evidence_and_count(bring, as_ada):
    bring()
    page = as_ada.get("/collections/rye/")
    assertContains(page, '<bdi class="mono">topics.trec</bdi>')
    assertContains(page, "1 with a description, 1 with a narrative")
    assertContains(page, "<b>12 documents</b>")
    assertContains(page, "<b>8 judgments</b> on 3 topics")


def test_the_first_records_are_shown_as_they_were_read(bring, as_ada):
    bring(documents=DOCUMENTS.replace("Document 1", "<b>One</b>"))
    page = as_ada.get("/collections/rye/")
    assertContains(page, "A relevant document explains a starter.")
    assertContains(page, "<bdi>&lt;b&gt;One&lt;/b&gt;</bdi>")


def test_every_grade_is_counted_and_explained(bring, as_ada):
    bring(qrels=QRELS.replace("3 0 d7 0", "3 0 d7 -1"))
    page = as_ada.get("/collections/rye/")
    assert [row.grade for row in page.context["review"].grading.rows()] == [3, 2, 1, 0, -1]
    assertContains(page, "pooled, but not judged")
    assertContains(page, "relevant, the highest grade")


def test_what_is_to_look_at_is_counted(bring, as_ada):
    bring(
        documents=DOCUMENTS + '{"_id": "d13", "title": "Empty", "text": ""}\n',
        qrels="1 0 d1 1\n1 0 d77 1\n2 0 d1 0\n",
    )
    page = as_ada.get("/collections/rye/")
    assertContains(page, "1 without text")
    assertContains(page, "1 topic without judgments")
    assertContains(page, "1 topic without a relevant document")
    assertContains(page, "1 judgment of documents outside the collection")


def test_a_confirmation_imports_everything(bring, as_ada):
    bring()
    assertContains(as_ada.get("/collections/rye/"), "12 documents, 3 topics and 8 judgments as")
    as_ada.post("/collections/rye/confirm/")
    work()
    assert state() == "ready"


def test_numbers_that_do_not_match_are_a_question(bring, as_ada):
    bring(topics=BY_ORDER)
    page = as_ada.get("/collections/rye/")
    assertContains(page, "1 of 3 judged topics are not in the topics file")
    assertContains(page, 'name="renumber_topics" value="yes" required')
    assertContains(page, '<bdi>8</bdi></td><td class="num"><b>3</b>')


def test_renumbered_topics_are_imported_in_the_order_of_their_file(bring, as_ada):
    collection = bring(topics=BY_ORDER)
    as_ada.post("/collections/rye/confirm/", {"renumber_topics": "yes"})
    work()
    assert state() == "ready"
    assert list(collection.topics.values_list("number", flat=True)) == ["1", "2", "3"]


def test_with_the_numbers_kept_nothing_is_imported(bring, as_ada):
    bring(topics=BY_ORDER)
    page = as_ada.post("/collections/rye/confirm/", {"renumber_topics": "no"}, follow=True)
    assertContains(page, "Nothing is imported")
    assert state() == "preview"


def test_a_refused_file_is_told_with_line_and_code(bring, as_ada):
    bring(qrels=QRELS + "1 0 d9\n")
    page = as_ada.get("/collections/rye/")
    assertContains(page, "Refused: 1 kind of error, 1 in all.")
    assertContains(page, '<span class="line">9</span>')
    assertContains(page, "E_COLUMNS")
    assertNotContains(page, "Import this collection")


def test_a_refused_collection_is_not_confirmed(bring, as_ada):
    bring(qrels=QRELS + "1 0 d9\n")
    page = as_ada.post("/collections/rye/confirm/", follow=True)
    assertContains(page, "does not wait for a confirmation")
    assert state() == "refused"


def test_what_is_foreign_in_a_problem_is_printed_as_text(bring, as_ada):
    bring(qrels=QRELS + "1 0 d9 <script>alert(1)</script>\n")
    page = as_ada.get("/collections/rye/")
    assertContains(page, "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>")


def test_a_failure_of_ours_is_owned_up_to(bring, as_ada):
    importing.collection_failed(bring().pk, "the worker ran out of memory")
    page = as_ada.get("/collections/rye/")
    assertContains(page, "Not your fault.")
    assertContains(page, "The worker ran out of memory.")


def test_while_a_worker_reads_the_page_follows(bring, as_ada):
    bring(check=False)
    page = as_ada.get("/collections/rye/state/")
    assertContains(page, 'hx-trigger="every 1s"')
    assertContains(page, "next in the queue")
    assert "HX-Refresh" not in page.headers


def test_when_the_worker_is_done_the_page_loads_anew(bring, as_ada):
    bring()
    page = as_ada.get("/collections/rye/state/")
    assert page["HX-Refresh"] == "true"
    assertNotContains(page, "hx-get")


def test_the_progress_of_an_import_is_told(bring, as_ada):
    collection = bring(check=False)
    Job.objects.update(state="running", kind="import_collection", progress=2000, progress_of=8000)
    Collection.objects.filter(pk=collection.pk).update(state="importing")
    assertContains(as_ada.get("/collections/rye/state/"), "2,000 of 8,000 judgments written")


def test_a_collection_that_is_not_imported_can_be_discarded(bring, as_ada):
    bring()
    assert as_ada.post("/collections/rye/discard/")["Location"] == "/collections/"
    assert not Collection.objects.exists()


def test_nobody_else_sees_it(bring, client, as_cat):
    bring()
    for reader in (client, as_cat):
        assert reader.get("/collections/rye/").status_code == 404
        assert reader.get("/collections/rye/state/").status_code == 404
    assert as_cat.post("/collections/rye/confirm/").status_code == 404
