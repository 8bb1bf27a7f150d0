"""Turns: how many requests are worked on at once, and who does not count."""

from __future__ import annotations

import io
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, connections
from django.http import StreamingHttpResponse
from django.test import RequestFactory
from django.utils import timezone

from leaderboard.infrastructure.request_slots import RECEIVED_AT, STREAM_PIECE_BYTES, RequestSlots
from leaderboard.models import ApiToken, Run, Track
from tests.builders import RUN, upload


def echo(environ, start_response):
    return [environ["wsgi.input"].read(4)]


def ask(application, body, length=4):
    return application({"wsgi.input": body, "CONTENT_LENGTH": str(length)}, None)


# A small body is read before the turn, a larger one within it.
@pytest.fixture(params=[0, 2**20], ids=["large", "small"])
def ahead(request) -> int:
    return request.param


def test_who_is_slow_to_send_gives_the_turn_to_others(ahead):
    turns, (reading, writing) = RequestSlots(echo, 1, ahead), os.pipe()
    with open(reading, "rb") as slow, ThreadPoolExecutor() as pool:
        first = pool.submit(ask, turns, slow)
        try:
            assert ask(turns, io.BytesIO(b"fast")) == [b"fast"]
        finally:
            os.write(writing, b"slow")
        assert first.result() == [b"slow"]
    os.close(writing)


def test_who_is_slow_to_send_a_pipe_gives_the_turn_to_others():
    turns, (reading, writing) = RequestSlots(echo, 1), os.pipe()
    with open(reading, "rb") as slow, ThreadPoolExecutor() as pool:
        pipe = {"wsgi.input": slow, "HTTP_TRANSFER_ENCODING": "chunked"}
        first = pool.submit(turns, pipe, None)
        second = pool.submit(ask, turns, io.BytesIO(b"fast"))
        try:
            assert second.result(timeout=5) == [b"fast"]
        finally:
            os.write(writing, b"slow")
        assert first.result() == [b"slow"]
    os.close(writing)


def asked_database(environ, start_response):
    """The connection that this thread asked."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return [connections["default"].connection]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("seconds", "own"), [(0, None), (60, None), (0, 60)])
def test_a_connection_is_kept_for_the_next_request_for_as_long_as_settings_or_slots_say(
    monkeypatch, seconds, own
):
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", seconds)
    turns, used = RequestSlots(asked_database, 1, kept_seconds=own), []
    for _ in range(3):
        thread = threading.Thread(target=lambda: used.extend(ask(turns, io.BytesIO(), 0)))
        thread.start()
        thread.join()
    assert len(used) == 3 and len(set(map(id, used))) == (1 if seconds or own else 3)
    close_idle(turns)


@pytest.mark.django_db(transaction=True)
def test_no_more_connections_are_kept_than_there_are_slots(monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 60)
    turns, used = RequestSlots(asked_database, 2), []
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: ask(turns, io.BytesIO(), 0), range(40)):
            used.extend(found)
    assert len(used) == 40 and len(set(map(id, used))) <= 2
    close_idle(turns)


def close_idle(turns: RequestSlots) -> None:
    """PostgreSQL deletes the database of the tests only if no one is connected to it."""
    for idle in turns.slots._connections:
        idle.close()


def test_no_more_are_worked_on_than_there_are_turns():
    together = threading.Barrier(2, timeout=0.2)

    def meet(environ, start_response):
        return [b"%d" % together.wait()]

    turns = RequestSlots(meet, 1)
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(ask, turns, io.BytesIO(), 0) for _ in range(2)]
        for each in asked:
            with pytest.raises(threading.BrokenBarrierError):
                each.result()


@pytest.mark.parametrize("body", [b"", b"ab", b"abcd"])
def test_what_ends_early_is_worked_on_in_a_turn(body, ahead):
    def work(environ, start_response):
        read = environ["wsgi.input"].read(5)
        return [read, turns.slots.acquire(blocking=False)]

    turns = RequestSlots(work, 1, ahead)
    assert ask(turns, io.BytesIO(body), 9) == [body, False]
    assert is_free(turns)


def test_a_line_that_breaks_gives_the_turn_back_once(ahead):
    def reading(environ, start_response):
        environ["wsgi.input"].read()

    turns = RequestSlots(reading, 1, ahead)
    with pytest.raises(ConnectionResetError):
        ask(turns, Broken())
    assert is_free(turns)


def told_time(environ, start_response):
    environ["wsgi.input"].read(4)
    return [environ[RECEIVED_AT]]


def test_the_time_is_that_of_the_last_byte_and_not_of_the_turn(ahead):
    turns, (reading, writing) = RequestSlots(told_time, 1, ahead), os.pipe()
    with open(reading, "rb") as line, ThreadPoolExecutor() as pool:
        asked = pool.submit(ask, turns, line)
        time.sleep(0.1)
        with turns.slots:
            os.write(writing, b"slow")
            sent = timezone.now()
            time.sleep(0.5)
        (received,) = asked.result()
    os.close(writing)
    assert received - sent < timedelta(seconds=0.3)


# A request of its own ends no transaction of a test.
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("late", [False, True])
def test_a_deadline_that_passes_in_the_wait_for_a_turn_is_kept(track, ben, late):
    turns = RequestSlots(WSGIHandler(), 1)
    closes_at = timezone.now() + timedelta(seconds=0 if late else 0.4)
    Track.objects.update(closes_at=closes_at)
    turns.slots.acquire()
    threading.Timer(0.8, turns.slots.release).start()
    _, secret = ApiToken.objects.issue(ben, ["submit"])
    assert status_of(turns, secret) == ("403 Forbidden" if late else "201 Created")
    assert late or Run.objects.get().received_at < closes_at


def status_of(turns: RequestSlots, secret: str) -> str:
    """What a run is answered that is sent now."""
    request = RequestFactory().post(
        "/api/v1/tracks/bread/runs",
        {"file": upload("run.txt", RUN)},
        headers={"Authorization": f"Bearer {secret}"},
    )
    answered = []
    turns(request.environ, lambda status, headers, *_: answered.append(status)).close()
    close_idle(turns)
    return answered[0]


def test_the_page_judges_by_the_last_byte_too(track, as_ben):
    Track.objects.update(closes_at=timezone.now() - timedelta(seconds=1))
    form = {"file": upload("run.txt", RUN), "kind": "automatic"}
    in_time = timezone.now() - timedelta(seconds=2)
    answer = as_ben.post("/benchmarks/bread/submit/", form, **{RECEIVED_AT: in_time})
    assert (answer.status_code, Run.objects.get().received_at) == (302, in_time)


class Broken(io.RawIOBase):
    """A line that breaks."""

    def read(self, size: int = -1) -> bytes:
        raise ConnectionResetError


def test_each_piece_of_a_stream_is_made_in_a_turn_and_sent_without_one():
    turns = RequestSlots(lambda environ, start_response: answer, 1)
    large = (bytes(STREAM_PIECE_BYTES) for _ in range(2) if not turns.slots.acquire(blocking=False))
    answer = StreamingHttpResponse(large)
    sent = ask(turns, io.BytesIO(), 0)
    assert [len(piece) for piece in sent if is_free_between(turns)] == [
        STREAM_PIECE_BYTES,
        STREAM_PIECE_BYTES,
    ]


def is_free_between(turns: RequestSlots) -> bool:
    with turns.slots:
        return True


def test_small_pieces_of_a_stream_go_together():
    turns = RequestSlots(lambda *_: StreamingHttpResponse([b"a", b"", b"b"]), 1)
    assert list(ask(turns, io.BytesIO(), 0)) == [b"ab"]


def is_free(turns: RequestSlots) -> bool:
    """The one turn, and no second one."""
    return turns.slots.acquire(blocking=False) and not turns.slots.acquire(blocking=False)
