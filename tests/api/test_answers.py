"""GET /api/v1/runs/{id}/answer"""

from __future__ import annotations

from leaderboard.models import Run
from tests.builders import make_run, make_track, work
from tests.scoring.test_answer_runs import ANSWERS, answer


def test_an_answer_is_read_with_what_it_cites(collection, ben, anybody_api):
    run = make_run(make_track(collection, run_kind="answers"), ben, ANSWERS)
    found = anybody_api.get(f"/api/v1/runs/{run.pk}/answer?topic=2").json()
    said = {"text": "Rye is heavy.", "citations": ["d5", "d4"], "contradicted": []}
    assert found == {"topic": "2", "sentences": [said], "references": None}


def test_there_is_no_answer_to_a_topic_that_was_not_answered(collection, ben, anybody_api):
    run = make_run(make_track(collection, run_kind="answers"), ben, ANSWERS)
    for topic in ("3", "99", "%C3%A9", ""):
        assert anybody_api.get(f"/api/v1/runs/{run.pk}/answer?topic={topic}").status_code == 404


def test_problems_of_answers_have_their_topic_and_sentence(collection, ben, ben_api):
    track = make_track(collection, run_kind="answers")
    run = make_run(track, ben, answer("1", ("Bread rises.", ["d1", 7])))
    [problem] = [
        each
        for each in ben_api.get(f"/api/v1/runs/{run.pk}").json()["problems"]
        if each["severity"] == "error"
    ]
    assert (problem["line"], problem["topic"], problem["sentence"]) == (1, "1", 1)


def test_a_repair_of_answers_may_be_asked_for_at_once(collection, ben_api):
    make_track(collection, run_kind="answers")
    twice = ANSWERS.replace('"topic_id": "2"', '"topic_id": "1"')
    assert ben_api.send_run(twice, fix="keep-first").status_code == 201
    work()
    assert Run.objects.get().state == "scored"
