"""Webhooks that are slow or dead hold up nobody but themselves."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.actions import runs, tracks
from leaderboard.actions.refusals import ActionError
from leaderboard.jobs import running, table
from leaderboard.models import Delivery, Job, Notice, Webhook
from leaderboard.models.notices import WebhookEvent
from leaderboard.notifications import webhooks
from tests.builders import make_run, work

DEAD = "https://127.0.0.1/"
DRIP = b"HTTP/1.1 200 OK\r\n" + b"X-Slow: on and on\r\n" * 50


def drip(line: socket.socket) -> None:
    with line, suppress(OSError):
        for byte in DRIP:
            line.sendall(bytes([byte]))
            time.sleep(0.2)


@pytest.fixture
def dripping() -> Iterator[str]:
    """The address of a server that takes every call and answers a byte at a time."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=drip, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=answer, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        server.shutdown(socket.SHUT_RDWR)


def test_a_call_has_one_deadline_for_all_its_bytes(dripping, settings, monkeypatch):
    settings.WEBHOOKS_ANYWHERE = True
    monkeypatch.setattr(webhooks, "CALL_SECONDS", 1)
    began = time.monotonic()
    with pytest.raises(webhooks.WebhookError, match="over 1 seconds"):
        webhooks.post(dripping, b"{}", {})
    assert time.monotonic() - began < 1.8
    time.sleep(0.3)
    assert not [each for each in threading.enumerate() if each.name == "call"]


def test_a_call_has_ten_seconds_and_its_job_no_more_than_twenty(settings):
    assert webhooks.CALL_SECONDS == 10
    assert table.JOB_KINDS["deliver"].seconds == 20 < settings.JOB_TIME_LIMIT


def test_a_slow_name_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(webhooks, "LOOKUP_SECONDS", 0.2)
    monkeypatch.setattr(webhooks.socket, "getaddrinfo", lambda *a, **k: time.sleep(2))
    with pytest.raises(webhooks.WebhookError, match="not resolved"):
        webhooks.check_url("https://example.org/")


def test_two_slow_webhooks_leave_a_slot_for_runs(track, ben):
    first, second = (Job.objects.create(kind="deliver", target_id=n, priority=8) for n in "12")
    assert running.claim_job("a worker") == first
    run = Job.objects.create(kind="check_run", target_id="3", priority=9)
    assert running.claim_job("a worker") == run and running.claim_job("a worker") is None
    assert running.claim_job("another worker") == second


def test_a_track_has_ten_webhooks(track, ada):
    for number in range(10):
        tracks.add_webhook(track, ada, f"https://example.org/{number}", WebhookEvent.values)
    with pytest.raises(ActionError, match="up to 10 webhooks"):
        tracks.add_webhook(track, ada, "https://example.org/11", WebhookEvent.values)


@pytest.fixture
def dead(track, ada) -> Webhook:
    """Calls inside are refused, so each one fails."""
    return tracks.add_webhook(track, ada, DEAD, WebhookEvent.values)


def failing_for(webhook: Webhook, **time: int) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(failing_since=timezone.now() - timedelta(**time))


def test_a_webhook_that_fails_for_a_day_is_switched_off_with_a_notice(dead, track, ada, ben):
    failing_for(dead, hours=25)
    make_run(track, ben)
    dead.refresh_from_db()
    assert dead.switched_off_at is not None
    words = "The webhook to 127.0.0.1 failed for a day and is switched off in Bread track."
    assert Notice.objects.get(user=ada).text == words
    assert Delivery.objects.get().state == "given up"


def test_a_webhook_that_is_off_is_not_called(dead, track, ben):
    Webhook.objects.update(switched_off_at=timezone.now())
    make_run(track, ben)
    assert not Delivery.objects.exists()


def test_a_call_that_waits_while_its_webhook_is_switched_off_is_given_up(dead, track, ben):
    make_run(track, ben)
    Webhook.objects.update(switched_off_at=timezone.now())
    Job.objects.filter(kind="deliver").update(not_before=None)
    work()
    assert (Delivery.objects.get().state, Delivery.objects.get().tries) == ("given up", 1)


def test_a_webhook_that_fails_for_less_than_a_day_stays_on(dead, track, ben):
    failing_for(dead, hours=23)
    make_run(track, ben)
    dead.refresh_from_db()
    assert dead.switched_off_at is None


def test_an_answer_ends_the_failing(dead):
    failing_for(dead, hours=25)
    assert not dead.record_result(succeeded=True)
    dead.refresh_from_db()
    assert dead.failing_since is None


def test_organisers_see_a_webhook_that_is_off_and_switch_it_on(dead, as_ada):
    Webhook.objects.update(switched_off_at=timezone.now())
    page = as_ada.get("/benchmarks/bread/manage/webhooks/").content.decode()
    assert "Switched off" in page and "Switch on" in page
    as_ada.post(f"/benchmarks/bread/manage/webhooks/{dead.pk}/on/")
    dead.refresh_from_db()
    assert dead.switched_off_at is None


def test_calls_made_again_switch_their_webhook_on(dead, track, ada, ben):
    failing_for(dead, hours=25)
    make_run(track, ben)
    runs.retry_webhook(dead, ada)
    dead.refresh_from_db()
    assert dead.switched_off_at is None and dead.failing_since is None
