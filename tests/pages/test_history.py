"""How a track got better, and who hears of it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from urllib.parse import urlsplit

from django.test import Client

from leaderboard.actions import tracks, uploads
from leaderboard.models import ApiToken, Edition
from leaderboard.notifications import notices
from tests.builders import OTHER_RUN, QRELS, RUN, make_run, make_track, upload, work
from tests.pages.reading import num_queries, page_at, rows

HISTORY = "/benchmarks/bread/history/"
BADGE = "/benchmarks/bread/badge.svg"
FEED = "/benchmarks/bread/feed.xml"
# AP: 1, 1, (1 + 2/2)/2.
BEST_RUN = (
    "1 Q0 d1 1 9 best\n1 Q0 d2 2 8 best\n2 Q0 d4 1 9 best\n3 Q0 d6 1 9 best\n3 Q0 d8 2 8 best\n"
)


def test_a_run_that_raised_the_best_score_is_named(track, ben, as_cat):
    make_run(track, ben, OTHER_RUN)
    make_run(track, ben, RUN)
    lines = as_cat.get(f"{HISTORY}?format=csv").text.splitlines()
    bests = [float(line.split(",")[5]) for line in lines[1:]]
    assert [round(best, 4) for best in bests] == [0.5278, 0.6944]


def test_a_worse_run_leaves_the_best_where_it_was(track, ben, cat, as_ada):
    make_run(track, ben, RUN)
    make_run(track, cat, OTHER_RUN)
    history = as_ada.get(HISTORY).context["history"]
    assert [each.leads for each in history.lines] == [True, False]
    assert history.lines[0].best == history.lines[1].best


def test_a_history_without_runs_is_a_page(track, as_cat):
    assert "No scored run yet" in as_cat.get(HISTORY).text


def test_the_judgments_that_made_the_board_are_marked(track, collection, ada, ben, as_ada):
    make_run(track, ben)
    second = _judged_anew(collection, ada)
    tracks.change_track(track, ada, {"judgment_set": second})
    work()
    history = as_ada.get(HISTORY).context["history"]
    assert [each.version for each in history.changes] == ["v1", "v2"]
    switched = Edition.objects.get(judgment_set=second)
    assert history.changes[1].at == switched.shown_at > switched.ready_at


def test_judgments_on_trial_are_no_mark_yet(track, collection, ada, ben, as_ada):
    make_run(track, ben)
    _judged_anew(collection, ada)
    history = as_ada.get(HISTORY).context["history"]
    assert [each.version for each in history.changes] == ["v1"]


def _judged_anew(collection, ada):
    qrels = upload("qrels.txt", QRELS.replace("d9 0", "d9 1"))
    judgment_set = uploads.accept_judgments(collection, qrels, "v2", ada, asks_first=False)
    work()
    return judgment_set


def test_a_badge_says_the_best_score(track, ben, as_cat):
    make_run(track, ben)
    badge = as_cat.get(BADGE)
    assert "AP .694" in badge.text and "public" in badge["Cache-Control"]
    assert ElementTree.fromstring(badge.text).tag.endswith("svg")


def test_a_badge_of_a_team_is_of_that_team(track, ben, cat, as_cat):
    make_run(track, ben, RUN)
    make_run(track, cat, OTHER_RUN)
    assert "AP .528" in as_cat.get(f"{BADGE}?team=cat").text
    assert as_cat.get(f"{BADGE}?team=nobody").status_code == 404


def test_no_badge_leaves_a_board_of_members(collection, as_ada):
    make_track(collection, visibility="members")
    assert as_ada.get(BADGE).status_code == 404
    assert as_ada.get(FEED).status_code == 404


def test_a_board_of_members_has_a_badge_for_whoever_knows_its_address(
    collection, ben, as_ada, client
):
    track = make_track(collection, visibility="members")
    make_run(track, ben)
    page = as_ada.post("/benchmarks/bread/manage/badge/", follow=True)
    address = urlsplit(page.context["badge_address"]).path
    assert address in page.text and "AP .694" in client.get(address).text
    assert "AP .694" in client.get(f"{address}?team=ben").text


def test_another_address_of_a_badge_closes_the_one_before(collection, as_ada, client):
    make_track(collection, visibility="members")
    pages = [as_ada.post("/benchmarks/bread/manage/badge/", follow=True) for _ in range(2)]
    before, now = (urlsplit(page.context["badge_address"]).path for page in pages)
    assert (client.get(before).status_code, client.get(now).status_code) == (404, 200)
    as_ada.post("/benchmarks/bread/manage/badge/", {"act": "remove"})
    assert client.get(now).status_code == 404


def test_a_blind_board_has_no_badge_before_its_release(blind_track, ada, ben, as_ada, client):
    make_run(blind_track, ben)
    page = as_ada.post("/benchmarks/blind/manage/badge/", follow=True)
    address = urlsplit(page.context["badge_address"]).path
    assert client.get(address).status_code == 404
    tracks.release_track(blind_track, ada)
    assert client.get(address).status_code == 200


def test_a_track_without_a_code_has_no_badge_at_an_empty_one(track, client):
    assert client.get("/badges/.svg").status_code == 404


def test_nothing_of_the_history_of_a_leaderboard_shows_before_its_end(
    leaderboard_track, ada, ben, as_cat
):
    """A dated line of means, and a badge of the best one, come with the topics behind them."""
    run = make_run(leaderboard_track, ben)
    pages = ("history/", "history/?format=csv", "badge.svg", "badge.svg?team=ben")
    assert {as_cat.get(f"/benchmarks/lead/{page}").status_code for page in pages} == {404}
    assert "verdict" not in Client().get(f"/api/v1/runs/{run.pk}").json()
    tracks.release_track(leaderboard_track, ada)
    assert {as_cat.get(f"/benchmarks/lead/{page}").status_code for page in pages} == {200}


def test_a_feed_has_runs_and_announcements(track, ada, ben, as_cat):
    make_run(track, ben)
    notices.announce(track, ada, "More <rye> & \x0b soon.")
    entries = [each.text for each in ElementTree.fromstring(as_cat.get(FEED).text).iter()]
    assert "ben-bm25 by ben" in entries and "More <rye> &  soon." in entries
    assert "AP .694, rank 1 of 1" in entries


def entries_of(client, track: str) -> list[str]:
    feed = ElementTree.fromstring(client.get(f"{track}feed.xml").text)
    return [each.text for each in feed.iter()]


def test_the_feed_of_a_leaderboard_has_the_means_of_its_board(leaderboard_track, ben, as_cat):
    make_run(leaderboard_track, ben)
    assert "AP .69, rank 1 of 1" in entries_of(as_cat, "/benchmarks/lead/")
    about = page_at(as_cat, "/benchmarks/lead/")
    assert "/benchmarks/lead/feed.xml" in about and "badge.svg" not in about


def test_a_feed_goes_by_pseudonyms_and_shows_no_run_beneath_a_step(collection, ben, as_cat):
    ladder = {"disclosure": "leaderboard", "ladder_step": 0.05, "pseudonyms": True}
    track = make_track(collection, slug="lead", **ladder)
    first = make_run(track, ben)
    make_run(track, ben, RUN.replace("ben-bm25", "hardly-better"))
    entries = entries_of(as_cat, "/benchmarks/lead/")
    assert f"{first.pseudonym} by {first.team_pseudonym}" in entries
    assert [each for each in entries if each and "AP" in each and "rank" in each] == [
        "AP .70, rank 1 of 1"
    ]


def test_a_blind_board_has_no_feed(blind_track, ben, as_cat):
    make_run(blind_track, ben)
    assert as_cat.get("/benchmarks/blind/feed.xml").status_code == 404
    assert "feed.xml" not in page_at(as_cat, "/benchmarks/blind/")


def test_a_run_is_held_to_the_teams_previous_best(track, ben, cat, as_ben):
    first = make_run(track, ben, OTHER_RUN)
    make_run(track, cat, BEST_RUN)
    second = make_run(track, ben, RUN)
    assert as_ben.get(f"/runs/{first.pk}/").context["previous"] is None
    page = as_ben.get(f"/runs/{second.pk}/")
    assert page.context["previous"].a == first
    assert "Against the previous best of" in page.text


def test_the_api_gives_the_verdict(track, ben):
    first, second = make_run(track, ben, OTHER_RUN), make_run(track, ben, RUN)
    _, secret = ApiToken.objects.issue(ben, ["read"])
    answer = Client().get(
        f"/api/v1/runs/{second.pk}", headers={"Authorization": f"Bearer {secret}"}
    )
    verdict = answer.json()["verdict"]
    assert verdict["previous"] == first.pk and verdict["verdict"] == "not significant"
    assert round(verdict["difference"], 6) == round(25 / 36 - 19 / 36, 6)


def test_a_blind_run_has_no_verdict(blind_track, ben):
    make_run(blind_track, ben, OTHER_RUN)
    run = make_run(blind_track, ben, RUN)
    _, secret = ApiToken.objects.issue(ben, ["read"])
    answer = Client().get(f"/api/v1/runs/{run.pk}", headers={"Authorization": f"Bearer {secret}"})
    assert "verdict" not in answer.json()


def test_every_run_stands_in_the_table_beneath_the_drawing(track, ben, as_cat):
    make_run(track, ben, OTHER_RUN)
    make_run(track, ben, RUN)
    first, second = rows(page_at(as_cat, HISTORY))
    assert first.startswith("other ben .5278 .5278") and second.startswith("ben-bm25 ben .6944")


def test_a_history_has_every_measure_of_the_track(track, ben, as_cat):
    make_run(track, ben)
    assert "The best P@5 over time" in page_at(as_cat, f"{HISTORY}?measure=P@5")
    assert "The best AP over time" in page_at(as_cat, f"{HISTORY}?measure=unknown")


def test_queries_do_not_grow_with_the_runs(track, ben, cat, client):
    make_run(track, ben, OTHER_RUN)
    make_run(track, ben)
    asked = num_queries(client, HISTORY)
    make_run(track, cat, BEST_RUN)
    make_run(track, cat)
    assert num_queries(client, HISTORY) == asked
