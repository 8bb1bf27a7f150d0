"""Organisers import the answers of a machine as a version of its own, with a card."""

from __future__ import annotations

import pytest
from pytest import approx

from leaderboard.models import JudgmentSet, MachineCard
from tests.builders import signed_in, upload, work
from tests.machines.answers import CARD, LINES, import_answers
from tests.pages.reading import words

IMPORT = "/collections/bread/machine/"
CARD_PAGE = "/collections/bread/judgments/gpt/machine/"


def post(client, text=LINES, **more):
    sent = {**CARD, "version": "gpt", "file": upload("answers.jsonl", text), **more}
    return client.post(IMPORT, sent, follow=True)


def test_answers_wait_as_a_version_to_confirm(as_ada, collection):
    page = words(post(as_ada).content.decode())
    assert "4 of 5 documents have a grade; 1 failed and stays unjudged." in page
    work()
    made = JudgmentSet.objects.get(version="gpt")
    assert (made.state, made.made_by, made.num_judgments) == ("preview", "machine", 0)
    assert made.machine_card.name in words(as_ada.get("/collections/bread/").content.decode())


def test_confirmed_they_are_a_version_without_what_failed(as_ada, collection):
    post(as_ada)
    work()
    as_ada.post("/collections/bread/judgments/gpt/confirm/")
    work()
    made = JudgmentSet.objects.get(version="gpt")
    grades = dict(made.judgments.filter(topic__number="1").values_list("docno", "grade"))
    assert (made.state, grades) == ("ready", {"d1": 2, "d2": 1, "d9": 1})


def test_the_card_keeps_what_the_file_shows(collection):
    card = import_answers(collection).machine_card
    assert (card.num_asked, card.num_failed, card.repeats, card.num_repeated) == (5, 1, 2, 1)
    assert card.self_agreement == approx(1)
    assert card.self_kappa is None


def test_the_page_of_a_card_shows_its_prompt_and_hash(as_ada, collection):
    post(as_ada, cost="31 USD", judged_on="2026-11-02", parsing="The last digit")
    page = words(as_ada.get(CARD_PAGE).content.decode())
    card = MachineCard.objects.get()
    assert CARD["prompt"] in page and card.prompt_hash in page
    assert "4 of 5 documents" in page and "1 failed and stays unjudged" in page
    assert "31 USD" in page and "2 Nov 2026" in page and "The last digit" in page


def test_a_wrong_line_keeps_all_answers_out(as_ada, collection):
    answer = post(as_ada, '{"id": "1 d1", "grade": 1}\n{"id": "77 d1", "grade": 1}\n{"id": 1}\n')
    page = answer.content.decode()
    assert answer.status_code == 422 and not MachineCard.objects.exists()
    assert "E_UNKNOWN_TOPIC" in page and "E_FIELD" in page


def test_a_grade_above_the_scale_is_a_failed_answer(as_ada, collection):
    page = post(as_ada, "1 0 d1 2\n1 0 d2 5\n", highest_grade=3).content.decode()
    assert "1 of 2 documents have a grade; 1 failed and stays unjudged." in words(page)


def test_without_a_single_grade_nothing_is_imported(as_ada, collection):
    answer = post(as_ada, "1 0 d1 NA\n")
    assert answer.status_code == 422
    assert "No answer has a grade." in answer.content.decode()


def test_a_version_that_exists_is_not_replaced(as_ada, collection):
    answer = post(as_ada, version="v1")
    assert answer.status_code == 422 and not MachineCard.objects.exists()


def test_a_rejected_file_is_replaced_by_answers_and_counted_again(as_ada, collection):
    post(as_ada)
    work()
    again = upload("answers.jsonl", LINES + '{"id": "3 d6", "grade": 1}\n')
    as_ada.post("/collections/bread/judgments/gpt/again/", {"judgments": again})
    work()
    assert MachineCard.objects.get().num_asked == 6
    assert JudgmentSet.objects.get(version="gpt").state == "preview"


def test_a_discarded_version_takes_its_card_along(as_ada, collection):
    post(as_ada)
    work()
    as_ada.post("/collections/bread/judgments/gpt/discard/")
    assert not MachineCard.objects.exists()


def test_readers_of_a_board_read_who_judged_it(as_ada, as_ben, track):
    made = import_answers(track.collection)
    assert as_ben.get("/collections/bread/judgments/machine/machine/").status_code == 404
    track.judgment_set = made
    track.save()
    as_ada.post("/benchmarks/bread/judgments/machine/try/")
    work()
    as_ada.post("/benchmarks/bread/judgments/machine/switch/")
    work()
    page = words(as_ben.get("/benchmarks/bread/judgments/").content.decode())
    assert "Judged by a machine" in page and "umbrela" in page


@pytest.mark.parametrize("name", ["ben", "cat"])
def test_only_organisers_import(name, collection, ben, cat):
    client = signed_in({"ben": ben, "cat": cat}[name])
    assert post(client).status_code == 404
    assert not MachineCard.objects.exists()
