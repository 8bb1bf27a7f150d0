"""Judges that mark answers: nuggets and support, compared with the hidden marks of people."""

from __future__ import annotations

import json

import pytest

from evaluation.answers.runs import sentence_key
from leaderboard.actions import tracks
from leaderboard.actions.track_settings import check
from leaderboard.actions.tracks import change_track
from leaderboard.analysis.entrant_boards import find_entrant_boards
from leaderboard.analysis.entrants import find_or_request_judges
from leaderboard.boards.disclosure import sight_of
from leaderboard.models import Score, Track, User
from leaderboard.runs.packing import pack_run
from leaderboard.scoring.judge_runs import load_judge
from leaderboard.scoring.mark_runs import read_pairs
from tests.archives.test_archives import command
from tests.benchmark_scene import join_tracks
from tests.builders import make_collection, make_run, make_track, make_user, work
from tests.pages.reading import page_at, rows, words
from tests.scoring.test_answer_runs import ANSWERS, RISES
from tests.scoring.test_marks import ASSIGNMENTS, SUPPORT, make_layer, make_nuggets, use

PAGE = "/benchmarks/rag/tracks/nuggets/judges/"
BOARDS = "/benchmarks/rag/tracks/nuggets/judges/boards/"
OTHER_ANSWERS = ANSWERS.replace("ben-rag", "dan-rag").replace("a day", "two days")
PEOPLE = ASSIGNMENTS + ASSIGNMENTS.replace("ben-rag", "dan-rag").replace("1 1 support", "1 1 no")
# One mark of eight differs, and one is left out.
SLIPS = PEOPLE.replace("ben-rag 1 1 support", "ben-rag 1 1 no").replace("dan-rag 2 1 support\n", "")


def make_scene(ada: User, ben: User, cat: User) -> None:
    """Answers of two runs with marks of people, and judges of nuggets and of support."""
    collection = make_collection(ada)
    answers = make_track(collection, "answers", run_kind="answers")
    make_run(answers, ben, ANSWERS)
    make_run(answers, make_user("dan"), OTHER_ANSWERS)
    make_nuggets(answers)
    make_layer(answers, PEOPLE)
    make_layer(answers, SUPPORT, version="cited", about="support")
    use(answers, ["strict_vital", "all", "SupportP"], assignments="people", support="cited")
    judges = make_track(collection, "nuggets", run_kind="nugget_marks")
    support = make_track(collection, "support", run_kind="support_marks")
    join_tracks([answers, judges, support], slug="rag", name="RAG")
    change_track(Track.objects.get(slug="nuggets"), ada, {"assignments": "people"})
    change_track(Track.objects.get(slug="support"), ada, {"support": "cited"})
    work()
    judged, dan = Track.objects.get(slug="nuggets"), User.objects.get(username="dan")
    make_run(judged, ben, PEOPLE, tag="exact")
    make_run(judged, dan, SLIPS, tag="slips")


@pytest.fixture
def track(scene: None) -> Track:
    return Track.objects.get(slug="nuggets")


def test_packed_marks_of_a_judge_are_read_as_they_were(track):
    judge = track.runs.get(tag="exact")
    before = read_pairs(judge).grades
    pack_run(judge)
    judge.refresh_from_db()
    assert judge.file.name.endswith(".packed") and read_pairs(judge).grades == before


def test_a_file_of_marks_is_a_run(track):
    assert {run.state for run in track.runs.all()} == {"scored"}
    exact = load_judge(track.runs.get(tag="exact")).grades
    # Both runs say the same on topic 2, so it is one pair.
    assert sorted(exact[b"1"].values()) == [1, 1, 1, 2, 2, 3] and list(exact[b"2"].values()) == [3]
    assert Score.objects.get(score_set__run__tag="exact", measure="nDCG@10").mean == 1


def test_judges_are_compared_with_the_marks_of_people(track, ada):
    find_or_request_judges(sight_of(track, ada))
    work()
    exact, slips = find_or_request_judges(sight_of(track, ada)).rows
    assert (exact.run.tag, exact.documents, exact.error) == ("exact", 7, 0)
    assert exact.value.value == pytest.approx(1) and slips.value.value < 0.9
    assert slips.error == pytest.approx(2 / 7)


def test_the_page_names_the_marks(track, client):
    page_at(client, PAGE)
    work()
    page = page_at(client, PAGE)
    assert "exact agrees best with people" in words(page) and "Too few pairs" in words(page)
    assert [row.split()[0] for row in rows(page, 1)] == ["full", "partial", "none"]


def test_each_judge_would_make_a_board_of_the_answers(track, client, ada):
    page_at(client, f"{BOARDS}?measure=all")
    work()
    page = page_at(client, f"{BOARDS}?measure=all")
    assert "exact orders the runs most like people: τ 1.000" in words(page)
    exact, slips = find_entrant_boards(sight_of(track, ada), measure="all").rows
    assert (exact.board.systems, exact.board.error) == (2, 0) and slips.board.error > 0
    assert find_entrant_boards(sight_of(track, ada)).by_judge.measures == ["strict_vital", "all"]


def test_the_board_by_an_exact_judge_is_the_board(track, ada):
    find_entrant_boards(sight_of(track, ada), measure="strict_vital")
    work()
    (exact, _) = find_entrant_boards(sight_of(track, ada), measure="strict_vital").rows
    scores = Score.objects.filter(measure="strict_vital", score_set__edition__left_at=None)
    shown = {score.score_set.run_id: score.mean for score in scores}
    assert {move.run.pk: move.after.mean for move in exact.shift.moves} == pytest.approx(shown)


def test_support_is_marked_by_place_or_by_the_key_of_a_sentence(track, ben, ada):
    support = Track.objects.get(slug="support")
    mark = {"topic": "1", "sentence": sentence_key(RISES[0]).hex(), "about": "support"}
    lines = [
        json.dumps(mark | {"docno": "d1", "label": "full", "confidence": 0.9}),
        json.dumps(mark | {"docno": "d9", "label": "contradicts", "confidence": 0.6}),
    ]
    sure = make_run(support, ben, "\n".join(lines), tag="sure")
    placed = make_run(support, make_user("eve"), SUPPORT, tag="placed")
    assert (sure.state, sure.format, placed.state) == ("scored", "confidence", "scored")
    find_or_request_judges(sight_of(support, ada))
    work()
    found = {row.run.tag: row for row in find_or_request_judges(sight_of(support, ada)).rows}
    assert (found["placed"].documents, found["placed"].error) == (5, 0)
    assert (found["sure"].abstained, found["sure"].bias) == (3, -0.5)
    assert found["sure"].calibration.documents == 2


def test_marks_of_no_answer_are_told(track, ben):
    unknown = make_run(track, ben, "oak 1 1 support\n")
    assert (unknown.state, unknown.problem_totals["E_RUN"]) == ("refused", 1)
    some = make_run(track, ben, PEOPLE.replace("ben-rag 1 3", "ben-rag 1 9"), tag="some")
    assert (some.state, some.problem_totals["W_PAIR"]) == ("scored", 1)
    assert make_run(track, ben, "1 0 d1 2\n").state == "refused"


def test_judges_wait_until_the_marks_of_people_are_chosen(track, ben):
    Track.objects.filter(pk=track.pk).update(assignments="")
    late = PEOPLE.replace("partial_support", "support")
    run = make_run(Track.objects.get(pk=track.pk), ben, late, tag="early")
    assert (run.state, run.problem_totals) == ("refused", {"E_MARKS": 1})


def test_marks_of_another_benchmark_cannot_be_chosen(track):
    apart = make_track(track.collection, "apart", run_kind="nugget_marks")
    assert [each.field for each in check(apart, {"assignments": "people"})] == ["assignments"]
    assert check(track, {"assignments": "people"}) == []


@pytest.mark.parametrize("disclosure", ["blind", "leaderboard"])
def test_judges_do_not_see_the_marks_while_scores_are_hidden(track, as_ben, as_ada, disclosure):
    Track.objects.filter(pk=track.pk).update(disclosure=disclosure)
    for address in (PAGE, BOARDS, "/api/v1/tracks/nuggets/judges"):
        assert as_ben.get(address).status_code == 404
        assert as_ada.get(address).status_code == 200


def test_the_layer_is_chosen_on_the_settings(track, as_ada):
    page = page_at(as_ada, "/benchmarks/rag/tracks/nuggets/manage/section/marks/")
    assert "people, people" in page and "cited, people" not in page
    assert "Judges are compared with these marks of people" in words(page)


def test_answers_without_judgments_of_documents_have_judges_too(ada, ben):
    collection = make_collection(ada, "plain", qrels=None)
    answers = make_track(collection, "plain-answers", run_kind="answers")
    make_run(answers, ben, ANSWERS)
    make_nuggets(answers)
    tracks.use_layer(answers, ada, make_layer(answers))
    judges = make_track(collection, "plain-judges", run_kind="nugget_marks")
    join_tracks([answers, judges], slug="plain", name="Plain")
    change_track(Track.objects.get(slug="plain-judges"), ada, {"assignments": "people"})
    work()
    run = make_run(Track.objects.get(slug="plain-judges"), ben, ASSIGNMENTS)
    assert run.state == "scored" and Score.objects.get(score_set__run=run, measure="AP").mean == 1


def test_judges_come_out_of_an_archive_with_the_answers(track, tmp_path):
    command("export_benchmark", "rag", tmp_path / "rag.zip")
    names = ("--benchmark", "away", "--prefix", "away-")
    said = command("import_benchmark", tmp_path / "rag.zip", *names)
    assert "All scores match the archive exactly." in said
    away = Track.objects.get(slug="away-nuggets")
    assert (away.assignments, away.runs.count(), away.position) == ("people", 2, 1)
