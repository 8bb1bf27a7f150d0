"""The front page: every track that the reader sees, in a line."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions import tracks
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_visible_board
from leaderboard.boards.summaries import summarise_boards
from leaderboard.models import Track, User
from tests.builders import OTHER_RUN, make_run, make_track
from tests.pages.reading import num_queries
from tests.pages.ten_topics import send, ten_track, with_baseline


def test_an_empty_site_says_what_comes_first(as_ada, as_ben, settings):
    settings.EVERYONE_ORGANISES = False
    assertContains(as_ada.get("/"), "No track yet")
    assertContains(as_ada.get("/"), 'href="/collections/new/"')
    assertNotContains(as_ben.get("/"), "/collections/new/")


def test_the_line_of_a_track_names_its_leader_with_the_score(track, ben):
    make_run(track, ben)
    page = Client().get("/")
    assertContains(page, '<a href="/benchmarks/bread/board/"><bdi>Bread track</bdi></a>', html=True)
    assertContains(page, "<b><bdi>ben-bm25</bdi></b>", html=True)
    assertContains(page, "AP .694")


def test_every_ranked_run_is_a_dot_and_ones_own_is_marked(track, ben, cat, as_ben):
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    page = as_ben.get("/")
    assertContains(page, 'class="dot own"', count=1)
    assertContains(page, 'class="dot other"', count=1)
    assertContains(page, "rank <b>1</b>")


def test_a_track_with_judgments_and_no_run_is_listed(track):
    assertContains(Client().get("/"), "no scored run yet")


def test_a_blind_track_shows_neither_scores_nor_judgments(blind_track, ben, as_ben):
    make_run(blind_track, ben)
    page = as_ben.get("/")
    assertContains(page, "scores on release")
    assertNotContains(page, "AP .")
    assertNotContains(page, "judgments v1")


def test_ones_latest_runs_say_what_became_of_them(track, ben, as_ben, as_cat):
    make_run(track, ben)
    make_run(track, ben, "1 Q0 d1 1 nan ben-bm25\n")
    page = as_ben.get("/")
    assertContains(page, "rank 1 of 1")
    assertContains(page, "1 kind of error")
    assertNotContains(as_cat.get("/"), "Your runs")


def test_in_a_blind_track_an_own_run_reads_valid(blind_track, ben, as_ben):
    make_run(blind_track, ben)
    page = as_ben.get("/")
    assertContains(page, '<span class="state valid">')
    assertNotContains(page, "rank 1")


def test_tracks_stand_under_what_can_be_done_with_them(collection):
    now = timezone.now()
    make_track(collection)
    make_track(collection, slug="old", closes_at=now - timedelta(days=2))
    make_track(collection, slug="next", opens_at=now + timedelta(days=2))
    titles = list(Client().get("/").context["groups"])
    assert titles == ["Open", "Not open yet", "Closed"]


def test_a_closed_blind_track_waits_for_its_scores(collection, ada):
    late = timezone.now() - timedelta(days=2)
    track = make_track(collection, slug="shared", disclosure="blind", closes_at=late)
    assertContains(Client().get("/tracks/"), "Judging")
    tracks.release_track(track, ada)
    assertNotContains(Client().get("/"), "Judging")


def test_the_leader_is_compared_with_the_baseline(track, ada, ben, cat):
    best = make_run(track, ben)
    tracks.choose_baseline(track, ada, best)
    assertContains(Client().get("/"), "AP .694, the baseline")


def test_a_track_for_members_is_hidden_from_strangers(collection, as_ada):
    make_track(collection, visibility="members", joining="invitation")
    assertNotContains(Client().get("/"), "Bread track")
    assertContains(as_ada.get("/"), "Bread track")


def test_the_front_page_promises_what_a_board_with_a_baseline_shows(track, ben, client):
    make_run(track, ben)
    front = client.get("/").content.decode()
    assert "uncertainty" not in front and "significantly better or worse than the baseline" in front


def test_the_quota_of_a_team_stands_in_its_cell(collection, ben, as_ben):
    make_run(make_track(collection, quota_per_day=5), ben)
    assertContains(as_ben.get("/"), "4 of 5 runs left today")


def test_a_run_is_sent_from_here_to_what_is_open(collection, ben, as_ben):
    closed = timezone.now() - timedelta(days=1)
    make_run(make_track(collection, slug="open"), ben)
    make_track(collection, slug="free")
    make_track(collection, slug="over", closes_at=closed)
    page = as_ben.get("/")
    assertContains(page, 'href="/benchmarks/open/submit/"')
    assertContains(page, 'href="/benchmarks/free/submit/"')
    assertNotContains(page, 'href="/benchmarks/over/submit/"')


def test_a_late_run_is_sent_from_here_and_called_late(collection, ben, as_ben, as_cat):
    track = make_track(collection)
    make_run(track, ben)
    Track.objects.update(closes_at=timezone.now() - timedelta(days=1), late_runs="mark")
    link = '<a href="/benchmarks/bread/submit/">submit a run</a>, late'
    assertContains(as_ben.get("/"), link)
    assertContains(as_cat.get("/"), f'{link}, or <a href="/benchmarks/bread/join/">join</a>')


def test_whoever_does_not_take_part_is_led_to_join(track, as_cat):
    assertContains(as_cat.get("/"), 'href="/benchmarks/bread/join/"')


def test_a_name_is_printed_as_text_whatever_it_holds(track):
    tracks.change_track(track, track.benchmark.owner, {"name": "<script>\u202e"})
    page = Client().get("/")
    assertContains(page, "<bdi>&lt;script&gt;\u202e</bdi>")
    assertNotContains(page, "<script>\u202e")


def test_the_page_is_only_read(db):
    assert Client().post("/").status_code == 405


def test_queries_do_not_grow_with_the_tracks(collection, ben, as_ben):
    """Ben takes part in two tracks, then in six."""
    for n in range(2):
        make_run(make_track(collection, slug=f"track-{n}", quota_per_day=5), ben)
    asked = num_queries(as_ben, "/")
    for n in range(2, 6):
        make_run(make_track(collection, slug=f"track-{n}", quota_per_day=5), ben)
    assert num_queries(as_ben, "/") == asked
    assertContains(as_ben.get("/"), "4 of 5 runs left today", count=6)


@pytest.mark.parametrize("selection", Track.Selection.values)
def test_a_line_says_of_a_run_what_its_board_says(ada, ben, cat, selection):
    track = ten_track(ada, selection=selection)
    with_baseline(track, ada, ranks=3)
    for user, ranks in ((ben, 2), (ben, 1), (cat, 3)):
        send(track, user, f"at-{ranks}", ranks)
    sight = sight_of(track, ben)
    places, standings = (
        summarise_boards([sight])[track.pk].places,
        find_visible_board(sight).standings,
    )
    assert [(str(each.run), each.rank, each.interval, each.verdict) for each in places] == [
        (str(each.run), each.rank, each.interval, each.verdict) for each in standings
    ]
    assert [each.is_own for each in places] == [each.is_own for each in standings]


def test_a_line_has_no_verdict_where_only_means_are_seen(ada, ben, cat):
    track = ten_track(ada)
    with_baseline(track, ada, ranks=3)
    send(track, ben, "at-1", 1)
    assert "better" in verdicts_for(track, cat)
    Track.objects.update(disclosure="leaderboard")
    track.refresh_from_db()
    assert set(verdicts_for(track, cat)) == {""}


def verdicts_for(track: Track, viewer: User) -> list[str]:
    return [each.verdict for each in summarise_boards([sight_of(track, viewer)])[track.pk].places]
