"""Judgments that arrive in parts: added to a version, or a version of their own."""

from __future__ import annotations

import pytest

from leaderboard.models import Collection, JudgmentSet
from tests.benchmark_scene import make_rolls
from tests.builders import make_collection, make_user, signed_in, upload, work

FIRST = "1 0 d1 2\n1 0 d2 1\n1 0 d3 0\n2 0 d4 1\n2 0 d5 0\n"
SECOND = "3 0 d6 2\n3 0 d7 0\n1 0 d2 2\n1 0 d9 1\n"
TOPIC_3 = "3 0 d6 2\n3 0 d7 0\n"


@pytest.fixture
def bread(db) -> Collection:
    return make_collection(make_user("ada", can_organise=True), "bread", qrels=FIRST)


def send(bread: Collection, text: str, **fields: str) -> JudgmentSet:
    """Ada uploads a further file of judgments on the page of her collection."""
    sent = {"version": "v2", "file": upload("more.qrels", text), **fields}
    answer = signed_in(bread.owner).post("/collections/bread/judgments/", sent)
    assert answer.status_code == 302, answer.content.decode()
    work()
    return bread.judgment_sets.get(version="v2")


def answer(bread: Collection, **fields: str) -> JudgmentSet:
    signed_in(bread.owner).post("/collections/bread/judgments/v2/confirm/", fields)
    work()
    return bread.judgment_sets.get(version="v2")


def grades(judged: JudgmentSet) -> dict[str, int]:
    rows = judged.judgments.values_list("topic__number", "docno", "grade")
    return {f"{topic} {docno}": grade for topic, docno, grade in rows}


def test_a_file_that_lacks_judged_topics_asks_whether_it_is_a_part(bread):
    waiting = send(bread, TOPIC_3)
    assert waiting.state == "preview"
    page = signed_in(bread.owner).get("/collections/bread/").content.decode()
    assert "The file lacks 2 topics of 2 that v1 judged." in page
    assert answer(bread).state == "preview"


def test_a_part_is_joined_with_the_version_before(bread):
    send(bread, TOPIC_3)
    joined = answer(bread, joining="join")
    assert joined.state == "ready"
    assert joined.num_judgments == 7 and joined.num_topics == 3
    assert joined.joined_to == bread.judgment_sets.get(version="v1")


def test_a_file_can_be_the_whole_version_although_topics_are_missing(bread):
    send(bread, TOPIC_3)
    assert grades(answer(bread, joining="replace")) == {"3 d6": 2, "3 d7": 0}


def test_a_file_of_all_topics_asks_nothing(bread):
    assert not send(bread, FIRST + TOPIC_3).questions


@pytest.mark.parametrize(("rule", "counts"), [("newer", 2), ("older", 1), ("higher", 2)])
def test_whose_grade_counts_is_asked_where_a_document_has_two(bread, rule, counts):
    waiting = send(bread, SECOND, joining="join")
    page = signed_in(bread.owner).get("/collections/bread/").content.decode()
    assert waiting.state == "preview" and "<bdi>d2</bdi>" in page
    joined = answer(bread, conflict_rule=rule)
    assert grades(joined)["1 d2"] == counts
    assert joined.num_judgments == 8


def test_a_rule_that_is_given_with_the_file_is_not_asked_again(bread):
    waiting = send(bread, SECOND, joining="join", conflict_rule="older")
    assert not waiting.questions
    assert grades(answer(bread))["1 d2"] == 1


def test_the_preview_counts_before_and_after(bread):
    send(bread, SECOND, joining="join", conflict_rule="older")
    page = signed_in(bread.owner).get("/collections/bread/").content.decode()
    assert "Joined with the 5 judgments of v1 it makes 8; 1 document has two grades." in page
    assert "3 judgments added, 0 changed and 0 removed, in 2 topics." in page


def test_scales_that_differ_are_mapped_before_they_are_joined(bread):
    waiting = send(bread, "3 0 d6 4\n3 0 d7 1\n", joining="join")
    page = signed_in(bread.owner).get("/collections/bread/").content.decode()
    assert "The highest grade of v1 is 2, that of this file is 4." in page
    assert answer(bread).state == waiting.state == "preview"
    joined = answer(bread, grade_4="2", grade_1="1")
    assert grades(joined)["3 d6"] == 2


def test_a_sample_is_not_joined(bread):
    refused = send(bread, "3 0 d6 1 2\n3 0 d7 1 -1\n", joining="join")
    assert refused.state == "refused"
    assert [each["code"] for each in refused.problems] == ["E_JOINING"]


def test_a_file_that_counts_some_topics_by_their_order_is_asked_about(db):
    ada = make_user("ada", can_organise=True)
    rolls = make_rolls(ada)
    sent = {"version": "v2", "file": upload("more.qrels", TOPIC_3), "joining": "join"}
    signed_in(ada).post("/collections/rolls/judgments/", sent)
    work()
    page = signed_in(ada).get("/collections/rolls/").content.decode()
    assert "1 judged topic is not in the collection; the file counts up to 3." in page
    signed_in(ada).post("/collections/rolls/judgments/v2/confirm/", {"renumber_topics": "yes"})
    work()
    judged = rolls.judgment_sets.get(version="v2")
    assert [each["name"] for each in judged.questions] == ["grade_map", "conflict_rule"]
    same = {"conflict_rule": "newer", "grade_2": "2", "grade_0": "0"}
    signed_in(ada).post("/collections/rolls/judgments/v2/confirm/", same)
    work()
    assert grades(rolls.judgment_sets.get(version="v2"))["13 d6"] == 2


def test_numbers_that_do_not_mean_the_order_import_nothing(db):
    ada = make_user("ada", can_organise=True)
    rolls = make_rolls(ada)
    sent = {"version": "v2", "file": upload("more.qrels", TOPIC_3), "joining": "join"}
    signed_in(ada).post("/collections/rolls/judgments/", sent)
    work()
    signed_in(ada).post("/collections/rolls/judgments/v2/confirm/", {"renumber_topics": "no"})
    work()
    assert rolls.judgment_sets.get(version="v2").state == "preview"
