"""Emails are sent at most once: digests, refusals, servers that fail, and how to end them."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Digest, Job, Mail, Notice, StoppedAddress, User
from leaderboard.notifications import email
from leaderboard.notifications.notices import notify_appointed, notify_written
from tests.builders import make_run, work
from tests.notifications.test_email import bodies, postman, reader, send_again

__all__ = ["postman", "reader"]
pytestmark = pytest.mark.long


def test_what_is_not_urgent_comes_in_one_email_of_the_day(postman, track, ada, reader):
    for tag in ("one", "two"):
        make_run(track, reader, f"1 Q0 d1 1 2 {tag}\n", tag=tag)
    assert postman.taken == []
    send_again()
    (mail,) = bodies(postman)
    assert "one was scored." in mail and "two was scored." in mail
    send_again()
    assert len(postman.taken) == 1 and Digest.objects.get().state == "delivered"


def test_what_was_read_on_the_site_is_in_no_digest(postman, track, reader):
    make_run(track, reader)
    Notice.objects.update(read_at=timezone.now())
    send_again()
    assert postman.taken == [] and Digest.objects.get().answer == "read on the site"


def test_the_digest_of_tomorrow_is_another_email(reader, track):
    notices = [Notice.objects.create(user=reader, track=track, text="Soon.") for _ in range(2)]
    now = timezone.now()
    Digest.objects.enqueue(notices[:1], now)
    Digest.objects.enqueue(notices[1:], now + timedelta(days=1))
    assert Digest.objects.count() == 2 == Job.objects.filter(kind="digest").count()


def test_a_server_that_goes_away_with_the_text_is_not_asked_again(postman, track, reader):
    postman.goes_away = True
    notify_appointed(track.benchmark, reader)
    work()
    postman.goes_away = False
    send_again()
    assert len(postman.taken) == 1
    assert "It is not sent again." in Mail.objects.get().answer


def test_a_worker_that_was_killed_while_sending_leaves_no_second_email(postman, track, reader):
    notify_appointed(track.benchmark, reader)
    Mail.objects.update(state="sending")
    work()
    assert postman.taken == [] and Mail.objects.get().state == "given up"


def test_a_refused_address_is_recorded_and_not_tried_again(postman, track, reader, as_ben):
    postman.refused = b"550 no such mailbox"
    notify_appointed(track.benchmark, reader)
    work()
    assert (Mail.objects.get().state, Mail.objects.get().tries) == ("given up", 0)
    assert StoppedAddress.objects.get().answer == "550 no such mailbox"
    assert "no such mailbox" in as_ben.get("/account/").text
    assert email.find_address(reader) is None
    as_ben.post("/account/mails/", {"mails": "on"})
    assert email.find_address(reader) == "ben@example.org"


def test_a_full_mailbox_is_tried_again(postman, track, reader):
    postman.refused = b"452 full"
    notify_appointed(track.benchmark, reader)
    work()
    postman.refused = b""
    send_again()
    assert len(postman.taken) == 1 and not StoppedAddress.objects.exists()


def test_of_a_message_to_many_only_the_unsent_emails_are_sent_later(postman, track, ada, ben, cat):
    for user in (ben, cat):
        user.emailaddress_set.create(email=f"{user}@example.org", verified=True, primary=True)
    written = {"subject": "Soon", "text": "*Soon.*", "is_urgent": True, "created_by": ada}
    message = track.benchmark.messages.create(**written)
    postman.most = 1
    notify_written(message, [ben.pk, cat.pk])
    work()
    postman.most = 100
    send_again()
    assert {mail["To"] for mail in postman.taken} == {"ben@example.org", "cat@example.org"}
    assert len(postman.taken) == 2 and "*Soon.*" in bodies(postman)[0]


def test_a_link_in_each_email_ends_email_without_signing_in(postman, track, reader, client):
    notify_appointed(track.benchmark, reader)
    work()
    (mail,) = postman.taken
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    link = re.sub(r"\s", "", mail["List-Unsubscribe"])[len("<https://board.example.org") : -1]
    assert "ben@example.org" in client.get(link).text
    assert User.objects.get(pk=reader.pk).mails
    client.post(link, {"List-Unsubscribe": "One-Click"})
    assert not User.objects.get(pk=reader.pk).mails
    assert client.post(f"{link[:-2]}x/").status_code == 404


def test_an_address_without_an_account_is_left_alone_too(db, client):
    link = email.unsubscribe_link("Fay@example.org")
    client.post(link[link.index("/unsubscribe") :])
    assert email.is_stopped("fay@example.org")
