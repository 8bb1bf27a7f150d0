"""Users leave: what they can take along, and what stays of them."""

from pytest_django.asserts import assertContains

from leaderboard.actions import people
from leaderboard.models import ApiToken, AuditEvent, Membership, Run, User
from tests.benchmark_scene import BOTH, make_benchmark, send
from tests.builders import make_run

DELETE = "/account/delete/"


def test_a_user_takes_everything_along(track, ben, as_ben):
    run = make_run(track, ben)
    data = as_ben.get("/account/data.json").json()
    assert data["account"]["username"] == "ben"
    assert [row["id"] for row in data["runs"]] == [run.pk]
    assert data["teams"][0]["benchmark"] == "bread"


def test_an_export_has_nothing_of_others(track, ben, cat, as_cat):
    make_run(track, ben)
    assert b"ben" not in as_cat.get("/account/data.json").content


def test_runs_stay_with_the_team_and_the_name_goes(track, ben, as_ben, client):
    run = make_run(track, ben)
    assert as_ben.post(DELETE, {"name": "ben"})["Location"] == "/"
    assert Run.objects.get().team.name == run.team.name
    assert not User.objects.filter(username="ben").exists()
    assertContains(client.get("/benchmarks/bread/board/"), run.tag)


def test_a_deleted_account_signs_in_nowhere(track, ben, as_ben, client):
    ApiToken.objects.issue(ben, [], "ci")
    as_ben.post(DELETE, {"name": "ben"})
    assert not client.login(username="ben", password="ben-s-word")
    assert as_ben.get("/account/").status_code == 302
    assert not ApiToken.objects.exists()


def test_an_account_is_deleted_only_after_its_name(track, ben, as_ben):
    assertContains(as_ben.post(DELETE, {"name": "Ben"}), "Type the name", status_code=422)
    assert User.objects.filter(username="ben").exists()


def test_an_owner_hands_over_first(track, ada, as_ada):
    assertContains(as_ada.get(DELETE), "<li>benchmark <bdi>Bread track</bdi>")
    as_ada.post(DELETE, {"name": "ada"})
    assert User.objects.filter(username="ada").exists()


def test_the_only_leader_of_others_hands_over_first(track, ben, cat, as_ben):
    team = people.admit(track.benchmark, ben, people.JoinDetails(team_name="Crumbs"))
    people.admit(track.benchmark, cat, people.JoinDetails(team_code=team.invitation))
    page = as_ben.post(DELETE, {"name": "ben"})
    assertContains(page, '<bdi>Crumbs</bdi> of <a href="/benchmarks/bread/team/">', status_code=422)
    people.make_leader(team, ben, cat.pk)
    as_ben.post(DELETE, {"name": "ben"})
    assert list(team.memberships.values_list("user", "role")) == [(cat.pk, "leader")]


def test_who_joins_a_team_that_all_have_left_leads_it(track, ben, cat, as_ben):
    team = people.admit(track.benchmark, ben, people.JoinDetails(team_name="Crumbs"))
    as_ben.post(DELETE, {"name": "ben"})
    people.admit(track.benchmark, cat, people.JoinDetails(team_code=team.invitation))
    assert team.memberships.get().role == "leader"


def test_the_trail_forgets_the_name(track, ada, ben, as_ben):
    people.add_organiser(track.benchmark, ada, "ben")
    as_ben.post(DELETE, {"name": "ben"})
    assert AuditEvent.objects.filter(act="delete", target_kind="user").exists()
    assert "ben" not in str(list(AuditEvent.objects.values_list("before", "after")))
    assert not track.benchmark.co_organisers.exists() and not Membership.objects.exists()


def test_a_user_takes_systems_along_and_their_versions_stay(ada, ben, as_ben, client):
    send(make_benchmark(ada, ben), ben, BOTH, version="2026-11", commit="c0ffee")
    [version] = as_ben.get("/account/data.json").json()["systems"]
    assert (version["benchmark"], version["system"], version["commit"]) == (
        "baking",
        "oven",
        "c0ffee",
    )
    as_ben.post(DELETE, {"name": "ben"})
    assert not User.objects.filter(username="ben").exists()
    assertContains(client.get("/benchmarks/baking/systems/"), "oven")
