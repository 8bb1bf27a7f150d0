"""Organisers write to groups of people, and invite others by address."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.actions import people, registrations
from leaderboard.boards.message_groups import find_groups
from leaderboard.boards.sent_messages import describe_sending
from leaderboard.models import (
    Digest,
    Invitation,
    Job,
    Mail,
    Membership,
    Message,
    Notice,
    StoppedAddress,
)
from tests.benchmark_scene import make_benchmark
from tests.builders import make_assessment, make_pool, make_run, make_user, signed_in, work
from tests.notifications.test_email import bodies, postman
from tests.pages.reading import words

__all__ = ["postman"]
pytestmark = pytest.mark.long

MESSAGES = "/benchmarks/bread/manage/messages/"
INVITATIONS = "/benchmarks/bread/manage/invitations/"


@pytest.fixture
def teams(track, ben, cat):
    """Ben has a run, and Cat has none."""
    make_run(track, ben)
    return people.admit(track.benchmark, cat)


def written(*groups: str, **more: str) -> dict[str, object]:
    return {"groups": groups, "subject": "Soon", "text": "Runs close *soon*.", **more}


def invite(client, addresses: str, role: str = "team"):
    return client.post(INVITATIONS, {"addresses": addresses, "role": role})


def test_a_preview_counts_people_and_sends_nothing(teams, as_ada):
    page = as_ada.post(MESSAGES, written("teams", act="preview")).text
    assert "<em>soon</em>" in page and "2 people in 2 teams get a notice" in words(page)
    assert "Send to 2 people" in words(page) and not Message.objects.exists()


def test_teams_without_a_run_get_a_message_and_others_do_not(teams, ben, cat, as_ada, as_cat):
    as_ada.post(MESSAGES, written("without_run", act="send"))
    notice = Notice.objects.exclude(message=None).get()
    assert (notice.user, notice.text) == (cat, "Bread track: Soon")
    assert "<em>soon</em>" in as_cat.get(notice.address).text
    assert signed_in(ben).get(notice.address).status_code == 404


def test_organisers_see_how_the_emails_of_a_message_ended(teams, as_ada):
    as_ada.post(MESSAGES, written("teams", act="send"))
    first, second = Notice.objects.exclude(message=None).order_by("user__username")
    for state in ("delivered", "waiting", "sending"):
        Mail.objects.create(notice=first, state=state)
    Mail.objects.create(notice=second, state="given up", answer="550 no such user")
    digest = Digest.objects.create(user=second.user, due_at=timezone.now(), state="delivered")
    Notice.objects.filter(pk=second.pk).update(digest=digest)
    page = words(as_ada.get(first.address).text)
    assert "2 done, 2 waiting, 1 not delivered" in page and "550 no such user" in page


@pytest.mark.parametrize("state", ["delivered", "waiting", "given up"])
def test_a_message_has_the_emails_of_its_own_notices_alone(teams, as_ada, state):
    for group in ("teams", "without_run"):
        as_ada.post(MESSAGES, written(group, act="send"))
    second, first = Message.objects.order_by("-pk")
    Mail.objects.create(notice=first.notices.first(), state=state)
    other = Digest.objects.create(user=first.created_by, due_at=timezone.now())
    assert describe_sending(first).has_emails and not describe_sending(second).has_emails
    assert other.notices.count() == describe_sending(second).waiting == 0


def test_who_is_in_two_groups_gets_a_message_once(teams, cat, as_ada):
    as_ada.post(MESSAGES, written("teams", "without_run", act="send"))
    assert Notice.objects.filter(user=cat).exclude(message=None).count() == 1


def test_a_form_that_is_sent_twice_writes_once(teams, as_ada):
    for _ in range(2):
        as_ada.post(MESSAGES, written("teams", act="send", once="a"))
    assert Message.objects.count() == 1


def test_registered_teams_that_have_not_signed_are_a_group(track, ada, ben, as_ada):
    benchmark = track.benchmark
    registrations.ask_teams(benchmark, ada, ["affiliation"], "")
    answers = {"affiliation": "Oven"}
    said = registrations.RegistrationDetails(person="Ben Ode", answers=answers)
    people.admit(benchmark, ben, people.JoinDetails(registration=said))
    registrations.write_agreement(benchmark, ada, "Do not pass it on.")
    as_ada.post(MESSAGES, written("not_signed", act="send"))
    assert Message.objects.get().groups == ["Registered teams that have not signed"]
    assert Notice.objects.filter(user=ben).exclude(message=None).exists()


def test_assessors_behind_have_judged_less_than_the_time_that_is_over(track, ben, ada, as_ada):
    dan, pool = make_user("dan"), make_pool(track, ada, [make_run(track, ben)])
    assessment = make_assessment(pool, ada, dan)
    now = timezone.now()
    dates = {"opened_at": now - timedelta(days=9), "due_on": (now + timedelta(days=1)).date()}
    type(assessment).objects.update(**dates)
    as_ada.post(MESSAGES, written("behind", act="send"))
    assert Notice.objects.exclude(message=None).get().user == dan


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (written("behind", act="send"), "No one is in these groups now."),
        (written(act="send"), "Choose whom to write to."),
        (written("teams", act="send", text="[" * 9000), "marks of Markdown"),
        (written("teams", act="send", text="|a" * 70 + "\n|-" * 900), "tables of over"),
        (written("teams", act="send", subject="x" * 121), "at most 120 characters"),
    ],
)
def test_bad_messages_are_refused_and_nothing_is_sent(teams, as_ada, form, said):
    answer = as_ada.post(MESSAGES, form)
    assert answer.status_code == 422 and said in words(answer.text)
    assert not Message.objects.exists()


def test_a_line_end_in_a_subject_begins_no_header(teams, as_ada):
    as_ada.post(MESSAGES, written("teams", act="send", subject="Soon\r\nBcc: x@example.org"))
    assert Message.objects.get().subject == "Soon Bcc: x@example.org"


def test_an_invitation_says_by_whom_to_what_and_works_once(postman, track, client, as_ada):
    dan = make_user("dan")
    track.benchmark.joining = "invitation"
    track.benchmark.save()
    invite(as_ada, "Fay@example.org")
    work()
    (body,) = bodies(postman)
    assert "ada invites you to take part in Bread track." in body
    link = f"/benchmarks/bread/join/?invitation={Invitation.objects.get().code}"
    assert f"https://board.example.org{link}" in body.replace("=3D", "=").replace("=\r\n", "")
    assert "You are invited by ada to take part in Bread track" in words(client.get(link).text)
    signed_in(dan).post(link, {"team_name": "Fay"})
    assert Membership.objects.get(user=dan).team.name == "Fay"
    assert "This link no longer works." in words(client.get(link).text)
    assert "accepted" in as_ada.get(INVITATIONS).text


def test_an_assessor_is_invited_by_address(postman, track, ben, ada, client, as_ada):
    dan, pool = make_user("dan"), make_pool(track, ada, [make_run(track, ben)])
    assessment = make_assessment(pool, ada, make_user("eve"))
    invite(as_ada, "fay@example.org", f"{assessment.pk}")
    link = f"/judging/join/{Invitation.objects.get().code}/"
    assert "You are invited by ada to judge" in words(client.get(link).text)
    signed_in(dan).post(link)
    assert assessment.assessors.filter(user=dan).exists()
    assert client.get(link).status_code == 410
    assert signed_in(make_user("fay")).post(link).status_code == 410


def test_a_withdrawn_invitation_leads_nowhere_and_is_not_sent(postman, track, client, as_ada):
    invite(as_ada, "fay@example.org")
    invitation = Invitation.objects.get()
    as_ada.post(f"{INVITATIONS}{invitation.pk}/withdraw/")
    work()
    assert postman.taken == []
    page = client.get(f"/benchmarks/bread/join/?invitation={invitation.code}").text
    assert "invited by" not in words(page)


def test_an_address_is_invited_once(postman, track, as_ada):
    invite(as_ada, "fay@example.org")
    page = as_ada.post(
        INVITATIONS, {"addresses": "FAY@example.org, gus@example.org", "role": "team"}, follow=True
    )
    assert "1 invitation on the way. 1 address was invited before." in words(page.text)
    work()
    assert len(postman.taken) == 2


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        ("fay@example.org\r\nBcc: gus@example.org", "“bcc: gus@example.org” is not an email"),
        ("Fay <fay@example.org>", "is not an email address. No one was invited."),
        ("gone@example.org", "gets no email: the email server rejected it"),
        ("\n".join(f"a{n}@example.org" for n in range(3000)), "These are 3,000 addresses."),
    ],
)
def test_bad_addresses_are_refused_and_nobody_is_invited(postman, track, as_ada, addresses, said):
    StoppedAddress.objects.create(email="gone@example.org", reason="refused")
    answer = invite(as_ada, addresses)
    assert answer.status_code == 422 and said in words(answer.text)
    assert not Invitation.objects.exists() and not Job.objects.filter(kind="invite").exists()


def test_a_hundred_thousand_addresses_are_too_large_a_request(postman, track, as_ada):
    answer = invite(as_ada, "\n".join(f"a{n}@example.org" for n in range(100_000)))
    assert answer.status_code == 413 and not Invitation.objects.exists()


def test_a_site_without_email_invites_nobody_by_address(track, as_ada):
    assert "This site sends no email." in words(invite(as_ada, "fay@example.org").text)
    assert not Invitation.objects.exists()


def test_each_of_several_tracks_is_a_group_of_the_teams_with_a_run_there(ada, ben, cat):
    tracks = make_benchmark(ada).tracks.in_order()
    make_run(tracks[0], ben)
    people.admit(tracks[0].benchmark, cat)
    groups = {group.name: len(group.teams) for group in find_groups(tracks[0].benchmark)}
    assert groups["All teams"] == 2 and groups["Teams without a run"] == 1
    assert [groups[f"Teams of {track}"] for track in tracks] == [1, *[0] * (len(tracks) - 1)]
