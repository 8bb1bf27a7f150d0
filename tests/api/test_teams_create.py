"""POST /api/v1/benchmarks/{slug}/teams, and what organisers send for these teams"""

from __future__ import annotations

import pytest

from leaderboard.models import ApiToken, AuditEvent, Run, Team, User
from leaderboard.pages.wording.trail import describe_events
from tests.api.conftest import Program
from tests.builders import OTHER_RUN, RUN, make_user

TEAMS = "/api/v1/benchmarks/bread/teams"


def test_one_call_makes_a_team_that_can_submit_with_its_token(track, ada_api, anybody_api):
    made = ada_api.post(TEAMS, {"name": "Crumbs"})
    assert made.status_code == 201
    assert (made.json()["team"], made.json()["user"]) == ("Crumbs", "bread-crumbs")
    anybody_api.headers = {"Authorization": f"Bearer {made.json()['token']}"}
    assert anybody_api.send_run(RUN).status_code == 201
    assert Run.objects.get().team.name == "Crumbs"
    assert not Run.objects.get().submitted_by.has_usable_password()


def test_the_token_of_a_team_neither_organises_nor_signs_in(track, ada_api):
    ada_api.post(TEAMS, {"name": "Crumbs"})
    token = ApiToken.objects.get(user__username="bread-crumbs")
    assert (token.scopes, token.user.can_organise) == (["read", "submit"], False)


def test_a_new_team_never_gets_the_account_of_somebody(track, ada_api, ben):
    make_user("Bread-Crumbs")
    assert ada_api.post(TEAMS, {"name": "Crumbs"}).json()["user"] == "bread-crumbs-2"
    assert ApiToken.objects.filter(user__username="Bread-Crumbs").count() == 0


@pytest.mark.parametrize("name", ["", "organisers", "CRUMBS", "a\u202eb", "x" * 81, " "])
def test_a_name_that_is_taken_or_none_leaves_nothing(track, ada_api, name):
    ada_api.post(TEAMS, {"name": "Crumbs"})
    answer = ada_api.post(TEAMS, {"name": name})
    assert (answer.status_code, answer.json()["message"][:5]) == (422, "name:")
    assert (Team.objects.count(), User.objects.count()) == (1, 2)


def test_the_trail_says_who_created_a_team(track, ada, ada_api):
    ada_api.post(TEAMS, {"name": "Crumbs"})
    told = describe_events(AuditEvent.objects.filter(act="create"))
    assert [(each.event.actor, each.words, each.name) for each in told] == [
        (ada, "created the team", "Crumbs")
    ]


def test_a_team_without_latin_letters_has_an_account_too(track, ada_api):
    users = [ada_api.post(TEAMS, {"name": name}).json()["user"] for name in ("麦", "粟")]
    assert users == ["bread-team", "bread-team-2"]


def test_organisers_send_as_many_runs_to_their_track_as_they_like(track, ada_api, settings):
    settings.API_WRITES_PER_MINUTE = 1
    for text in (RUN, OTHER_RUN, RUN.replace("d9", "d10")):
        assert ada_api.send_run(text).status_code == 201
    assert ada_api.post(TEAMS, {"name": "Crumbs"}).status_code == 201
    assert ada_api.post(TEAMS, {"name": "Crusts"}).status_code == 429


def test_the_runs_of_everybody_else_count_as_writes(track, ada, ben_api, settings):
    settings.API_WRITES_PER_MINUTE = 1
    eve = Program(make_user("eve", can_organise=True))
    submits = Program(ada, ["submit"])
    for program in (ben_api, eve, submits):
        assert program.send_run(RUN).status_code in (200, 201)
        assert program.send_run(OTHER_RUN).status_code == 429
