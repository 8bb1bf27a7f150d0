"""Taking part: by approval, with terms, and in a team of several."""

from __future__ import annotations

import pytest

from leaderboard.actions import people
from leaderboard.actions.uploads import NotAccepted
from leaderboard.models import Benchmark, JoinRequest, Notice, Team, Track
from leaderboard.models.people import team_key
from tests.builders import make_run, make_track

pytestmark = pytest.mark.long
PEOPLE = "/benchmarks/bread/manage/people/"


@pytest.fixture
def by_approval(collection) -> Track:
    return make_track(collection, joining="approval")


@pytest.fixture
def with_terms(collection) -> Track:
    return make_track(collection, terms="Runs are published after the release.")


@pytest.fixture
def crumbs(track, ben) -> Team:
    return people.admit(track.benchmark, ben, people.JoinDetails(team_name="Crumbs"))


def approve(client, track: Track, **how: str) -> None:
    asked = track.benchmark.join_requests.get()
    client.post(f"/benchmarks/bread/manage/requests/{asked.pk}/", how)


def test_who_asks_waits_for_the_organisers(by_approval, as_ben):
    page = as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"}, follow=True)
    assert "Request pending" in page.content.decode()
    assert not Team.objects.filter(name="Crumbs").exists()


def test_who_joins_reads_the_name_of_the_team(track, as_ben):
    page = as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"}, follow=True)
    assert "You are in team Crumbs." in page.text


def test_organisers_are_told_and_approve_with_one_click(by_approval, ada, as_ada, as_ben, ben):
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"})
    assert Notice.objects.get(user=ada).text == "ben asked to join Bread track as Crumbs."
    approve(as_ada, by_approval, approve="Crumbs")
    assert by_approval.team_of(ben).name == "Crumbs"
    assert Notice.objects.get(user=ben).text == "You joined Bread track."


def test_who_is_declined_is_told(by_approval, as_ada, as_ben, ben):
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"})
    approve(as_ada, by_approval)
    assert by_approval.team_of(ben) is None
    assert "Request declined" in as_ben.get("/benchmarks/bread/join/").content.decode()


def test_nobody_uploads_past_the_approval(by_approval, ben):
    with pytest.raises(NotAccepted, match="organisers approve teams"):
        make_run(by_approval, ben)


def test_what_was_declined_is_not_approved_later(by_approval, as_ada, as_ben, ben):
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"})
    approve(as_ada, by_approval)
    approve(as_ada, by_approval, approve="Crumbs")
    assert by_approval.team_of(ben) is None


def test_the_invitation_link_needs_no_approval(by_approval, as_ben, ben):
    as_ben.post(
        f"/benchmarks/bread/join/?invitation={by_approval.benchmark.invitation}",
        {"team_name": "Crumbs"},
    )
    assert by_approval.team_of(ben).name == "Crumbs"


@pytest.mark.parametrize("answered", [False, True], ids=["waiting", "declined"])
def test_a_link_lets_in_who_waits_or_was_declined(by_approval, as_ada, as_ben, ben, answered):
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"})
    if answered:
        approve(as_ada, by_approval)
    address = f"/benchmarks/bread/join/?invitation={by_approval.benchmark.invitation}"
    assert 'name="team_name"' in as_ben.get(address).text
    as_ben.post(address, {"team_name": "Crumbs"})
    assert by_approval.team_of(ben).name == "Crumbs"
    assert "asks to join as" not in as_ada.get("/benchmarks/bread/desk/").text


def test_who_was_let_in_and_left_may_ask_again(by_approval, ada, as_ada, as_ben, ben):
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"})
    approve(as_ada, by_approval, approve="Crumbs")
    ben.memberships.all().delete()
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crusts"})
    assert "Request pending" in as_ben.get("/benchmarks/bread/join/").text
    assert Notice.objects.filter(user=ada).first().text.endswith("as Crusts.")
    approve(as_ada, by_approval, approve="Crusts")
    assert by_approval.team_of(ben).name == "Crusts"


def test_a_name_that_is_taken_is_not_asked_for(by_approval, as_ben, cat):
    people.get_or_create_team(by_approval.benchmark, "Crumbs")
    answer = as_ben.post("/benchmarks/bread/join/", {"team_name": "CRUMBS"})
    assert answer.status_code == 422
    assert "The team name CRUMBS is taken. Choose another." in answer.text
    assert not by_approval.benchmark.join_requests.exists()


def test_who_waits_may_ask_for_another_name(by_approval, ada, as_ada, as_ben, ben):
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"})
    assert 'value="Crumbs"' in as_ben.get("/benchmarks/bread/join/").text
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crusts"})
    approve(as_ada, by_approval, approve="Crusts")
    assert by_approval.team_of(ben).name == "Crusts"
    assert Notice.objects.filter(user=ada).count() == 1


def test_organisers_approve_the_name_that_they_read(by_approval, as_ada, as_ben, ben):
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"})
    assert 'name="approve" value="Crumbs"' in as_ada.get(PEOPLE).text
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crusts"})
    approve(as_ada, by_approval, approve="Crumbs")
    assert "already answered or now has another name." in as_ada.get(PEOPLE).text
    assert by_approval.team_of(ben) is None


def test_who_asked_for_a_name_taken_since_is_told(by_approval, ada, as_ada, as_ben, ben):
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"})
    people.get_or_create_team(by_approval.benchmark, "crumbs")
    approve(as_ada, by_approval, approve="Crumbs")
    assert "We asked ben to choose another." in as_ada.get(PEOPLE).text
    told = Notice.objects.get(user=ben)
    assert told.text == "The name Crumbs is taken in Bread track. Choose another."
    assert "The name <bdi>Crumbs</bdi> is taken. Choose another." in as_ben.get(told.address).text


def test_organisers_are_told_of_the_name_instead_of_a_taken_one(by_approval, ada, as_ben):
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"})
    people.get_or_create_team(by_approval.benchmark, "Crumbs")
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crusts"})
    assert Notice.objects.filter(user=ada).first().text.endswith("as Crusts.")


def test_who_was_declined_stays_so_under_another_name(by_approval, as_ada, as_ben):
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"})
    approve(as_ada, by_approval)
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crusts"})
    assert by_approval.benchmark.join_requests.get().state == "declined"


def test_terms_are_read_before_one_takes_part(with_terms, as_ben, ben):
    page = as_ben.get("/benchmarks/bread/join/").content.decode()
    assert "Runs are published after the release." in page
    assert as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs"}).status_code == 422
    as_ben.post("/benchmarks/bread/join/", {"team_name": "Crumbs", "accepts_terms": "on"})
    assert ben.memberships.get().accepted_terms_at is not None


def test_who_is_approved_has_accepted_the_terms_when_asking(by_approval, ada, ben):
    by_approval.benchmark.terms = "Runs are published."
    by_approval.benchmark.save()
    asked = people.request_to_join(
        by_approval.benchmark, ben, people.JoinDetails(accepts_terms=True)
    )
    people.approve_request(asked, ada)
    accepted = ben.memberships.get().accepted_terms_at
    assert accepted == asked.accepted_terms_at is not None


def test_a_member_asks_for_no_second_team(by_approval, ada, ben, as_ben):
    people.place_in_team(by_approval.benchmark, ben, "Rye")
    assert as_ben.post("/benchmarks/bread/join/", {"team_name": "Spelt"}).status_code == 422
    assert not JoinRequest.objects.exists()


def test_nobody_asks_where_no_teams_are_approved(track, ben):
    with pytest.raises(people.NotInvitedError, match="approves no teams now"):
        people.request_to_join(track.benchmark, ben, people.JoinDetails())


def test_nobody_has_accepted_terms_that_came_later(by_approval, ada, ben):
    asked = people.request_to_join(by_approval.benchmark, ben, people.JoinDetails())
    Benchmark.objects.update(terms="Runs are published.")
    people.approve_request(JoinRequest.objects.get(pk=asked.pk), ada)
    assert ben.memberships.get().accepted_terms_at is None


def test_nobody_uploads_past_the_terms(with_terms, ben):
    with pytest.raises(NotAccepted, match="First accept the terms on the page where you join"):
        make_run(with_terms, ben)


def test_a_mate_joins_by_the_link_of_the_team(crumbs, track, cat, as_cat):
    as_cat.post(f"/benchmarks/bread/join/?team={crumbs.invitation}", {"team_name": ""})
    assert track.team_of(cat) == crumbs
    assert cat.memberships.get().role == "member"


def test_mates_share_their_runs(crumbs, track, ben, cat, as_cat):
    people.admit(track.benchmark, cat, people.JoinDetails(team_code=crumbs.invitation))
    run = make_run(track, ben)
    assert run.pk in as_cat.get("/benchmarks/bread/runs/").content.decode()


def test_a_leader_makes_others_leaders_and_then_leaves(crumbs, track, ben, cat, as_ben):
    people.admit(track.benchmark, cat, people.JoinDetails(team_code=crumbs.invitation))
    as_ben.post("/benchmarks/bread/team/change/", {"act": "leave"})
    assert track.team_of(ben) == crumbs
    as_ben.post("/benchmarks/bread/team/change/", {"act": "lead", "user": cat.pk})
    as_ben.post("/benchmarks/bread/team/change/", {"act": "leave"})
    assert track.team_of(ben) is None and track.team_of(cat) == crumbs


def test_members_take_nobody_out(crumbs, track, ben, cat, as_cat):
    people.admit(track.benchmark, cat, people.JoinDetails(team_code=crumbs.invitation))
    answer = as_cat.post("/benchmarks/bread/team/change/", {"act": "remove", "user": ben.pk})
    assert answer.status_code == 404 and track.team_of(ben) == crumbs


def test_who_was_taken_out_does_not_come_back_by_the_link(crumbs, track, ben, cat, as_ben, as_cat):
    people.admit(track.benchmark, cat, people.JoinDetails(team_code=crumbs.invitation))
    as_ben.post("/benchmarks/bread/team/change/", {"act": "remove", "user": cat.pk})
    as_cat.post(f"/benchmarks/bread/join/?team={crumbs.invitation}", {"team_name": ""})
    assert track.team_of(cat) != crumbs


def test_another_link_of_a_team_closes_the_one_before(crumbs, track, cat, as_ben):
    page = as_ben.post("/benchmarks/bread/team/link/", follow=True).text
    now = Team.objects.get(pk=crumbs.pk).invitation
    assert people.find_inviting_team(track.benchmark, crumbs.invitation) is None
    assert f"?team={now}" in page and people.find_inviting_team(track.benchmark, now) == crumbs


def test_members_make_no_link(crumbs, track, cat, as_cat):
    people.admit(track.benchmark, cat, people.JoinDetails(team_code=crumbs.invitation))
    assert "New link" not in as_cat.get("/benchmarks/bread/team/").text
    assert as_cat.post("/benchmarks/bread/team/link/").status_code == 404


def test_another_invitation_link_closes_the_one_before(by_approval, as_ada, as_ben, ben):
    before = by_approval.benchmark.invitation
    page = as_ada.post("/benchmarks/bread/manage/invitation/", follow=True).text
    now = Track.objects.get().benchmark.invitation
    assert f"?invitation={now}" in page and now != before
    as_ben.post(f"/benchmarks/bread/join/?invitation={before}", {"team_name": "Crumbs"})
    assert by_approval.team_of(ben) is None


def test_a_link_that_nobody_needs_is_not_renewed(track, as_ada):
    assert "New link" not in as_ada.get(PEOPLE).text
    page = as_ada.post("/benchmarks/bread/manage/invitation/", follow=True).text
    assert "Anyone can join, so the link is no secret" in page
    assert Track.objects.get().benchmark.invitation == track.benchmark.invitation


def test_organisers_read_who_made_a_link(crumbs, as_ada, as_ben):
    as_ben.post("/benchmarks/bread/team/link/")
    Benchmark.objects.update(joining="invitation")
    as_ada.post("/benchmarks/bread/manage/invitation/")
    trail = as_ada.get("/benchmarks/bread/desk/trail/").text
    assert "renewed the invitation link of the team" in trail
    assert "renewed the invitation link of the benchmark" in trail


@pytest.mark.parametrize("name", ["CRUMBS", "Ϲrumbs", "Сrumbs", "Crumbѕ", "Ｃrumbs", "crumbs  "])
def test_no_name_passes_for_another(crumbs, track, cat, name):
    with pytest.raises(people.JoinError, match=r"The team name .* is taken"):
        people.admit(track.benchmark, cat, people.JoinDetails(team_name=name))


UNSEEN = "\u00ad\u034f\u115f\u1160\u17b4\u180b\u200b\u200d\u2060\u2800\u3164\ufe0f\uffa0\U000e0100"


@pytest.mark.parametrize("sign", UNSEEN, ids=ascii)
def test_no_name_passes_for_another_by_a_sign_that_nobody_sees(crumbs, track, cat, sign):
    for name in (f"Crumbs{sign}", f"Cr{sign}umbs", sign):
        with pytest.raises(people.JoinError, match="printable characters"):
            people.admit(track.benchmark, cat, people.JoinDetails(team_name=name))


@pytest.mark.parametrize("name", ["Bäckerei № 7", "李白", "빵집", "रोटी", "نان", "Krümel 🍞"])
def test_a_name_may_be_of_any_script(track, ben, name):
    assert people.admit(track.benchmark, ben, people.JoinDetails(team_name=name)).name == name


@pytest.mark.parametrize("name", ["TU‑AI", "TU–Al", "TU-A1", "tu-ai"])
def test_no_name_passes_for_another_by_its_dash_or_capital_i(track, ben, cat, name):
    people.admit(track.benchmark, ben, people.JoinDetails(team_name="TU-AI"))
    with pytest.raises(people.JoinError, match=r"The team name .* is taken"):
        people.admit(track.benchmark, cat, people.JoinDetails(team_name=name))


@pytest.mark.parametrize("name", ["organisers", "0rganisers", "OrganIsers", "organlsers"])
def test_nobody_passes_for_the_organisers(track, cat, name):
    with pytest.raises(people.JoinError, match="is reserved"):
        people.admit(track.benchmark, cat, people.JoinDetails(team_name=name))


def test_names_in_other_scripts_are_names():
    assert team_key("李白") != team_key("杜甫") and team_key("Київ") != team_key("Kyiv")


def test_where_teams_are_approved_a_stranger_asks_before_sending_a_run(by_approval, as_cat):
    answer = as_cat.get("/benchmarks/bread/submit/")
    assert answer.status_code == 302 and answer["Location"] == "/benchmarks/bread/join/"


def test_terms_are_read_before_a_run_is_sent(with_terms, as_cat):
    assert as_cat.get("/benchmarks/bread/submit/")["Location"] == "/benchmarks/bread/join/"


def test_everybody_can_read_the_terms(with_terms, client):
    page = client.get("/benchmarks/bread/").content.decode()
    assert "Runs are published after the release." in page


def test_where_everybody_may_take_part_the_first_run_is_enough(track, as_cat):
    assert as_cat.get("/benchmarks/bread/submit/").status_code == 200
