"""The page of a run: its state, its problems, its scores."""

from __future__ import annotations

import pytest

from leaderboard import organising
from leaderboard.models import Run, Track
from tests.builders import OTHER_RUN, RUN, make_run, make_track, signed_in


@pytest.fixture
def scored(track, ben, ada) -> Run:
    """Ben's run on a board with a baseline of the organisers."""
    baseline = make_run(track, ada, OTHER_RUN)
    Track.objects.filter(pk=track.pk).update(baseline=baseline)
    return make_run(track, ben)


def page_of(client, run: Run, more: str = "") -> str:
    return client.get(f"/runs/{run.pk}/{more}").content.decode()


def test_the_scores_are_those_that_were_computed(scored, client):
    page = page_of(client, scored)
    assert ".6944" in page
    assert "topics answered</dt><dd>3 of 3" in page


def test_the_verdict_says_how_sure_it_is(scored, client):
    page = page_of(client, scored)
    assert "cannot be told apart from" in page
    assert "95 % interval" in page and "(Holm)" in page


def test_every_topic_has_a_bar_that_opens_its_ranking(scored, client):
    page = page_of(client, scored)
    assert f'href="/runs/{scored.pk}/ranking/?number=2"' in page


def test_the_order_of_the_topics_can_be_chosen(scored, client):
    by_topic = page_of(client, scored, "?order=topic")
    assert by_topic.index("sourdough bread") < by_topic.index("oven temperature")


def test_a_refused_run_shows_every_problem_with_its_line(track, ben, as_ben):
    run = make_run(track, ben, RUN.replace("d1 1 9.0", "d1 1 nan").replace("d9", "<b>d99</b>"))
    page = page_of(as_ben, run)
    assert "Refused: 2 errors of 2 kinds" in page
    assert "E_SCORE" in page and "E_UNKNOWN_DOC" in page
    assert "<b>d99" not in page and "&lt;b&gt;d99" in page


def test_problems_are_for_the_team_alone(track, ben, as_cat):
    run = make_run(track, ben, "1 Q0 d1 1")
    assert as_cat.get(f"/runs/{run.pk}/").status_code == 404


def test_a_failed_run_can_be_tried_again(track, ben, as_ben):
    run = make_run(track, ben)
    Run.objects.filter(pk=run.pk).update(state="failed", reason="Too large for this server.")
    assert "Not your fault" in page_of(as_ben, run)
    as_ben.post(f"/runs/{run.pk}/again/")
    run.refresh_from_db()
    assert run.state == "queued"


def test_a_blind_track_says_valid_and_nothing_more(blind_track, ben, as_ben):
    page = page_of(as_ben, make_run(blind_track, ben))
    assert "Scores are shown when the organisers release them" in page
    assert "nDCG" not in page and "Scored" not in page


def test_a_withdrawn_run_answers_with_what_happened(scored, ben, as_ben):
    organising.withdraw(scored, ben, "wrong file")
    answer = as_ben.get(f"/runs/{scored.pk}/")
    assert answer.status_code == 410
    assert "wrong file" in answer.content.decode()


def test_the_state_follows_along_until_it_is_final(track, ben, as_ben):
    run = make_run(track, ben)
    final = as_ben.get(f"/runs/{run.pk}/state/")
    assert final["HX-Refresh"] == "true" and b"hx-get" not in final.content
    Run.objects.filter(pk=run.pk).update(state="queued")
    assert b'hx-trigger="every 1s"' in as_ben.get(f"/runs/{run.pk}/state/").content


def test_names_of_strangers_are_only_text(collection, cat):
    track = make_track(collection, slug="names")
    run = make_run(track, cat)
    Run.objects.filter(pk=run.pk).update(tag='"><script>x', description="<img src=x onerror=y>")
    page = page_of(signed_in(cat), run)
    assert "<script>x" not in page and "<img src=x" not in page


def test_the_number_of_queries_does_not_grow_with_the_board(
    track, ben, cat, client, django_assert_max_num_queries
):
    run = make_run(track, ben)
    for n in range(4):
        make_run(track, cat, OTHER_RUN.replace("d10", f"d{n + 2}"))
    with django_assert_max_num_queries(30):
        client.get(f"/runs/{run.pk}/")
