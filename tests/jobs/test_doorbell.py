"""Without Redis, whoever queues a job rings for the worker."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from kombu.asynchronous import Hub
from kombu.asynchronous.timer import Timer

from leaderboard.jobs import broker, doorbell, queue
from tests.builders import RUN, make_run


@pytest.fixture
def bell(settings, tmp_path) -> Iterator[int]:
    """A doorbell that somebody listens to."""
    settings.RANKFIELD_HOME, settings.REDIS_URL = tmp_path, ""
    handle = doorbell.install()
    yield handle
    os.close(handle)


def rang(bell: int) -> bool:
    return bool(select.select([bell], [], [], 0)[0])


def test_a_ring_is_heard_until_it_is_noted(bell):
    doorbell.ring()
    doorbell.ring()
    assert rang(bell)
    doorbell.silence(bell)
    doorbell.silence(bell)
    assert not rang(bell)


def test_a_run_that_is_submitted_rings_once_it_is_committed(
    track, ben, bell, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        run = make_run(track, ben, RUN)
        doorbell.silence(bell)
        queue.enqueue("check_run", run)
        assert not rang(bell)
    assert rang(bell)


def test_nobody_waits_where_nobody_listens(settings, tmp_path):
    settings.RANKFIELD_HOME = tmp_path
    doorbell.ring()
    os.close(doorbell.install())
    doorbell.ring()
    assert [path.name for path in tmp_path.iterdir()] == [doorbell.NAME]


def test_a_file_in_its_place_is_no_bell(settings, tmp_path):
    settings.RANKFIELD_HOME = tmp_path
    (tmp_path / doorbell.NAME).write_text("not a bell")
    assert doorbell.install() is None


class CountingPoller(broker.JobPoller):
    polls = 0

    def poll(self, consumer: object) -> None:
        self.polls += 1


def test_a_worker_looks_when_it_rings_and_lets_go_of_the_bell(bell):
    hub = Hub()
    consumer = SimpleNamespace(app=broker.app, hub=hub, timer=Timer())
    poller = CountingPoller(consumer)
    poller.start(consumer)
    poller.register_with_event_loop(consumer, hub)
    doorbell.ring()
    hub.run_once()
    assert poller.polls == 1
    poller.stop(consumer)
    assert poller.bell is None and not hub.readers
    hub.close()


def test_a_worker_that_hears_rings_looks_once_a_second(bell, monkeypatch):
    assert seconds_between_looks() == 1
    monkeypatch.setattr(doorbell, "install", lambda: None)
    assert seconds_between_looks() == 0.3


def seconds_between_looks() -> float:
    asked: list[float] = []
    timer = SimpleNamespace(call_repeatedly=lambda seconds, *_: asked.append(seconds))
    broker.JobPoller(None).start(SimpleNamespace(app=broker.app, timer=timer))
    return asked[0]
