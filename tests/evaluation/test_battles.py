"""Battles: strengths, errors by topic, ranks, effects, voters of one side, files and command."""

from io import BytesIO
from itertools import cycle

import numpy as np
import pytest
from pytest import approx

from evaluation.__main__ import main
from evaluation.battles import (
    Vote,
    count_games,
    find_side_voters,
    fit_strengths,
    make_board,
)
from evaluation.battles.boards import decide_about
from evaluation.problems import Refused
from evaluation.reading.judging.votes import read_votes, write_votes

WON = [("A", "B", 2), ("B", "A", 3), ("A", "D", 1), ("D", "A", 4)]
WON += [("B", "C", 5), ("C", "B", 3), ("C", "D", 1), ("D", "C", 3)]
TIED = [("A", "B", 2), ("A", "D", 1), ("B", "C", 2), ("C", "D", 3)]


def played(won, tied=(), topics=6):
    """Votes on topics that are dealt in turn."""
    numbers = cycle(str(number) for number in range(1, topics + 1))
    listed = [(pair, "left") for *pair, times in won for _ in range(times)]
    listed += [(pair, "tie") for *pair, times in tied for _ in range(times)]
    return [Vote(next(numbers), *pair, choice) for pair, choice in listed]


def test_strengths_have_the_worked_values():
    found = fit_strengths(count_games(played(WON)))
    assert found.strengths == approx([0.639835, 1.043314, 0.659810, 2.270377], abs=1e-6)
    assert found.tie == 0 and not found.has_half_games


def test_ties_have_a_weight_of_their_own():
    found = fit_strengths(count_games(played(WON, TIED)))
    assert found.strengths == approx([0.599404, 1.105174, 0.726049, 2.079140], abs=1e-6)
    assert found.tie == approx(0.791323, abs=1e-6)


def test_errors_are_clustered_by_topic():
    found = fit_strengths(count_games(played(WON)))
    assert found.errors == approx([0.541926, 0.272662, 0.418871, 0.615501], abs=1e-6)
    assert found.errors_of_pairs()[0, 3] == approx(0.999066, abs=1e-6)
    board = make_board(played(WON))
    assert board.pairs.difference(3, 0) == approx(1.266491, abs=1e-6)
    assert board.chance(3, 0) == approx(0.780141, abs=1e-6)


def test_a_run_that_never_loses_has_half_games():
    won = [each for each in WON if each[1] != "D"]
    found = fit_strengths(count_games(played(won)))
    assert found.has_half_games
    assert found.strengths == approx([0.449742, 0.713940, 0.430101, 7.241084], abs=1e-6)


def test_two_groups_of_runs_that_never_met_have_half_games():
    apart = [("A", "B", 2), ("B", "A", 1), ("C", "D", 2), ("D", "C", 1)]
    found = fit_strengths(count_games(played(apart)))
    assert found.has_half_games and found.logs[0] == approx(found.logs[2])


def test_below_six_topics_there_are_strengths_but_no_intervals():
    board = make_board(played(WON, topics=5))
    assert board.interval(0) is None and board.pairs.rank_high.tolist() == [4, 4, 4, 4]


def test_intervals_and_ranks_say_the_same():
    board = make_board(
        played([("A", "B", 60), ("B", "A", 12), ("B", "C", 9), ("C", "B", 9)], topics=20)
    )
    pairs = board.pairs
    for run, other in ((0, 1), (0, 2), (1, 2)):
        interval = pairs.interval(run, other)
        differs = interval.low > 0 or interval.high < 0
        assert differs == pairs.different[run, other] == (pairs.p_of(run, other) <= 0.05)
    assert board.interval(0).low < board.preferred(0) < board.interval(0).high
    assert pairs.rank_low[0] == 1 and board.num_best == np.count_nonzero(pairs.rank_low == 1)


def test_the_order_of_votes_and_the_sides_change_nothing():
    votes = played(WON, TIED)
    turned = {"left": "right", "right": "left"}
    other = [
        Vote(v.topic, v.right, v.left, turned.get(v.choice, v.choice)) for v in reversed(votes)
    ]
    one, again = (make_board(each) for each in (votes, other))
    assert again.strengths.logs == approx(one.strengths.logs, abs=1e-9)
    assert decide_about(again.strengths).p == approx(one.pairs.p, abs=1e-9)


def test_a_preference_for_length_is_told_from_strength():
    random = np.random.default_rng(7)
    votes = []
    for number in range(3000):
        left, right = (("oak", "elm"), ("elm", "oak"))[number % 2]
        words = random.integers(50, 200, 2)
        odds = 2 * words[0] / words[1]
        choice = "left" if random.random() < odds / (1 + odds) else "right"
        named = {"left_words": int(words[0]), "right_words": int(words[1])}
        votes.append(Vote(str(number % 50), left, right, choice, **named))
    effects = {effect.name: effect for effect in make_board(votes).effects}
    assert effects["length"].interval.low < 2 < effects["length"].interval.high
    assert effects["position"].interval.low < 2 < effects["position"].interval.high
    assert effects["length"].interval.low > 1.5 and set(effects) == {"length", "position"}


def test_a_voter_of_one_side_is_found_by_ten_votes():
    votes = [Vote(str(n), "oak", "elm", "right", "ben") for n in range(10)]
    assert [each.voter for each in find_side_voters(votes)] == ["ben"]
    assert not find_side_voters(votes[1:])


def test_votes_are_read_as_they_were_written():
    one = Vote("7", "oak", "elm", "both bad", "gpt", "machine", "x", 3, 4, 0, 1, 0.25)
    votes = [one, Vote("7", "elm", "oak", "left", "ada")]
    assert read_votes(BytesIO(b"".join(write_votes(votes)))).votes == votes


def test_all_faults_of_votes_are_told_by_line():
    lines = [
        b'{"topic": "7", "left": "oak", "right": "elm", "vote": "left", "voter": "ada"}',
        b'{"topic": "7", "left": "elm", "right": "oak", "vote": "tie", "voter": "ada"}',
        b'{"topic": "7", "left": "oak", "right": "oak", "vote": "tie"}',
        b'{"topic": "7", "left": "oak", "right": "elm", "vote": "top", "probability": 2}',
        b"no object",
    ]
    with pytest.raises(Refused) as refused:
        read_votes(BytesIO(b"\n".join(lines)))
    found = [(problem.line, problem.code) for problem in refused.value.problems]
    expected = [(2, "E_DUP_VOTE"), (3, "E_SAME_RUN"), (4, "E_FIELD"), (4, "E_FIELD"), (5, "E_JSON")]
    assert found == expected


def test_the_command_prints_runs_pairs_and_effects(tmp_path, capfd):
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"".join(write_votes(played(WON))))
    assert main(["battles", str(path), "--digits", "6"]) == 0
    assert main(["battles", str(path), "--pairs"]) == 0
    assert main(["battles", str(path), "--effects"]) == 0
    printed = capfd.readouterr().out
    assert "2.270377" in printed and "0.7801" in printed and "position" in printed


def test_people_and_machines_are_never_mixed(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"".join(write_votes(played(WON))))
    with pytest.raises(SystemExit):
        main(["battles", str(path), "--voters", "machines"])
