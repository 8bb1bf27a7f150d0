"""Battles: pairs are drawn blind, votes count once, and the board ranks the runs."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from leaderboard.actions import battles as acts
from leaderboard.actions.accounts import delete_account, export_account
from leaderboard.assessments.battles import count_points, weigh_pairs
from leaderboard.models import Battles, BattleVote, Run, Track, User
from tests.builders import (
    OTHER_RUN,
    make_collection,
    make_run,
    make_track,
    make_user,
    signed_in,
    upload,
    work,
)
from tests.pages.reading import page_at, words
from tests.scoring.test_answer_runs import ANSWERS

VOTE = "/benchmarks/bread/battles/vote/"
BOARD = "/benchmarks/bread/battles/"
SETTINGS = "/benchmarks/bread/battles/settings/"


def make_scene(ada: User, ben: User, cat: User) -> None:
    """Three runs of answers of three teams, and battles for everyone who is signed in."""
    track = make_track(make_collection(ada), run_kind="answers")
    teams = {"oak": ben, "elm": make_user("dan"), "ash": make_user("kim")}
    for number, (name, user) in enumerate(teams.items()):
        make_run(track, user, ANSWERS.replace("ben-rag", name).replace("a day", f"{number} days"))
    acts.save_battles(Battles(track=track, voters="signed in"), ada)


@pytest.fixture
def battles(scene: None) -> Battles:
    return Battles.objects.get()


def look(client: Client) -> BattleVote:
    """Open the page, and let two seconds pass."""
    assert client.get(VOTE).status_code == 200
    waiting = BattleVote.objects.waiting()
    waiting.update(shown_at=timezone.now() - timedelta(seconds=3))
    return waiting.get()


def decide(client: Client, choice: str, **fields: object) -> None:
    client.post(VOTE, {"vote": look(client).pk, "choice": choice, **fields})


def test_a_pair_is_shown_without_its_runs_and_teams(battles, as_cat):
    vote, page = look(as_cat), words(page_at(as_cat, VOTE))
    assert "Left is better" in page and "0 of 9 pairs" in page
    assert not {str(vote.left), str(vote.right), vote.first.team.name} & set(page.split())


def test_a_pair_stays_until_it_is_decided_and_keeps_its_probability(battles, as_cat):
    first, again = look(as_cat), look(as_cat)
    # Three pairs of runs on three topics; some may have been drawn before, empty on both sides.
    assert first == again and first.probability in map(pytest.approx, (1 / 9, 1 / 8, 1 / 7, 1 / 6))


def test_a_vote_is_kept_with_its_reason(battles, as_cat):
    decide(as_cat, "both bad", reason="neither cites")
    vote = BattleVote.objects.cast().get()
    assert (vote.choice, vote.reason, vote.user.username) == ("both bad", "neither cites", "cat")


def test_a_vote_counts_once(battles, as_cat):
    vote = look(as_cat)
    for choice in ("left", "right"):
        as_cat.post(VOTE, {"vote": vote.pk, "choice": choice})
    assert BattleVote.objects.get(pk=vote.pk).choice == "left"
    with pytest.raises(IntegrityError), transaction.atomic():
        BattleVote.objects.create(
            battles=battles, topic=vote.topic, first=vote.first, second=vote.second, user=vote.user
        )


def test_a_vote_within_two_seconds_does_not_count(battles, as_cat):
    as_cat.get(VOTE)
    vote = BattleVote.objects.get()
    as_cat.post(VOTE, {"vote": vote.pk, "choice": "left"})
    assert "Look at a pair for 2 seconds" in words(page_at(as_cat, VOTE))
    assert not BattleVote.objects.cast().exists()


def test_a_voter_decides_no_more_pairs_a_day_than_allowed(battles, as_cat, monkeypatch):
    monkeypatch.setattr(acts, "MOST_PER_DAY", 1)
    decide(as_cat, "left")
    decide(as_cat, "left")
    assert BattleVote.objects.cast().count() == 1


def test_the_last_vote_is_undone_and_the_pair_comes_back(battles, as_cat):
    decide(as_cat, "left")
    voted = BattleVote.objects.cast().get()
    as_cat.post(VOTE, {"choice": "undo"})
    assert look(as_cat) == voted and not BattleVote.objects.cast().exists()


def test_a_pair_that_is_put_off_comes_back_last(battles, as_cat):
    later = look(as_cat)
    as_cat.post(VOTE, {"vote": later.pk, "choice": "later"})
    # No run has an answer to the third topic.
    for _ in range(5):
        decide(as_cat, "tie")
    assert look(as_cat) == later
    decide(as_cat, "tie")
    assert "Nothing left to decide" in page_at(as_cat, VOTE)


def test_a_team_never_votes_on_its_own_run(battles, as_ben):
    for _ in range(2):
        decide(as_ben, "tie")
    seen = BattleVote.objects.values_list("first__tag", "second__tag")
    assert {tag for pair in seen for tag in pair} == {"elm", "ash"}
    assert "Nothing left to decide" in page_at(as_ben, VOTE)


def test_a_withdrawn_run_leaves_its_open_pair(battles, as_cat):
    vote = look(as_cat)
    Run.objects.filter(pk=vote.first_id).update(withdrawn_at=timezone.now())
    assert vote.first_id not in {look(as_cat).first_id, look(as_cat).second_id}


@pytest.mark.parametrize("disclosure", ["blind", "leaderboard"])
def test_only_invited_people_vote_while_scores_are_hidden(battles, as_cat, disclosure):
    Track.objects.update(disclosure=disclosure)
    assert as_cat.get(VOTE).status_code == 404
    assert as_cat.get(BOARD).status_code == 404
    as_cat.post(f"/battles/join/{battles.invitation}/")
    assert as_cat.get(VOTE).status_code == 200
    assert as_cat.get(BOARD).status_code == 404


def test_a_closed_battle_takes_no_vote(battles, as_cat):
    vote = look(as_cat)
    Battles.objects.update(is_open=False)
    as_cat.post(VOTE, {"vote": vote.pk, "choice": "left"})
    assert not BattleVote.objects.cast().exists()
    assert as_cat.get(f"/battles/join/{battles.invitation}/").status_code == 410


def test_pairs_for_information_are_rather_those_with_few_votes(battles, as_cat):
    Battles.objects.update(drawing="information")
    for name in range(5):
        voter = signed_in(make_user(f"voter{name}"))
        decide(voter, "left")
    battles.refresh_from_db()
    played = count_points(battles)[1]
    pairs = list(combinations(sorted(Run.objects.values_list("pk", flat=True)), 2))
    likeliest = pairs[int(weigh_pairs(battles, pairs).argmax())]
    assert played[likeliest] == min(played[pair] for pair in pairs) < max(played.values())


def import_file(client: Client, text: str) -> str:
    sent = client.post("/benchmarks/bread/battles/import/", {"file": upload("votes.jsonl", text)})
    return words(sent.content.decode()) if sent.status_code == 422 else ""


def line(topic: int, left: str, right: str, vote: str, voter: str, kind: str = "person") -> str:
    return (
        f'{{"topic": "{topic}", "left": "{left}", "right": "{right}", "vote": "{vote}",'
        f' "voter": "{voter}", "kind": "{kind}"}}\n'
    )


def many_votes(kind: str = "person") -> str:
    """Ninety votes: oak beats elm in four of five, elm ash as often."""
    return "".join(
        line(topic, *pair, "right" if number % 5 == 0 else "left", f"v{number}", kind)
        for number in range(15)
        for topic in (1, 2, 3)
        for pair in (("oak", "elm"), ("elm", "ash"))
    )


def test_imported_votes_rank_the_runs(battles, as_ada, as_cat):
    import_file(as_ada, many_votes())
    assert "The votes are being counted" in page_at(as_cat, BOARD)
    work()
    page = words(page_at(as_cat, BOARD))
    assert "90 votes of 15 voters on 3 topics" in page
    assert "oak is preferred to an average run in" in page
    csv = as_cat.get(BOARD + "?format=csv").content.decode().splitlines()
    assert [each.split(",")[1] for each in csv[1:]] == ["oak", "elm", "ash"]
    assert ",1,ab" not in csv[1] and csv[1].split(",")[3] == "1"


def test_people_and_machines_are_apart(battles, as_ada, as_cat):
    import_file(as_ada, many_votes("machine"))
    assert "No votes yet" in page_at(as_cat, BOARD)
    page_at(as_cat, BOARD + "?voters=machine")
    work()
    assert "90 votes of 15 voters" in words(page_at(as_cat, BOARD + "?voters=machine"))


def test_a_file_with_faults_imports_nothing(battles, as_ada):
    text = line(1, "oak", "elm", "left", "v1") + line(9, "oak", "yew", "left", "v1")
    page = import_file(as_ada, text)
    assert "No vote was imported" in page and "E_UNKNOWN_RUN" in page and "E_UNKNOWN_TOPIC" in page
    assert not BattleVote.objects.exists()


def test_a_vote_is_imported_once(battles, as_ada):
    once = line(1, "oak", "elm", "left", "v1")
    assert import_file(as_ada, once) == ""
    assert "E_DUP_VOTE" in import_file(as_ada, once.replace(': "left"', ': "right"'))


def test_organisers_download_votes_under_pseudonyms(battles, as_cat, as_ada):
    decide(as_cat, "left")
    sent = b"".join(as_ada.get("/benchmarks/bread/battles/votes.jsonl").streaming_content).decode()
    assert '"voter": "V1"' in sent and "cat" not in sent and '"probability"' in sent


def test_votes_of_a_deleted_account_stay_without_a_name(battles, cat, as_cat):
    decide(as_cat, "left")
    as_cat.get(VOTE)
    assert export_account(cat)["votes"][0]["vote"] == "left"
    delete_account(cat)
    vote = BattleVote.objects.get()
    assert vote.user is None and vote.name.startswith("voter-")


def test_an_organiser_opens_battles_and_gets_a_link(battles, as_ada, as_cat):
    battles.delete()
    form = {"question": "Which?", "voters": "invited", "drawing": "random", "is_open": "on"}
    assert as_ada.post(SETTINGS, form).status_code == 302
    assert f"/battles/join/{Battles.objects.get().invitation}/" in page_at(as_ada, SETTINGS)
    assert as_cat.get(SETTINGS).status_code == 403


def test_rankings_stand_side_by_side_with_titles(battles, ben, as_cat):
    track = make_track(battles.track.collection, slug="rolls")
    make_run(track, ben)
    make_run(track, User.objects.get(username="dan"), OTHER_RUN)
    acts.save_battles(Battles(track=track, voters="signed in"), track.benchmark.owner)
    page = words(page_at(as_cat, VOTE.replace("bread", "rolls")))
    assert "Document" in page and "baked slowly" in page
