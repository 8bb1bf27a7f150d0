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


@pytest.mark.parametrize("body", [b"", b"ab", b"abcd"])
def test_what_ends_early_is_worked_on_in_a_turn(body):
    def work(environ, start_response):
        read = environ["wsgi.input"].read(5)
        return [read, turns.free.acquire(blocking=False)]

    turns = Turns(work, 1)
    assert ask(turns, io.BytesIO(body), 9) == [body, False]
    assert is_free(turns)


def test_a_line_that_breaks_gives_the_turn_back_once():
    def breaking(environ, start_response):
        environ["wsgi.input"].read()

    turns = Turns(breaking, 1)
    with pytest.raises(AttributeError):
        ask(turns, None)
    assert is_free(turns)


def is_free(turns: Turns) -> bool:
    """The one turn, and no second one."""
    return turns.free.acquire(blocking=False) and not turns.free.acquire(blocking=False)
