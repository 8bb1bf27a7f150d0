"""GET /api/v1/tracks/{slug}/leaderboard"""

from __future__ import annotations

import csv
import io

from pytest import approx

from leaderboard.actions import tracks, uploads
from leaderboard.models import Track
from tests.builders import QRELS, make_run, upload, work

PATH = "/api/v1/tracks/bread/leaderboard"
COLUMNS = [
    "rank",
    "rank_low",
    "rank_high",
    "run",
    "tag",
    "team",
    "late",
    "scores",
    "estimates",
    "facts",
    "judged_at_10",
    "received_at",
    "p_holm",
    "p_adjusted",
    "verdict",
    "unit",
    "difference",
    "low",
    "high",
    "p",
    "effect_size",
    "changed",
    "wins",
    "losses",
    "ties",
]


def with_baseline(track: Track, run) -> None:
    Track.objects.filter(pk=track.pk).update(baseline=run)
    work()


def test_a_board_ranks_the_runs(bens_run, adas_run, anybody_api, track):
    board = anybody_api.get(PATH).json()
    assert (board["measure"], board["judgments"], board["test"]) == ("AP", "v1", "all_pairs")
    assert board["edition"] == str(Track.objects.get().edition_id)
    assert sorted(board["tested"]) == sorted([bens_run.pk, adas_run.pk])
    assert [(each["rank"], each["run"]) for each in board["standings"]] == [
        (1, bens_run.pk),
        (2, adas_run.pk),
    ]
    assert sorted(board["standings"][0]) == sorted(COLUMNS)


def test_a_board_without_a_baseline_compares_nothing(bens_run, adas_run, anybody_api):
    board = anybody_api.get(PATH).json()
    assert board["baseline"] is None
    first = board["standings"][0]
    assert [first[name] for name in ("difference", "p", "p_holm", "wins")] == [None] * 4


def test_each_run_is_compared_with_the_baseline(track, bens_run, adas_run, anybody_api):
    """AP differs by 7/12, -1/2 and 5/12."""
    with_baseline(track, adas_run)
    board = anybody_api.get(PATH).json()
    first, second = board["standings"]
    assert board["baseline"] == adas_run.pk
    assert first["difference"] == approx(1 / 6)
    assert (first["wins"], first["losses"], first["ties"]) == (2, 1, 0)
    assert 1 / 4 <= first["p"] == first["p_adjusted"] and first["p_holm"] is None
    assert (board["family"], board["test"]) == ("baseline", "max_t")
    assert second["difference"] is None


def test_a_test_with_holm_says_so(track, bens_run, adas_run, anybody_api):
    """Of the 8 sign flips 6 are as far from 0."""
    Track.objects.update(test="sign_flip")
    with_baseline(track, adas_run)
    first = anybody_api.get(PATH).json()["standings"][0]
    assert first["p"] == first["p_holm"] == first["p_adjusted"] == approx(6 / 8)


def test_a_reader_may_ask_about_all_pairs(track, bens_run, adas_run, anybody_api):
    with_baseline(track, adas_run)
    board = anybody_api.get(f"{PATH}?family=all").json()
    assert (board["family"], board["test"]) == ("all", "all_pairs")
    assert anybody_api.get(f"{PATH}?family=some").status_code == 422


def test_a_reader_may_choose_measure_and_baseline(bens_run, adas_run, anybody_api):
    board = anybody_api.get(f"{PATH}?measure=ndcg_cut_10&baseline={bens_run.pk}").json()
    assert (board["measure"], board["baseline"]) == ("nDCG@10", bens_run.pk)


def test_what_is_not_on_the_board_is_a_wrong_field(bens_run, anybody_api):
    for parameter in ("measure=RR", "baseline=nothing", "baseline=%00", "format=xlsx"):
        answer = anybody_api.get(f"{PATH}?{parameter}")
        assert answer.status_code == 422
        assert answer.json()["message"].startswith(parameter.split("=")[0])


def test_a_board_without_runs_is_empty(track, anybody_api):
    assert anybody_api.get(PATH).json()["standings"] == []


def test_a_late_run_is_marked_and_one_of_the_organisers_never(bens_run, adas_run, anybody_api):
    Track.objects.update(closes_at=bens_run.received_at)
    standings = anybody_api.get(PATH).json()["standings"]
    assert {each["run"]: each["late"] for each in standings} == {
        bens_run.pk: True,
        adas_run.pk: False,
    }


def test_a_blind_board_is_for_organisers(blind_track, ben, ben_api, ada_api):
    make_run(blind_track, ben)
    path = "/api/v1/tracks/blind/leaderboard"
    assert (ben_api.get(path).status_code, ben_api.get(path).json()["code"]) == (404, "E_NOT_FOUND")
    assert ben_api.get(f"{path}?format=csv").status_code == 404
    assert len(ada_api.get(path).json()["standings"]) == 1


def test_a_board_comes_as_csv_with_every_digit(bens_run, adas_run, anybody_api):
    answer = anybody_api.get(f"{PATH}?format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="bread-leaderboard.csv"'
    assert [row["run"] for row in rows] == [bens_run.pk, adas_run.pk]
    scores = anybody_api.get(PATH).json()["standings"][0]["scores"]
    assert float(rows[0]["AP"]) == scores["AP"]


def test_a_board_comes_in_the_other_formats(bens_run, anybody_api):
    starts = {"tsv": "rank\trun", "md": "| Rank | Run |", "tex": "% \\usepackage{booktabs}"}
    for format, start in starts.items():
        answer = anybody_api.get(f"{PATH}?format={format}")
        assert answer.content.decode().startswith(start)


def test_the_board_of_earlier_judgments_is_asked_for_by_their_version(track, ada, ben, ben_api):
    make_run(track, ben)
    text = QRELS.replace("2 0 d5 0", "2 0 d5 2")
    uploads.accept_judgments(track.collection, upload("v2", text), "v2", ada, asks_first=False)
    work()
    v2 = track.collection.judgment_sets.get(version="v2")
    tracks.change_track(Track.objects.get(), ada, {"judgment_set": v2})
    work()
    now, then = (ben_api.get(f"{PATH}{asked}").json() for asked in ("", "?judgments=v1"))
    assert (now["judgments"], then["judgments"]) == ("v2", "v1")
    assert now["standings"][0]["scores"]["AP"] > then["standings"][0]["scores"]["AP"]
    assert ben_api.get(f"{PATH}?judgments=v9").status_code == 404


def test_an_earlier_board_ranks_by_the_measures_it_was_made_with(track, ada, ben, ben_api):
    make_run(track, ben)
    uploads.accept_judgments(track.collection, upload("v2", QRELS), "v2", ada, asks_first=False)
    work()
    v2 = track.collection.judgment_sets.get(version="v2")
    measures = {"measures": ["AP", "RR"], "primary_measure": "RR"}
    tracks.change_track(Track.objects.get(), ada, {"judgment_set": v2})
    work()
    tracks.change_track(Track.objects.get(), ada, measures)
    work()
    then = ben_api.get(f"{PATH}?judgments=v1").json()
    assert (then["measure"], list(then["standings"][0]["scores"])) == ("AP", ["AP"])
    asked = ben_api.get(f"{PATH}?judgments=v1&measure=RR")
    assert (asked.status_code, asked.json()["message"]) == (422, "measure: is one of AP")
    assert ben_api.get(f"{PATH}?measure=RR").json()["measure"] == "RR"
