"""From the files that people have to a collection that everybody sees at once."""

from __future__ import annotations

import pytest

from leaderboard.actions import collections, uploads
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.collections import importing
from leaderboard.collections.choices import ImportChoices
from leaderboard.collections.documents import open_documents
from leaderboard.jobs import cleanup
from leaderboard.models import Collection, Judgment, JudgmentSet, Topic
from tests.builders import DOCUMENTS, QRELS, RUN, TOPICS, make_run, make_track, upload, work


def bring(
    ada, topics=TOPICS, documents=DOCUMENTS, qrels=QRELS, groups="", asks_first=True
) -> Collection:
    files = CollectionFiles(
        upload("topics", topics),
        upload("documents", documents) if documents else None,
        upload("qrels", qrels) if qrels else None,
        groups=upload("groups", groups) if groups else None,
    )
    collection = Collection(slug="c", name="C", owner=ada, asks_first=asks_first)
    uploads.accept_collection(collection, files)
    work()
    collection.refresh_from_db()
    return collection


def test_a_preview_says_what_was_found_and_imports_nothing(ada):
    collection = bring(ada)
    assert collection.state == "preview"
    assert collection.preview["documents"]["count"] == 12
    assert collection.preview["judgments"]["grades"] == {"0": 3, "1": 3, "2": 1, "3": 1}
    assert not Topic.objects.exists() and not Judgment.objects.exists()


def test_a_confirmed_collection_is_imported_whole(ada):
    collection = bring(ada)
    collections.confirm_collection(collection, ada)
    work()
    collection.refresh_from_db()
    assert (collection.state, collection.num_documents, collection.num_topics) == ("ready", 12, 3)
    judgments = collection.judgment_sets.get()
    assert (judgments.state, judgments.num_judgments, judgments.top_grade) == ("ready", 8, 3)


def test_nobody_is_asked_where_nothing_is_open(ada):
    assert bring(ada, asks_first=False).state == "ready"


def test_documents_open_by_docno(ada):
    documents = open_documents(bring(ada, asks_first=False).documents.name)
    assert documents.find("d7").title == "Document 7"
    assert documents.find("d77") is None
    assert set(documents.find_many(["d1", "d12", "no"])) == {"d1", "d12"}


def test_docnos_of_any_script_go_through_to_the_score(ada, ben):
    documents = DOCUMENTS.replace('"d1"', '"brød"')
    collection = bring(
        ada, documents=documents, qrels=QRELS.replace(" d1 ", " brød "), asks_first=False
    )
    run = make_run(make_track(collection), ben, RUN.replace(" d1 ", " brød "))
    assert run.state == "scored"
    assert run.score_sets.get().scores.get(measure="AP").mean == pytest.approx(25 / 36)
    assert open_documents(collection.documents.name).find("brød").title == "Document 1"


def test_a_list_of_docnos_keeps_each_once(ada):
    collection = bring(ada, documents=f"{DOCNOS}d3\nd7\nd3\n", asks_first=False)
    assert (collection.state, collection.num_documents) == ("ready", 12)
    assert collection.problem_totals == {"W_DUP_ID": 1}
    assert list(open_documents(collection.documents.name).docnos()) == DOCNOS.split()


DOCNOS = "".join(f"d{n}\n" for n in range(1, 13))


def test_a_broken_file_refuses_the_whole_collection(ada):
    collection = bring(ada, qrels=QRELS + "1 0 d9 high\n", asks_first=False)
    assert collection.state == "refused"
    assert collection.problem_totals == {"E_REL": 1}
    assert collection.problems[0]["line"] == 9
    assert not Topic.objects.exists()


def test_judgments_of_a_stray_topic_are_refused_with_their_line(ada):
    collection = bring(ada, qrels=QRELS + "9 0 d9 1\n")
    assert collection.state == "refused"
    assert [(p["code"], p["line"]) for p in collection.problems] == [("E_UNKNOWN_TOPIC", 9)]


def test_judgments_that_count_the_topics_ask_for_renumbering(ada):
    topics = TOPICS.replace("Number: 2", "Number: 4").replace("Number: 3", "Number: 8")
    collection = bring(ada, topics=topics, asks_first=False)
    assert collection.state == "preview"
    assert collection.questions[0]["name"] == "renumber_topics"
    assert "2 of 3 judged topics" in collection.problems[0]["message"]
    collections.confirm_collection(collection, ada, ImportChoices(renumber_topics=True))
    work()
    assert list(collection.topics.values_list("number", flat=True)) == ["1", "2", "3"]


def test_grades_are_mapped_as_confirmed(ada):
    collection = bring(ada)
    collections.confirm_collection(collection, ada, ImportChoices(grade_map={"3": 1, "2": 1}))
    work()
    assert collection.judgment_sets.get().grade_counts == {"0": 3, "1": 5}


def test_a_collection_needs_no_documents(ada):
    collection = bring(ada, documents=None, asks_first=False)
    assert (collection.state, collection.num_documents) == ("ready", 0)


def test_an_import_that_broke_off_leaves_nothing_behind(ada):
    collection = bring(ada)
    Topic.objects.create(collection=collection, position=0, number="left over")
    collections.confirm_collection(collection, ada)
    work()
    assert list(collection.topics.values_list("number", flat=True)) == ["1", "2", "3"]


def test_new_judgments_are_a_new_set(ada):
    collection = bring(ada, asks_first=False)
    uploads.accept_judgments(collection, upload("v2", QRELS + "1 0 d12 2\n"), "v2", ada)
    work()
    second = JudgmentSet.objects.get(version="v2")
    assert second.state == "preview"
    collections.confirm_judgments(second, ada)
    work()
    second.refresh_from_db()
    assert (second.state, second.num_judgments) == ("ready", 9)
    assert collection.judgment_sets.get(version="v1").num_judgments == 8


def test_an_open_question_has_to_be_answered(ada):
    topics = TOPICS.replace("Number: 2", "Number: 4").replace("Number: 3", "Number: 8")
    collection = bring(ada, topics=topics)
    with pytest.raises(ActionError, match="not in the topics file"):
        collections.confirm_collection(collection, ada, ImportChoices(renumber_topics=False))
    collection.refresh_from_db()
    assert collection.state == "preview"


def test_every_file_is_checked_though_one_is_wrong(ada):
    collection = bring(ada, documents="", qrels=QRELS + "1 0 d9 high\n", topics=TOPICS)
    assert collection.problem_totals == {"E_REL": 1}
    collection = bring_again(collection, documents='{"_id": "d1"', qrels="x")
    messages = [problem["message"] for problem in collection.problems]
    assert any(message.startswith("documents: ") for message in messages)
    assert any(message.startswith("judgments: ") for message in messages)


def bring_again(collection: Collection, **files: str) -> Collection:
    owner, _ = collection.owner, collection.delete()
    return bring(owner, **files)


def test_a_list_of_docnos_is_enough_to_judge(ada):
    docnos = "".join(f"d{n}\n" for n in range(1, 13))
    collection = bring(ada, documents=docnos, asks_first=False)
    assert (collection.state, collection.num_documents) == ("ready", 12)
    assert collection.preview["documents"]["format"] == "docnos"


def test_an_import_that_failed_for_good_leaves_no_row(ada):
    collection = bring(ada)
    Topic.objects.create(collection=collection, position=0, number="left over")
    importing.mark_collection_failed(str(collection.pk), "The process died 3 times.")
    cleanup.sweep()
    assert not collection.topics.exists()
    assert Collection.objects.get().state == "failed"


def test_a_sweep_leaves_what_is_imported_and_what_is_on_its_way(ada):
    collection = bring(ada, asks_first=False)
    cleanup.sweep()
    Collection.objects.update(state="importing")
    cleanup.sweep()
    assert (collection.topics.count(), Judgment.objects.count()) == (3, 8)


def test_new_judgments_say_what_they_change(ada):
    collection = bring(ada, asks_first=False)
    changed = QRELS.replace("1 0 d3 0\n", "").replace("2 0 d4 1", "2 0 d4 3") + "1 0 d12 2\n"
    second = uploads.accept_judgments(collection, upload("v2", changed), "v2", ada)
    work()
    second.refresh_from_db()
    found = second.preview["changes"]
    assert (found["since"], found["num_topics"]) == ("v1", 2)
    assert (found["added"], found["changed"], found["removed"]) == (1, 1, 1)
    assert second.changes.read().decode().splitlines()[1:] == [
        "1,d3,removed,0,",
        "1,d12,added,,2",
        "2,d4,changed,1,3",
    ]


def test_the_difference_is_told_of_the_grades_as_they_are_mapped(ada):
    collection = bring(ada, asks_first=False)
    second = uploads.accept_judgments(collection, upload("v2", QRELS), "v2", ada)
    work()
    answers = ImportChoices(grade_map={"3": 2}, relevant_from=2)
    collections.check_judgments_again(second, ada, answers)
    work()
    second.refresh_from_db()
    assert second.preview["changes"]["transitions"] == [[3, 2, 1]]
    collections.confirm_judgments(second, ada)
    work()
    second.refresh_from_db()
    assert (second.state, second.num_relevant) == ("ready", 2)


def test_new_judgments_in_another_format_are_read_in_it(ada):
    collection = bring(ada, asks_first=False)
    beir = "query-id\tcorpus-id\tscore\n1\td1\t2\n2\td4\t1\n"
    second = uploads.accept_judgments(collection, upload("v2", beir), "v2", ada, asks_first=False)
    work()
    second.refresh_from_db()
    assert (second.state, second.num_judgments) == ("ready", 2)


def test_judgments_that_may_be_of_subtopics_are_asked_about(ada):
    collection = bring(ada, qrels="1 1 d1 1\n1 2 d2 0\n", asks_first=False)
    assert collection.state == "preview"
    (question,) = collection.questions
    assert [each["format"] for each in question["candidates"]] == ["trec", "subtopics"]
    with pytest.raises(ActionError, match="more than one way"):
        collections.confirm_collection(collection, ada)
    collections.confirm_collection(collection, ada, ImportChoices(formats={"judgments": "trec"}))
    work()
    assert Collection.objects.get().state == "ready"


def test_lines_that_cannot_be_read_hide_no_stray_topic(ada):
    collection = bring(ada, qrels=QRELS + "1 0 d9 high\n9 0 d9 1\n")
    assert collection.problem_totals == {"E_REL": 1, "E_UNKNOWN_TOPIC": 1}


GOLDEN = '[{"query": "starter", "expected": ["d1", "d7"]}, {"query": "rye", "expected": {"d3": 2}}]'


def test_a_golden_set_is_topics_and_judgments(ada):
    collection = bring(ada, topics=GOLDEN, qrels=GOLDEN, asks_first=False)
    titles = {topic.number: topic.title for topic in Topic.objects.all()}
    assert titles == {"q1": "starter", "q2": "rye"}
    assert collection.judgment_sets.get().num_judgments == 3


TURNS = "4_1\tis it deep\n4_2\tand wide\n31_1\twhat is a lock\n31_2\twho keeps it\n"
TURN_QRELS = "4_1 0 d1 1\n31_1 0 d2 1\n"


def groups_of(collection: Collection) -> list[str]:
    return list(collection.topics.values_list("group", flat=True))


def test_topics_are_grouped_by_a_column(ada):
    topics = "qid,query,conversation\n7,is it deep,a\n8,and wide,a\n9,who,b c\n"
    collection = bring(ada, topics, qrels="7 0 d1 1\n", asks_first=False)
    assert (collection.state, collection.num_groups) == ("ready", 2)
    assert groups_of(collection) == ["a", "a", "b_c"]


def test_topics_are_grouped_by_a_file(ada):
    collection = bring(ada, groups="1 a\n2 b\n3 a\n", asks_first=False)
    assert (collection.state, collection.num_groups) == ("ready", 2)
    assert groups_of(collection) == ["a", "b", "a"]


def test_a_file_of_groups_names_every_topic(ada):
    collection = bring(ada, groups="1 a\n2 b\n", asks_first=False)
    (problem,) = collection.problems
    assert (collection.state, problem["code"]) == ("refused", "E_GROUP")
    assert problem["message"] == "groups: 1 of 3 topics have no group"


def test_numbers_with_prefixes_are_asked_about(ada):
    collection = bring(ada, TURNS, qrels=TURN_QRELS, asks_first=False)
    (question,) = collection.questions
    assert (collection.state, question["name"], question["count"]) == ("preview", "grouping", 2)
    with pytest.raises(ActionError, match="as a group or each alone"):
        collections.confirm_collection(collection, ada)


@pytest.mark.parametrize(
    ("grouping", "groups"), [("_", ["4", "4", "31", "31"]), ("apart", [""] * 4)]
)
def test_the_answer_groups_the_topics(ada, grouping, groups):
    collection = bring(ada, TURNS, qrels=TURN_QRELS)
    collections.confirm_collection(collection, ada, ImportChoices(grouping=grouping))
    work()
    collection.refresh_from_db()
    assert (collection.state, groups_of(collection)) == ("ready", groups)


def test_renumbered_topics_keep_the_groups_of_their_file(ada):
    collection = bring(ada, TURNS, qrels="1 0 d1 1\n2 0 d1 1\n3 0 d1 0\n4 0 d1 1\n")
    choices = ImportChoices(renumber_topics=True, grouping="_")
    collections.confirm_collection(collection, ada, choices)
    work()
    assert list(collection.topics.values_list("number", "group")) == [
        *(("1", "4"), ("2", "4"), ("3", "31"), ("4", "31"))
    ]
