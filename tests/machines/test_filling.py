"""Holes of people's judgments are filled with a machine's grades in a third version."""

from __future__ import annotations

import pytest

from leaderboard.actions import machine_judgments
from leaderboard.actions.refusals import ActionError
from leaderboard.jobs.erasure import erase_collection
from leaderboard.models import Collection, JudgmentSet, MachineCard
from tests.builders import STRATA, upload, work
from tests.machines.answers import import_answers
from tests.pages.reading import words

PAGE = "/collections/bread/fill-unjudged/"
BOTH = {"people": "v1", "machine": "machine"}


@pytest.fixture
def machine(collection):
    return import_answers(collection)


@pytest.fixture
def filled(machine, ada, collection):
    people = collection.judgment_sets.get(version="v1")
    machine_judgments.fill_unjudged(people, machine, ada, "both")
    work()
    return JudgmentSet.objects.get(version="both")


def grades(judgment_set, topic="1"):
    rows = judgment_set.judgments.filter(topic__number=topic)
    return dict(rows.values_list("docno", "grade"))


def test_people_keep_their_grades_and_the_machine_adds_its_own(filled):
    people = filled.people_version
    assert filled.state == "ready" and filled.made_by == "both"
    assert grades(filled) == {**grades(people), "d9": 1}
    assert (people.num_graded, filled.num_by_machine) == (8, 1)


def test_both_versions_stay_as_they_were(filled):
    assert JudgmentSet.objects.get(version="v1").num_judgments == 8
    assert JudgmentSet.objects.get(version="machine").num_judgments == 4


def test_the_form_shows_the_numbers_before_anything_is_made(as_ada, machine):
    page = words(as_ada.get(PAGE, BOTH).content.decode())
    assert "The new version has 8 grades of people and 1 of the machine, 9 in total." in page
    assert "Fill 1 document" in page
    assert not JudgmentSet.objects.filter(made_by="both").exists()


def test_the_button_makes_the_third_version(as_ada, machine):
    as_ada.post(PAGE, {**BOTH, "version": "both"})
    work()
    page = words(as_ada.get("/collections/bread/").content.decode())
    assert "by people v1 8, by machine machine 1" in page


def test_a_document_that_people_pooled_and_did_not_judge_is_a_hole(ada, collection):
    text = upload("q", "1 0 d1 1\n1 0 d9 -1\n1 0 d12 -1\n2 0 d4 1\n")
    machine_judgments.accept_judgments(collection, text, "v2", ada, asks_first=False)
    work()
    people = JudgmentSet.objects.get(version="v2")
    machine_judgments.fill_unjudged(people, import_answers(collection), ada, "both")
    work()
    assert grades(JudgmentSet.objects.get(version="both")) == {
        **{"d1": 1, "d2": 1, "d9": 1},
        "d12": -1,
    }


def test_a_sample_is_not_filled(ada, collection, machine):
    machine_judgments.accept_judgments(
        collection, upload("q", STRATA), "sampled", ada, asks_first=False
    )
    work()
    sample = JudgmentSet.objects.get(version="sampled")
    with pytest.raises(ActionError, match="strata"):
        machine_judgments.fill_unjudged(sample, machine, ada, "both")


def test_a_machine_does_not_fill_a_machine(ada, machine):
    with pytest.raises(ActionError, match="not by people"):
        machine_judgments.fill_unjudged(machine, machine, ada, "both")


def test_only_organisers_fill_holes(as_ben, machine):
    assert as_ben.get(PAGE, BOTH).status_code == 404
    assert as_ben.post(PAGE, BOTH).status_code == 404


def test_a_collection_is_deleted_with_all_three(filled):
    erase_collection(filled.collection)
    assert not Collection.objects.exists() and not MachineCard.objects.exists()
