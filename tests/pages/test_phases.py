"""A phase is said in the same words on every page, in notices, email and the API."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from leaderboard.actions import tracks
from leaderboard.actions.uploads import NotAccepted
from leaderboard.display.phases import WORDS, find_phase, phase_of
from leaderboard.models import Notice, Track
from tests.builders import make_run, make_track
from tests.pages.reading import page_at, words

COMING, GONE, LATER = "2090-11-30T11:59:59Z", "2020-11-30T11:59:59Z", "2091-01-18T12:00:00Z"
PHASES = {
    "planned": (
        {"opens_at": COMING},
        "Not open yet: runs are accepted from 29 Nov 2090, 23:59 AoE.",
    ),
    "open": (
        {"closes_at": COMING},
        "Open: runs are accepted until 29 Nov 2090, 23:59 AoE.",
    ),
    "judging": (
        {"closes_at": GONE, "release_at": LATER},
        "Judging: scores appear on release, planned for 18 Jan 2091, 00:00 AoE.",
    ),
    "closed": (
        {"closes_at": GONE, "disclosure": "open"},
        "Closed: runs were accepted until 29 Nov 2020, 23:59 AoE.",
    ),
    "released": (
        {"closes_at": GONE, "released_at": "2021-01-18T12:00:00Z"},
        "Released: all scores have been visible since 18 Jan 2021, 00:00 AoE.",
    ),
}
ADDRESSES = {
    "the overview": "/benchmarks/bread/",
    "the board": "/benchmarks/bread/board/",
    "the data page": "/benchmarks/bread/data/",
    "the list of tracks": "/tracks/",
    "the front page": "/",
    "the desk": "/benchmarks/bread/desk/",
}


def make_track_in(collection, phase: str) -> Track:
    fields = {
        name: parse_datetime(value) if name.endswith("_at") else value
        for name, value in PHASES[phase][0].items()
    }
    return make_track(collection, **{"disclosure": "blind", **fields})


def without_distance(page: str) -> str:
    return re.sub(r", (in )?[\d,]+ days( ago)?", "", words(page))


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
@pytest.mark.parametrize("phase", PHASES)
def test_every_page_says_the_phase_in_the_same_words(collection, as_ada, phase, address):
    track = make_track_in(collection, phase)
    assert find_phase(track) == phase
    assert PHASES[phase][1] in without_distance(page_at(as_ada, address))


@pytest.mark.parametrize("phase", PHASES)
def test_the_api_says_the_phase_in_these_words(collection, client, phase):
    make_track_in(collection, phase)
    answer = client.get("/api/v1/tracks/bread").json()
    assert answer["phase"].startswith(PHASES[phase][1])


@pytest.mark.parametrize("phase", ["planned", "judging", "closed", "released"])
def test_a_run_at_the_wrong_time_is_rejected_in_these_words(collection, ben, phase):
    track = make_track_in(collection, phase)
    with pytest.raises(NotAccepted) as refusal:
        make_run(track, ben)
    assert refusal.value.message.startswith(PHASES[phase][1])


def test_the_submit_page_says_it_too(collection, ben, as_ben):
    track = make_track_in(collection, "open")
    make_run(track, ben)
    assert PHASES["open"][1] in without_distance(page_at(as_ben, "/benchmarks/bread/submit/"))


def test_a_notice_of_a_new_deadline_says_the_phase(blind_track, ada, ben):
    make_run(blind_track, ben)
    tracks.change_track(blind_track, ada, {"closes_at": parse_datetime(COMING)})
    told = Notice.objects.filter(user=ben).values_list("text", flat=True)[0]
    assert told == f"The deadline of Blind track has changed. {phase_of(blind_track)}"
    assert PHASES["open"][1] in told


def test_a_notice_of_a_release_says_the_phase(blind_track, ada, ben):
    make_run(blind_track, ben)
    Track.objects.update(closes_at=parse_datetime(GONE))
    tracks.release_track(Track.objects.get(), ada)
    told = Notice.objects.filter(user=ben).values_list("text", flat=True)[0]
    assert "are out. Released: all scores have been visible since" in told


@pytest.mark.parametrize("phase", ["planned", "judging", "released"])
def test_the_chip_has_the_word_of_the_phase(collection, client, phase):
    make_track_in(collection, phase)
    heading = re.search(r"<h1>.*?</h1>", page_at(client, "/benchmarks/bread/board/"), re.DOTALL)[0]
    assert WORDS[phase].lower() in words(heading)


def test_the_schedule_names_dates_by_the_same_words(collection, client):
    make_track_in(collection, "released")
    schedule = page_at(client, "/benchmarks/bread/").split('class="timeline"')[1]
    assert [word in schedule for word in ("Closes", "Judging", "Released")] == [True] * 3


def test_without_judgments_an_open_board_is_in_judging_after_its_deadline(collection, client):
    track = make_track_in(collection, "closed")
    Track.objects.update(judgment_set=None)
    track.refresh_from_db()
    assert str(phase_of(track)).startswith("Judging: scores appear once judgments exist.")


def test_late_runs_are_announced_as_late(collection):
    track = make_track_in(collection, "closed")
    track.late_runs = "mark"
    assert "Runs submitted now are marked late." in str(phase_of(track))


def test_in_the_minutes_of_grace_the_sentence_says_so(collection):
    track = make_track_in(collection, "closed")
    track.grace_minutes = 30
    assert "count as on time for 30 minutes after that" in str(phase_of(track, track.closes_at))


def test_days_that_have_begun_say_when_they_end(collection, as_ada):
    track = make_track(collection, disclosure="blind")
    days = {"closes_at": timezone.now() - timedelta(days=3)}
    Track.objects.update(**days, release_at=timezone.now() + timedelta(days=20))
    schedule = page_at(as_ada, f"/benchmarks/{track.slug}/").split('class="timeline"')[1]
    assert "ends in" in words(schedule.split("Planned release")[0])
