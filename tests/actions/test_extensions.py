"""A team has a later deadline than its track."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.actions.people import extend_deadline
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.uploads import NotAccepted
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_visible_board
from leaderboard.models import AuditEvent, Participation, Run, Team, Track
from tests.builders import OTHER_RUN, make_run, make_track
from tests.pages.reading import page_at, words

DAY = timedelta(days=1)
PAGE = "/benchmarks/closed/desk/deadlines/"


@pytest.fixture
def closed(collection, ben, cat) -> Track:
    """A track that closed an hour ago, on which Ben and Cat have a team and a run."""
    track = make_track(collection, slug="closed")
    for user, text in ((ben, OTHER_RUN), (cat, OTHER_RUN.replace("d10", "d12"))):
        make_run(track, user, text)
    now = timezone.now()
    Run.objects.update(received_at=now - DAY)
    Track.objects.update(closes_at=now - timedelta(hours=1))
    track.refresh_from_db()
    return track


def extend(track: Track, ada, name: str = "ben", by: timedelta = DAY) -> datetime:
    team = track.benchmark.teams.get(name=name)
    return extend_deadline(track, team, ada, timezone.now() + by, "a fire in the server room")


def test_a_team_with_a_later_deadline_submits_in_time(closed, ada, ben):
    extend(closed, ada)
    run = make_run(closed, ben)
    assert (run.state, run.is_late) == ("scored", False)


def test_the_front_page_lists_the_track_as_open_for_that_team_alone(closed, ada, as_ben, as_cat):
    extend(closed, ada)
    assert list(as_ben.get("/").context["groups"]) == ["Open"]
    assert list(as_cat.get("/").context["groups"]) == ["Closed"]


def test_no_other_team_may(closed, ada, cat):
    extend(closed, ada)
    with pytest.raises(NotAccepted, match="runs were accepted until"):
        make_run(closed, cat)


def test_after_its_own_deadline_a_team_is_told_that_one(closed, ada, ben):
    deadline = extend(closed, ada)
    Participation.objects.update(closes_at=timezone.now() - timedelta(minutes=1))
    with pytest.raises(NotAccepted, match="your team’s own deadline"):
        make_run(Track.objects.get(), ben)
    assert deadline > closed.closes_at


def test_where_late_runs_are_marked_that_of_the_team_is_not(closed, ada, ben, cat):
    Track.objects.update(late_runs="mark", selection="primary")
    closed.refresh_from_db()
    extend(closed, ada)
    runs = [make_run(closed, user, facts={"primary": True}) for user in (ben, cat)]
    closed.refresh_from_db()
    board = find_visible_board(sight_of(closed, ada))
    assert [run.is_late for run in runs] == [False, True]
    assert {standing.run.team.name: standing.run.is_late for standing in board.standings} == {
        "ben": False,
        "cat": False,
    }
    assert runs[0].pk in board.ranked_ids and runs[1].pk not in board.ranked_ids


@pytest.mark.parametrize("page", ["/benchmarks/closed/board/", "/benchmarks/closed/", "/"])
def test_the_team_reads_its_deadline_and_others_that_of_all(closed, ada, as_ben, as_cat, page):
    extend(closed, ada)
    assert "your team’s own" in words(page_at(as_ben, page)).casefold()
    assert "/benchmarks/closed/submit/" in page_at(as_ben, page)
    assert "your team’s own" not in words(page_at(as_cat, page)).casefold()


def test_the_form_for_runs_says_it(closed, ada, as_ben, as_cat):
    extend(closed, ada)
    assert "your team’s own deadline" in words(page_at(as_ben, "/benchmarks/closed/submit/"))
    assert "own deadline" not in words(page_at(as_cat, "/benchmarks/closed/submit/"))


def test_the_team_is_told_and_the_trail_keeps_the_reason(closed, ada, ben, cat, as_ada):
    extend(closed, ada)
    assert "ben has a later deadline on Closed track" in ben.notices.first().text
    assert not cat.notices.filter(text__contains="until").exists()
    assert AuditEvent.objects.get(act="extend").after["reason"] == "a fire in the server room"
    assert "changed the deadline of the team" in words(
        as_ada.get("/benchmarks/closed/desk/trail/").text
    )


@pytest.mark.parametrize(
    ("fields", "by", "said"),
    [
        ({"closes_at": None}, DAY, "has no deadline"),
        ({"released_at": "2026-01-01T00:00Z"}, DAY, "Scores are released"),
        ({"disclosure": "leaderboard"}, DAY, "appear at its deadline"),
        ({}, -DAY, "Choose a time after"),
    ],
)
def test_where_it_would_be_unfair_or_void_it_is_refused(closed, ada, fields, by, said):
    Track.objects.update(**fields)
    with pytest.raises(ActionError, match=said):
        extend(Track.objects.get(), ada, by=by)
    assert not Participation.objects.exclude(closes_at=None).exists()


def test_a_later_deadline_needs_a_reason_and_comes_before_the_release(closed, ada):
    Track.objects.update(disclosure="blind", release_at=timezone.now() + DAY / 2)
    closed.refresh_from_db()
    team = Team.objects.get(name="ben")
    for after, said in ((DAY, "before the planned release"), (DAY / 4, "Enter a reason")):
        with pytest.raises(ActionError, match=said):
            extend_deadline(closed, team, ada, timezone.now() + after, " ")


def test_an_organiser_gives_it_on_a_page_and_ends_it_there(closed, as_ada, ben):
    team = Team.objects.get(name="ben")
    form = {"team": team.pk, "closes_at": "2029-11-30T23:59", "zone": "UTC", "reason": "a fire"}
    assert as_ada.post(PAGE, form).status_code == 302
    assert "a fire" in as_ada.get(PAGE).text
    own = Participation.objects.get(team=team)
    assert own.closes_at.isoformat() == "2029-11-30T23:59:00+00:00"
    as_ada.post(PAGE, {"end": team.pk})
    own.refresh_from_db()
    assert own.closes_at is None
    assert "has the deadline of all teams on" in ben.notices.first().text


def test_a_form_with_a_time_before_the_deadline_says_so(closed, as_ada):
    team = Team.objects.get(name="ben")
    form = {"team": team.pk, "closes_at": "2020-01-01T00:00", "zone": "UTC", "reason": "a fire"}
    answer = as_ada.post(PAGE, form)
    assert answer.status_code == 422 and "Choose a time after the deadline" in answer.text


def test_a_release_says_whose_runs_are_not_due(closed, ada, as_ada):
    Track.objects.update(disclosure="blind")
    extend(Track.objects.get(), ada)
    assert "whose own deadline is" in words(as_ada.get("/benchmarks/closed/manage/release/").text)
