"""Judgments of stratified samples and of subtopics, from the upload to the stored rows."""

from __future__ import annotations

from io import BytesIO

import pytest

from evaluation.reading.judging.intents import read_intents
from evaluation.reading.judging.qrels import read_qrels
from leaderboard.actions import collections, uploads
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.collections.choices import ImportChoices
from leaderboard.collections.stored_judgments import load_qrels, render_intents, render_qrels
from leaderboard.models import Collection, Judgment, JudgmentSet, Stratum, SubtopicGrade
from tests.builders import (
    DOCUMENTS,
    INTENTS,
    QRELS,
    STRATA,
    SUBTOPICS,
    TOPICS,
    make_collection,
    upload,
    work,
)


def bring(ada, qrels: str, intents: str | None = None, **formats: str) -> Collection:
    files = CollectionFiles(
        upload("topics", TOPICS),
        upload("documents", DOCUMENTS),
        upload("qrels", qrels),
        upload("intents.txt", intents) if intents is not None else None,
    )
    collection = Collection(slug="c", name="C", owner=ada, asks_first=False, formats=formats)
    uploads.accept_collection(collection, files)
    work()
    collection.refresh_from_db()
    return collection


def test_a_sample_is_recognised_and_stored_with_its_strata(ada):
    collection = bring(ada, STRATA)
    assert collection.preview["judgments"]["strata"] == {"count": 5, "drawn": 7, "undrawn": 3}
    judgments = collection.judgment_sets.get()
    assert (judgments.num_strata, judgments.num_subtopics, judgments.is_sample) == (5, 0, True)
    assert load_qrels(judgments).strata == read(STRATA, "strata").strata


def read(text: str, format: str):
    return read_qrels(BytesIO(text.encode()), format=format)


def test_subtopics_are_stored_in_the_order_of_their_file(ada):
    judgments = bring(ada, SUBTOPICS).judgment_sets.get()
    stored, sent = load_qrels(judgments), read(SUBTOPICS, "subtopics")
    assert (judgments.num_subtopics, judgments.num_judgments) == (7, 9)
    assert [list(judged) for judged in stored.grades.values()] == [
        list(judged) for judged in sent.grades.values()
    ]
    assert (stored.grades, stored.subtopics) == (sent.grades, sent.subtopics)


def test_probabilities_of_subtopics_are_stored_as_they_are_written(ada):
    judgments = bring(ada, SUBTOPICS, INTENTS).judgment_sets.get()
    intents = read_intents(BytesIO(INTENTS.encode()))
    assert (judgments.num_intents, judgments.intents_filename) == (5, "intents.txt")
    assert load_qrels(judgments).probabilities == intents
    assert read_intents(BytesIO(b"".join(render_intents(judgments)))) == intents


@pytest.mark.parametrize(("text", "format"), [(STRATA, "strata"), (SUBTOPICS, "subtopics")])
def test_what_is_downloaded_reads_as_what_was_sent(ada, text, format):
    judgments = bring(ada, text).judgment_sets.get()
    again = read_qrels(BytesIO(b"".join(render_qrels(judgments))), format=format)
    sent = read(text, format)
    assert (again.grades, again.strata, again.subtopics) == (
        sent.grades,
        sent.strata,
        sent.subtopics,
    )
    assert [[*docnos] for docnos in again.grades.values()] == [
        [*docnos] for docnos in sent.grades.values()
    ]


def test_ordinary_judgments_have_neither(ada):
    collection = bring(ada, QRELS)
    judgments = collection.judgment_sets.get()
    assert not collection.preview["judgments"].keys() & {"strata", "subtopics", "intents"}
    assert (judgments.num_strata, judgments.num_subtopics, judgments.is_sample) == (0, 0, False)
    assert not Stratum.objects.exists() and not SubtopicGrade.objects.exists()
    assert b"".join(render_qrels(judgments)).decode() == QRELS


@pytest.mark.parametrize(
    ("intents", "problem"),
    [
        ("1 1 half\n", ("E_PROBABILITY", 1)),
        ("1 1 .5\n1 1 .5\n", ("E_DUP_INTENT", 2)),
        ("1 1 .5\n", ("E_INTENT", None)),
        ("1 .5\n", ("E_COLUMNS", 1)),
    ],
)
def test_faulty_probabilities_refuse_the_judgments_with_their_line(ada, intents, problem):
    collection = bring(ada, SUBTOPICS, intents)
    assert collection.state == "refused"
    first = collection.problems[0]
    assert (first["code"], first["line"]) == problem
    assert first["message"].startswith("probabilities: ")


def test_probabilities_beside_ordinary_judgments_are_ignored_with_a_warning(ada):
    collection = bring(ada, QRELS, INTENTS)
    assert (collection.state, collection.problem_totals) == ("ready", {"W_INTENT": 1})
    assert collection.judgment_sets.get().num_intents == 0


def test_corrected_probabilities_replace_the_faulty_ones(ada):
    collection = bring(ada, SUBTOPICS, "1 1 half\n")
    files = collections.Replacements(intents=upload("better.txt", INTENTS))
    collections.replace_files(collection, ada, files)
    work()
    collections.confirm_collection(Collection.objects.get(), ada)
    work()
    assert collection.judgment_sets.get().num_intents == 5


def test_a_second_version_brings_its_subtopics_and_probabilities(ada):
    collection = make_collection(ada)
    second = uploads.accept_judgments(
        collection,
        upload("v2", SUBTOPICS),
        "v2",
        ada,
        asks_first=False,
        intents=upload("intents.txt", INTENTS),
    )
    work()
    second.refresh_from_db()
    assert (second.state, second.num_subtopics, second.num_intents) == ("ready", 7, 5)


def test_mapped_grades_of_subtopics_decide_the_grade_of_a_document(ada):
    collection = bring(ada, SUBTOPICS, judgments="subtopics")
    second = uploads.accept_judgments(collection, upload("v2", SUBTOPICS), "v2", ada)
    work()
    second.refresh_from_db()
    collections.confirm_judgments(second, ada, ImportChoices(grade_map={"2": 0, "3": 1}))
    work()
    graded = SubtopicGrade.objects.filter(judgment__judgment_set=second, judgment__docno="d1")
    assert dict(graded.values_list("subtopic", "grade")) == {"1": 0, "2": 1}
    assert Judgment.objects.get(judgment_set=second, docno="d1").grade == 1


def test_no_map_of_grades_draws_a_document_of_a_sample(ada):
    collection = make_collection(ada)
    second = uploads.accept_judgments(collection, upload("v2", STRATA), "v2", ada)
    work()
    second.refresh_from_db()
    collections.confirm_judgments(second, ada, ImportChoices(grade_map={"-1": 0, "2": 1}))
    work()
    second = JudgmentSet.objects.get(pk=second.pk)
    assert (second.grade_map, second.grade_counts["-1"]) == ({"0": 0, "1": 1, "2": 1}, 3)
