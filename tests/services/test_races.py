"""Quota and deadline hold when everybody sends at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.services import people
from tests.services.machines import Site
from tests.services.people import Person
from tests.services.racing import (
    AT_ONCE,
    GRANTED,
    QUOTA,
    bring_collection,
    broken_promises,
    granted_in_between,
    open_track,
    track_that_closes,
    track_with_quota,
)

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]


def first_by_day(*teams: str) -> list[Any]:
    """One team races at every change, the others by night."""
    return [teams[0], *(pytest.param(team, marks=pytest.mark.night) for team in teams[1:])]


TEAMS = first_by_day("race-ben", "race-cat", "race-dan")
# With the pairs of each these make fifty.
TWIN_TEAMS = first_by_day("twin-ann", "twin-ben", "twin-cat", "twin-dan", "twin-eve")
# Teams of their own: what a token may write in a minute is soon used up by races.
LATE_TEAMS = first_by_day("late-ben", "late-cat", "late-dan")


@pytest.fixture(scope="session")
def secrets() -> dict[tuple[str, str], str]:
    return {}


@pytest.fixture
def token_of(site: Site, secrets: dict[tuple[str, str], str]) -> Callable[..., str]:
    """A token on this site, the same for every test."""

    def find(name: str, *words: str) -> str:
        if (site.url, name) not in secrets:
            secrets[site.url, name] = site.manage("create_token", name, *words)
        return secrets[site.url, name]

    return find


@pytest.fixture(scope="session")
def organisers() -> dict[str, Person]:
    return {}


@pytest.fixture
def ada(site: Site, organisers: dict[str, Person]) -> Person:
    """An organiser at a browser, the same for every test of a site."""
    if site.url not in organisers:
        organisers[site.url] = people.organiser(site, "race-ada")
        bring_collection(site, organisers[site.url].token)
    return organisers[site.url]


@pytest.fixture
def organiser(ada: Person) -> str:
    """Ada's token; the collection is there."""
    return ada.token


@pytest.mark.parametrize("team", TEAMS)
def test_of_twenty_runs_at_once_the_quota_is_taken_and_no_more(site, organiser, token_of, team):
    track = track_with_quota(site, organiser, f"quota-{team}")
    sent = track.sent_at_once(token_of(team))
    assert sorted(each.status for each in sent) == [201] * QUOTA + [403] * (AT_ONCE - QUOTA)
    assert {each.code for each in sent if not each.accepted} == {"E_QUOTA"}
    assert set(track.received(token_of(team))) == {each.run for each in sent if each.accepted}


@pytest.mark.parametrize("team", TEAMS)
def test_a_grant_among_twenty_uploads_counts_once_and_no_more(site, ada, token_of, team):
    token = token_of(team)
    track = track_with_quota(site, ada.token, f"grant-{team}", QUOTA - GRANTED)
    site.ask(f"/benchmarks/{track.slug}/join", token, {})
    during, after = granted_in_between(track, ada, token)
    accepted = {each.run for each in (*during, *after) if each.accepted}
    assert QUOTA - GRANTED <= sum(each.accepted for each in during) <= QUOTA
    assert len(accepted) == QUOTA and accepted == set(track.received(token))


@pytest.mark.parametrize("team", TWIN_TEAMS)
def test_of_two_equal_runs_at_once_the_second_to_be_published_is_warned(
    site, organiser, token_of, team
):
    track, token = open_track(site, organiser, f"pairs-{team}"), token_of(team)
    site.pause_workers()
    pairs = track.twins_sent(token)
    site.continue_workers()
    named = [[track.twins_named_by(token, run) for run in pair] for pair in pairs]
    expected = [([[], [one]], [[other], []]) for one, other in pairs]
    assert all(found in either for found, either in zip(named, expected, strict=True)), named


@pytest.mark.parametrize("team", LATE_TEAMS)
def test_around_the_deadline_the_last_byte_decides(site, organiser, token_of, team):
    token = token_of(team)
    track = track_that_closes(site, organiser, f"deadline-{team}")
    sent = track.sent_around_the_deadline(token)
    assert {each.code for each in sent if not each.accepted} == {"E_CLOSED"}
    assert list(broken_promises(track, sent, track.received(token))) == []
