"""What was found in the files of a collection, before it is imported."""

import pytest
from django.core.files.uploadedfile import UploadedFile
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions import uploads
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.collections import importing
from leaderboard.models import Collection, Job
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
    assertContains(page, "<b>3 topics</b>, 1 with a description, 1 with a narrative")
    assertContains(page, "<b>12 documents</b>")
    assertContains(page, "<b>8 judgments</b> on 3 topics")


def test_the_import_is_a_click_away(bring, as_ada):
    bring()
    page = as_ada.get("/collections/rye/")
    assertContains(page, '<a href="#import">Go to the import</a>')
    assertContains(page, 'id="import"', count=1)


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
    assertContains(page, "1 of 3 judged topics is not in the topics file")
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


def test_a_prefix_of_the_numbers_is_asked_about(bring, as_ada):
    turns = "4_1\tis it deep\n4_2\tand wide\n31_1\twho keeps it\n"
    collection = bring(topics=turns, qrels="4_1 0 d1 1\n")
    page = as_ada.get("/collections/rye/")
    assertContains(page, "2 groups, the largest with 2 topics; first: 4, 31")
    as_ada.post("/collections/rye/confirm/", {"grouping": "_"})
    work()
    assert list(collection.topics.values_list("group", flat=True)) == ["4", "4", "31"]
    assert b"".join(as_ada.get("/collections/rye/topics.groups")) == b"4_1 4\n4_2 4\n31_1 31\n"


def test_topics_without_groups_have_no_file_of_groups(bring, as_ada):
    bring()
    as_ada.post("/collections/rye/confirm/")
    work()
    assert as_ada.get("/collections/rye/topics.groups").status_code == 404


def test_a_refused_file_is_told_with_line_and_code(bring, as_ada):
    bring(qrels=QRELS + "1 0 d9\n")
    page = as_ada.get("/collections/rye/")
    assertContains(page, "Rejected: 1 error of 1 type.")
    assertContains(page, '<span class="line">9</span>')
    assertContains(page, "E_COLUMNS")
    assertNotContains(page, "Import collection")


def test_a_refused_collection_is_not_confirmed(bring, as_ada):
    bring(qrels=QRELS + "1 0 d9\n")
    page = as_ada.post("/collections/rye/confirm/", follow=True)
    assertContains(page, "is not awaiting confirmation")
    assert state() == "refused"


def test_what_is_foreign_in_a_problem_is_printed_as_text(bring, as_ada):
    bring(qrels=QRELS + "1 0 d9 <script>alert(1)</script>\n")
    page = as_ada.get("/collections/rye/")
    assertContains(page, "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>")


def test_a_failure_of_ours_is_owned_up_to(bring, as_ada):
    importing.mark_collection_failed(bring().pk, "the worker ran out of memory")
    page = as_ada.get("/collections/rye/")
    assertContains(page, "Something went wrong on our side.")
    assertContains(page, "The worker ran out of memory.")


def test_while_a_worker_reads_the_page_follows(bring, as_ada):
    bring(check=False)
    page = as_ada.get("/collections/rye/state/")
    assertContains(page, 'hx-trigger="every 1s"')
    assertContains(page, "next in the queue")
    assertNotContains(page, 'hx-target="main"')


def test_when_the_worker_is_done_the_whole_page_follows(bring, as_ada):
    bring()
    page = as_ada.get("/collections/rye/state/")
    assertContains(page, 'hx-get="/collections/rye/" hx-trigger="load, every 1s"')


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


CRANFIELD = "1 d1 1\n1 d2 4\n2 d3 2\n2 d4 -1\n3 d5 3\n"


def test_columns_of_cranfield_ask_which_grade_is_the_best(bring, as_ada):
    bring(qrels=CRANFIELD)
    page = as_ada.get("/collections/rye/")
    assertContains(page, "In Cranfield&#x27;s own file 1 is the best grade")
    page = as_ada.post("/collections/rye/confirm/", {"preset": "reversed"}, follow=True)
    becomes = [(row.grade, row.becomes) for row in page.context["review"].grading.rows()]
    assert becomes == [(4, 1), (3, 2), (2, 3), (1, 4), (-1, 0)]
    assert state() == "preview"


def test_every_grade_can_be_mapped_and_is_imported_so(bring, as_ada):
    collection = bring(qrels=CRANFIELD)
    chosen = {"grade_1": 4, "grade_2": 3, "grade_3": 2, "grade_4": 1, "grade_-1": -1}
    as_ada.post("/collections/rye/confirm/", chosen)
    work()
    counts = collection.judgment_sets.get().grade_counts
    assert counts == {"-1": 1, "1": 1, "2": 1, "3": 1, "4": 1}


def test_a_smart_file_of_relevant_documents_is_imported_with_grade_1(bring, as_ada):
    collection = bring(qrels="".join(f"  {n:02}  d{n}\t0\t0.000000\n" for n in (1, 2, 3)))
    assertContains(as_ada.get("/collections/rye/"), "as in SMART files of relevant documents")
    as_ada.post("/collections/rye/confirm/")
    work()
    assert collection.judgment_sets.get().grade_counts == {"1": 3}


def test_a_list_that_repeats_docnos_is_imported_with_each_once(bring, as_ada):
    collection = bring(documents="".join(f"d{n}\n" for n in [*range(1, 13), 3, 7, 3]))
    assertContains(as_ada.get("/collections/rye/"), "lines that repeat a docno were ignored: 3")
    as_ada.post("/collections/rye/confirm/")
    work()
    collection.refresh_from_db()
    assert (collection.state, collection.num_documents) == ("ready", 12)


def test_topics_that_are_no_xml_are_imported_with_a_warning(bring, as_ada):
    collection = bring(topics=f"<topics>\n{TOPICS}</topics>")
    assertContains(as_ada.get("/collections/rye/"), "the file was read as TREC topics")
    as_ada.post("/collections/rye/confirm/")
    work()
    assert collection.topics.count() == 3


def test_what_a_mapping_means_is_shown_before_anything_is_imported(bring, as_ada):
    bring()
    page = as_ada.post(
        "/collections/rye/confirm/", {"act": "look", "relevant_from": 2}, follow=True
    )
    assertContains(page, "With this mapping 2 judgments are relevant, 6 not.")
    assertContains(page, "1 topic has no relevant document: <code><bdi>2</bdi></code>")
    assert state() == "preview"


def test_a_track_begins_with_the_grade_that_was_said_to_be_relevant(bring, as_ada):
    bring()
    as_ada.post("/collections/rye/confirm/", {"preset": "from-2"})
    as_ada.post("/collections/rye/confirm/", {"grade_3": 3, "relevant_from": 2})
    work()
    page = as_ada.get("/collections/rye/tracks/new/")
    assertContains(page, 'name="relevance_threshold" value="2"')


def test_a_grade_that_one_judgment_has_is_asked_about(bring, as_ada):
    documents = "".join(f"d{n}\n" for n in range(1, 1101))
    judged = "".join(f"1 0 d{n} {n % 2}\n" for n in range(1, 1100))
    bring(documents=documents, qrels=judged + "1 0 d1100 3\n")
    page = as_ada.get("/collections/rye/")
    assertContains(page, "1 of 1,100 judgments has the grade 3; the first is document d1100")
    assertContains(page, "very rare: an error?")


def test_two_readings_of_a_file_are_a_question_with_their_first_records(bring, as_ada):
    swapped = "".join(f"{docno} 0 {topic} {grade}\n" for topic, _, docno, grade in JUDGMENTS)
    collection = bring(qrels=swapped)
    page = as_ada.get("/collections/rye/")
    assertContains(page, 'value="docno iteration topic grade" required')
    assertContains(page, "topic 1, document d1, grade 2")
    assertContains(page, "The topics are in column 3, not column 1.")
    answer = {"format_judgments": "docno iteration topic grade", "act": "look"}
    as_ada.post("/collections/rye/confirm/", answer)
    work()
    as_ada.post("/collections/rye/confirm/")
    work()
    assert collection.judgment_sets.get().num_judgments == 8


JUDGMENTS = [line.split() for line in QRELS.splitlines()]


def test_sampled_judgments_are_refused_by_name(bring, as_ada):
    bring(qrels="1 0 d1 1 0.0375\n2 0 d2 -1 0.5\n3 0 d3 1 1.0\n")
    page = as_ada.get("/collections/rye/")
    assertContains(page, "Legal track sampled judgments need estimators")
    assertContains(page, "E_FORMAT")


def test_a_file_is_read_otherwise_on_request(bring, as_ada):
    bring(topics="1\tbread\n2\trye\n3\toven\n")
    as_ada.post("/collections/rye/confirm/", {"act": "look", "format_topics": "jsonl"})
    work()
    assertContains(as_ada.get("/collections/rye/"), "E_JSON")


def test_a_faulty_file_is_replaced_and_the_others_stay(bring, as_ada):
    bring(qrels=QRELS + "1 0 d9\n")
    as_ada.post("/collections/rye/again/", {"judgments": upload("mended.txt", QRELS)})
    work()
    page = as_ada.get("/collections/rye/")
    assertContains(page, '<bdi class="mono">mended.txt</bdi>')
    assertContains(page, "Ready to import")


def test_an_imported_collection_is_not_checked_again(collection, as_ada):
    page = as_ada.post("/collections/bread/again/", follow=True)
    assertContains(page, "is not awaiting confirmation")


def test_judged_documents_that_are_not_there_are_named(bring, as_ada):
    bring(qrels=QRELS + "3 0 d77 1\n")
    page = as_ada.get("/collections/rye/")
    assertContains(page, "1 judgment of documents outside the collection: <code><bdi>d77</bdi>")


def test_meanings_that_come_to_the_same_are_offered_once(bring, as_ada):
    bring(qrels="1 0 d1 1\n1 0 d2 0\n")
    page = as_ada.get("/collections/rye/")
    assert [each.words for each in page.context["review"].grading.buttons()] == ["As in the file"]
