"""What the groups of an institution's provider give: the right to organise, and teams."""

from __future__ import annotations

import logging
from collections.abc import Collection

from django.conf import settings
from django.db import transaction

from leaderboard.actions import people
from leaderboard.actions.administration import let_organise, stop_organising
from leaderboard.actions.conflicts import lock_people
from leaderboard.models import Benchmark, User
from leaderboard.models.people import team_key

log = logging.getLogger(__name__)

ORGANISE = "organise"
REASON = "No group of single sign-on gives it."


@transaction.atomic
def follow_groups(user: User, groups: Collection[str]) -> None:
    """Give a user what PROXY_GROUPS lists for these groups, and take what it lists for others."""
    given: dict[str, list[str]] = {}
    for group, gift in settings.PROXY_GROUPS:
        given.setdefault(gift, []).append(group)
    if not given:
        return
    lock_people([user.pk])
    wanted = [gift for gift, among in given.items() if not set(among).isdisjoint(groups)]
    if ORGANISE in given and ORGANISE in wanted:
        let_organise(user, None)
    elif ORGANISE in given:
        stop_organising(user, None, REASON)
    places = [gift.split("/", 1) for gift in given if gift != ORGANISE]
    for slug in dict.fromkeys(slug for slug, _ in places):
        teams = [team for other, team in places if other == slug]
        _follow_teams(user, slug, teams, [team for team in teams if f"{slug}/{team}" in wanted])


def _follow_teams(user: User, slug: str, listed: list[str], wanted: list[str]) -> None:
    """Place a user in the first wanted team of a benchmark; only listed teams are left again."""
    benchmark = Benchmark.objects.filter(slug=slug).first()
    if benchmark is None:
        log.warning("PROXY_GROUPS names the benchmark %s, which does not exist", slug)
        return
    own = benchmark.team_of(user)
    try:
        if own is not None and own.key in map(team_key, listed):
            if own.key in map(team_key, wanted):
                return
            people.leave_team(benchmark, user)
            own = None
        if own is None and wanted:
            people.place_in_team(benchmark, user, wanted[0])
    except people.JoinError as reason:
        log.warning("%s stays where they are in %s: %s", user, benchmark, reason)
