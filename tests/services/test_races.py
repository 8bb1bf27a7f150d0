"""Quota and deadline hold when everybody sends at the same moment."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.services.machines import Site
from tests.services.racing import (
    AT_ONCE,
    QUOTA,
    bring_collection,
    broken_promises,
    track_that_closes,
    track_with_quota,
)

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]


TEAMS = ["race-ben", "race-cat", "race-dan"]


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


@pytest.fixture
def organiser(site: Site, token_of: Callable[..., str]) -> str:
    """Ada's token; the collection is there."""
    token = token_of("ada", "--organiser")
    bring_collection(site, token)
    return token


@pytest.mark.parametrize("team", TEAMS)
def test_of_twenty_runs_at_once_the_quota_is_taken_and_no_more(site, organiser, token_of, team):
    track = track_with_quota(site, organiser, f"quota-{team}")
    sent = track.sent_at_once(token_of(team))
    assert sorted(each.status for each in sent) == [201] * QUOTA + [403] * (AT_ONCE - QUOTA)
    assert {each.code for each in sent if not each.accepted} == {"E_QUOTA"}
    assert set(track.received(token_of(team))) == {each.run for each in sent if each.accepted}


@pytest.mark.parametrize("team", TEAMS)
def test_around_the_deadline_the_last_byte_decides(site, organiser, token_of, team):
    token = token_of(team)
    track = track_that_closes(site, organiser, f"deadline-{team}")
    sent = track.sent_around_the_deadline(token)
    assert {each.code for each in sent if not each.accepted} == {"E_CLOSED"}
    assert list(broken_promises(track, sent, track.received(token))) == []
