"""Internal leaderboards: runs with commits, each against the main branch of its team."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions import tracks
from leaderboard.models import ApiToken, Delivery, Notice, Run, Team, Track, User
from tests.builders import OTHER_RUN, RUN, make_run, make_track, upload, work
from tests.pages.ten_topics import run_of, ten_track

COMMIT = "4f2a9c01d7e6b385"
SUBMIT = "/api/v1/tracks/bread/runs"
SENTENCE = "other has .5278 AP, −.1667 against main (ben-bm25): better on 1 topic, worse on 2."


@pytest.fixture
def track(collection) -> Track:
    url = "https://example.org/ranker/commit/{commit}"
    return make_track(collection, main_branch="main", commit_url=url)


def on_branch(track: Track, user: User, text: str, branch: str) -> Run:
    return make_run(track, user, text, facts={"commit": COMMIT, "branch": branch})


def test_the_page_of_a_run_begins_with_the_comparison_with_main(track, ben, as_ben):
    main = on_branch(track, ben, RUN, "main")
    run = on_branch(track, ben, OTHER_RUN, "faster")
    page = as_ben.get(f"/runs/{run.pk}/")
    assertContains(page, "has <b>.5278 AP</b>, −.1667 against main")
    assertContains(page, f'<a href="/runs/{main.pk}/"><bdi>ben-bm25</bdi></a>')
    text = page.content.decode()
    assert text.index("against main") == text.index("against ")


def test_the_notice_says_the_same_sentence(track, ben):
    on_branch(track, ben, RUN, "main")
    on_branch(track, ben, OTHER_RUN, "faster")
    assert Notice.objects.filter(user=ben).first().text == SENTENCE


def test_the_page_and_the_notice_say_what_the_gate_says(ada, ben, as_ben):
    track = ten_track(ada, main_branch="main", gate_margin=0.1)
    main = on_branch(track, ben, run_of("main", 1), "main")
    run = on_branch(track, ben, run_of("slow", 2), "slow")
    page = as_ben.get(f"/runs/{run.pk}/")
    assertContains(page, "<h2>Gate: worse</h2>")
    assertContains(page, "build 1 of 50")
    assertContains(page, "slow is worse than main.")
    assertContains(page, '?number=1"><bdi>1</bdi></a> −.500')
    assert Notice.objects.filter(user=ben).first().text.endswith("Gate: worse.")
    assert "Gate:" not in as_ben.get(f"/runs/{main.pk}/").content.decode()


def test_a_track_without_a_margin_has_no_gate(track, ben, as_ben):
    on_branch(track, ben, RUN, "main")
    run = on_branch(track, ben, OTHER_RUN, "faster")
    assertNotContains(as_ben.get(f"/runs/{run.pk}/"), "Gate")


def test_without_a_run_of_main_the_baseline_takes_its_place(track, ada, ben, as_ben):
    tracks.choose_baseline(track, ada, make_run(track, ada, RUN))
    track.refresh_from_db()
    run = on_branch(track, ben, OTHER_RUN, "main")
    assertContains(as_ben.get(f"/runs/{run.pk}/"), "−.1667 against the baseline")
    assertContains(as_ben.get(f"/runs/{run.pk}/"), "has no earlier run of <bdi>main</bdi>")


def test_a_run_is_compared_with_the_main_branch_of_its_own_team(track, ben, cat, as_ben):
    on_branch(track, cat, RUN, "main")
    run = on_branch(track, ben, OTHER_RUN, "faster")
    assertNotContains(as_ben.get(f"/runs/{run.pk}/"), "against main")


def test_a_later_run_of_main_changes_no_earlier_page(track, ben, as_ben):
    run = on_branch(track, ben, OTHER_RUN, "faster")
    on_branch(track, ben, RUN, "main")
    assertNotContains(as_ben.get(f"/runs/{run.pk}/"), "against main")


def test_slack_gets_the_sentence_and_a_link(track, ada, ben, settings):
    settings.WEBHOOKS_ANYWHERE = True
    settings.SITE_URL = "https://rank.example.org"
    tracks.add_webhook(track, ada, "http://127.0.0.1:9/", ["run.scored"], "slack")
    on_branch(track, ben, RUN, "main")
    run = on_branch(track, ben, OTHER_RUN, "faster")
    sent = Delivery.objects.first().body
    assert sent == {"text": f"{SENTENCE}\nhttps://rank.example.org/runs/{run.pk}/"}


def test_nobody_is_called_through_slack_by_a_name(track, ada, ben):
    make_run(track, ben, RUN)
    Team.objects.filter(memberships__user=ben).update(name="<!channel>")
    tracks.add_webhook(track, ada, "https://192.0.2.1/", ["run.scored"], "slack")
    make_run(track, ben, OTHER_RUN)
    assert "&lt;!channel&gt;" in Delivery.objects.get().body["text"]


def test_only_tracks_with_a_main_branch_ask_for_commits(track, collection, as_ben):
    make_track(collection, slug="plain")
    assertContains(as_ben.get("/benchmarks/bread/submit/"), 'name="commit"')
    assertNotContains(as_ben.get("/benchmarks/plain/submit/"), "commit")


def test_the_api_takes_commit_branch_and_configuration(track, ben):
    fields = {"commit": COMMIT, "branch": "faster", "configuration": "k1=0.9"}
    _, secret = ApiToken.objects.issue(ben, ["submit"])
    bearer = {"Authorization": f"Bearer {secret}"}
    answer = Client().post(SUBMIT, {"file": upload("a.run", RUN), **fields}, headers=bearer)
    work()
    assert Run.objects.get(pk=answer.json()["id"]).facts == fields


def test_the_api_says_the_same_sentence(track, ben, client):
    main = on_branch(track, ben, RUN, "main")
    run = on_branch(track, ben, OTHER_RUN, "faster")
    answer = client.get(f"/api/v1/runs/{run.pk}").json()["main"]
    assert (answer["run"], answer["branch"], answer["sentence"]) == (main.pk, "main", SENTENCE)
    assert client.get(f"/api/v1/runs/{main.pk}").json()["main"] is None


def test_the_history_lists_commits_and_links_them(track, ben, client):
    on_branch(track, ben, RUN, "main")
    page = client.get("/benchmarks/bread/history/")
    assertContains(page, f'href="https://example.org/ranker/commit/{COMMIT}"')
    assertContains(page, "<title>ben-bm25, main 4f2a9c01d7, ")
    assertContains(client.get("/benchmarks/bread/history/?format=csv"), f"{COMMIT},main")


@pytest.mark.parametrize("url", ["javascript:alert(1)//{commit}", "https://example.org/"])
def test_a_link_of_commits_is_https_and_has_the_commit(track, as_ada, url):
    page = as_ada.post("/benchmarks/bread/manage/section/builds/", {"commit_url": url})
    assert "commit_url" in page.context["form"].errors


def test_the_preset_compares_with_main(collection, as_ada):
    page = as_ada.get("/collections/bread/tracks/new/?preset=internal")
    assert page.context["form"]["main_branch"].value() == "main"
