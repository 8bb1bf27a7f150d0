"""Turns: how many requests are worked on at once, and who does not count."""

from __future__ import annotations

import io
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from leaderboard.turns import Turns


def echo(environ, start_response):
    return [environ["wsgi.input"].read(4)]


def ask(application, body, length=4):
    return application({"wsgi.input": body, "CONTENT_LENGTH": str(length)}, None)


def test_who_is_slow_to_send_gives_the_turn_to_others():
    turns, (reading, writing) = Turns(echo, 1), os.pipe()
    with open(reading, "rb") as slow, ThreadPoolExecutor() as pool:
        first = pool.submit(ask, turns, slow)
        assert ask(turns, io.BytesIO(b"fast")) == [b"fast"]
        os.write(writing, b"slow")
        assert first.result() == [b"slow"]
    os.close(writing)


def test_no_more_are_worked_on_than_there_are_turns():
    together = threading.Barrier(2, timeout=0.2)

    def meet(environ, start_response):
        return [b"%d" % together.wait()]

    turns = Turns(meet, 1)
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(ask, turns, io.BytesIO(), 0) for _ in range(2)]
        for each in asked:
            with pytest.raises(threading.BrokenBarrierError):
                each.result()


def test_a_body_that_ends_early_takes_a_turn_again():
    turns = Turns(echo, 1)
    for body in (b"", b"ab"):
        assert ask(turns, io.BytesIO(body), 9) == [body]
    assert turns.free.acquire(blocking=False) and not turns.free.acquire(blocking=False)
