"""Runs of answers: checked by the rules of a track, and scored by what they cite."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage

from leaderboard.actions import runs as run_actions
from leaderboard.actions import uploads
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.models import Collection, Run, Score, Track, User
from leaderboard.runs.answers import Answers, load_answer
from leaderboard.scoring.measuring import measure_stored_run
from tests.builders import make_run, make_track, upload, work

REAL = Path(os.environ.get("RANKFIELD_DATA", "nowhere")) / "data" / "answers" / "rag24-runs"


def answer(topic: str, *sentences: tuple[str, list[str]], **fields: Any) -> str:
    """A line of the common format: sentences with what they cite."""
    said = [{"text": text, "citations": cited} for text, cited in sentences]
    metadata = {"run_id": "ben-rag", "topic_id": topic}
    return json.dumps({"metadata": metadata, "responses": said, **fields}) + "\n"


RISES = ("Wild yeast makes bread rise.", ["d1", "d9"])
SLOWLY = ("It takes a day.", ["d2", "d1"])
ANSWERS = answer("1", RISES, SLOWLY) + answer("2", ("Rye is heavy.", ["d5", "d4"]))


@pytest.fixture
def track(collection) -> Track:
    return make_track(collection, run_kind="answers")


def test_what_an_answer_cites_is_scored_in_the_order_of_first_citation(track, ben):
    run = make_run(track, ben, ANSWERS)
    assert (run.state, run.tag, run.format) == ("scored", "ben-rag", "common")
    score = Score.objects.get(score_set__run=run, measure="AP")
    assert score.values.tolist() == pytest.approx([(1 + 2 / 3) / 2, 0.5, 0])


def test_a_track_may_score_the_references_instead(collection, ben):
    track = make_track(collection, run_kind="answers", answer_ranking="references")
    run = make_run(track, ben, answer("1", RISES, references=["d2", "d9", "d1"]))
    assert Score.objects.get(score_set__run=run, measure="P@5").values[0] == 0.4


def test_a_run_is_scored_again_from_what_is_stored(track, ben):
    run = make_run(track, ben, ANSWERS)
    track.refresh_from_db()
    again = measure_stored_run(run, track.edition).scores
    assert [s.by_topic for s in again] == [bytes(s.by_topic) for s in Score.objects.order_by("pk")]


def test_answers_are_stored_by_topic(track, ben):
    run = make_run(track, ben, ANSWERS)
    found = load_answer(run, "1")
    assert found.text == "Wild yeast makes bread rise. It takes a day."
    assert [list(sentence.citations) for sentence in found.sentences][1][0].docno == "d2"
    assert load_answer(run, "3") is None


def test_answers_without_a_citation_are_accepted_and_score_nothing(track, ben):
    run = make_run(track, ben, answer("1", ("Nobody knows.", [])))
    assert (run.state, run.num_answered, run.num_retrieved) == ("scored", 1, 0)
    assert Score.objects.get(score_set__run=run, measure="AP").mean == 0


def test_problems_have_a_line_a_topic_and_a_sentence(track, ben):
    run = make_run(track, ben, ANSWERS.replace('"d4"', '"d99"'))
    assert (run.state, run.problem_totals["E_UNKNOWN_DOC"]) == ("refused", 1)
    assert [(p["line"], p["topic"]) for p in run.problems if p["severity"] == "error"] == [(2, "2")]


def test_the_rules_of_a_track_are_a_preset_and_what_differs_from_it(collection, ben):
    track = make_track(collection, run_kind="answers", answer_limit=5, answer_over="cut")
    run = make_run(track, ben, ANSWERS)
    assert load_answer(run, "1").text == "Wild yeast makes bread rise."
    assert {"W_TOO_LONG", "W_REPAIRED"} <= run.problem_totals.keys()


def test_a_repair_is_recorded_with_the_run(track, ben):
    run = make_run(track, ben, ANSWERS.replace('"topic_id": "2"', '"topic_id": "1"'))
    assert run.problem_totals["E_DUP_TOPIC"] == 1
    run_actions.repair_run(run, ben, "keep-first")
    work()
    run.refresh_from_db()
    assert (run.state, run.fixes) == ("scored", ["keep-first"])
    assert "keep the first answer" in str(run.problems)


def test_other_sentences_with_the_same_citations_are_another_run(track, ben):
    make_run(track, ben, ANSWERS)
    other = make_run(track, ben, ANSWERS.replace("heavy", "dark"))
    assert "W_SAME_RUN" not in other.problem_totals


def test_the_same_sentences_are_the_same_run(track, ben):
    first = make_run(track, ben, ANSWERS)
    again = make_run(track, ben, ANSWERS.replace("It takes", " It  takes"))
    assert [p["found"] for p in again.problems if p["code"] == "W_SAME_RUN"] == [first.pk]
    assert "the first 20 sentences" in str(again.problems)


def test_texts_of_documents_in_the_file_are_not_kept(track, ben):
    run = make_run(track, ben, answer("1", RISES, documents={"d1": {"text": "forged"}}))
    assert "W_DOCUMENTS" in run.problem_totals
    assert "forged" not in str(load_answer(run, "1"))


def test_a_run_of_rankings_is_no_run_of_answers(track, ben):
    assert make_run(track, ben, "1 Q0 d1 1 9.0 a\n").problem_totals == {"E_FORMAT": 1}


def test_another_name_in_the_form_than_in_the_file_is_refused(track, ben):
    run = make_run(track, ben, ANSWERS, tag="mine")
    assert run.problem_totals["E_TAG"] == 1
    run_actions.repair_run(run, ben, "tag", "mine")
    work()
    assert Run.objects.get(pk=run.pk).tag == "mine"


def test_an_empty_file_has_one_problem(track, ben):
    assert make_run(track, ben, "\n", tag="mine").problem_totals["E_EMPTY"] == 1
    assert "E_TAG" not in Run.objects.get().problem_totals


def test_an_answer_file_begins_with_its_name(track, ben):
    run = make_run(track, ben, ANSWERS)
    with default_storage.open(run.answer_file.name) as file:
        assert file.read(4) == b"RFA1"
        assert list(Answers(file)) == ["1", "2"]


def rag24(owner: User) -> Track:
    """The topics of RAG 2024 with its rules, without judgments and documents."""
    topics = gzip.decompress((REAL / "topics.tsv.gz").read_bytes()).replace(b"\r\n", b"\n")
    collection = Collection(slug="rag24", name="RAG 2024", owner=owner, asks_first=False)
    uploads.accept_collection(collection, CollectionFiles(upload("topics.tsv", topics)))
    work()
    collection.refresh_from_db()
    return make_track(
        collection, "rag24", judgment_set=None, run_kind="answers", answer_rules="rag24"
    )


@pytest.mark.data
@pytest.mark.parametrize("name", ["gpt-4o", "llama-3.1-70b"])
def test_a_published_run_of_rag24_passes_by_its_rules(ada, ben, name):
    run = make_run(rag24(ada), ben, (REAL / f"{name}.jsonl.gz").read_bytes())
    assert (run.state, run.num_answered, run.problems) == ("valid", 301, [])
    assert load_answer(run, "2024-145979").sentences
