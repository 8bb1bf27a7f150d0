"""A page that is made while something happens, before each of its queries in turn.

What was read before no longer fits what is read after; a page has to bear that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client

from leaderboard.actions import runs, tracks
from leaderboard.actions.submissions import accept_run
from leaderboard.models import Run, Track, User
from tests.builders import OTHER_RUN, RUN, make_run, make_user, upload, work
from tests.conftest import forget

PAGES = [
    "/benchmarks/bread/board/",
    "/benchmarks/bread/topic/?number=1",
    "/runs/{cats}/",
    "/api/v1/tracks/bread/leaderboard",
]
Names = dict[str, str]


@pytest.fixture
def names(track, ada, ben, cat) -> Names:
    """Ada's baseline and Ben's run on the board; Cat's waits, and Eve has not come yet."""
    make_user("eve")
    adas = make_run(track, ada, OTHER_RUN)
    Track.objects.filter(pk=track.pk).update(baseline=adas)
    bens = make_run(track, ben)
    cats = accept_run(track, cat, upload("run", RUN.replace("9.0", "9.5"))).run
    return {"adas": adas.pk, "bens": bens.pk, "cats": cats.pk}


def cats_run_is_scored(names: Names) -> None:
    work()


def eve_joins_with_a_run(names: Names) -> None:
    eve = User.objects.get(username="eve")
    accept_run(Track.objects.get(), eve, upload("run", OTHER_RUN + "\n"))
    work()


def ben_withdraws(names: Names) -> None:
    bens = Run.objects.get(pk=names["bens"])
    runs.withdraw_run(bens, bens.submitted_by)
    work()


def ada_takes_other_measures(names: Names) -> None:
    ada = User.objects.get(username="ada")
    measures = {"measures": ["RR", "P@5"], "primary_measure": "RR"}
    tracks.change_track(Track.objects.get(), ada, measures)
    work()


EVENTS = [cats_run_is_scored, eve_joins_with_a_run, ben_withdraws, ada_takes_other_measures]


@contextmanager
def before_statement(number: int, happen: Callable[[], None]) -> Iterator[list[str]]:
    """The statements that were sent until then, one more where it came to that."""
    sent: list[str] = []

    def watch(execute, sql, *rest):
        if len(sent) < number:
            sent.append(sql)
            if len(sent) == number:
                happen()
        return execute(sql, *rest)

    with connection.execute_wrapper(watch):
        yield sent


def pages_made_while(
    client: Client, address: str, happen: Callable[[], None]
) -> Iterator[HttpResponse]:
    """The page, with that before its first statement, before its second, and so on."""
    number, sent = 0, list[str]()
    while len(sent) == number:
        number += 1
        with transaction.atomic(), before_statement(number, happen) as sent:
            forget()
            yield client.get(address)
            transaction.set_rollback(True)


def pairs() -> Iterator[Any]:
    """By day each page with one event and each event on one page, by night all of them."""
    for number, page in enumerate(PAGES):
        for other, event in enumerate(EVENTS):
            marks = pytest.mark.long if number == other else pytest.mark.night
            yield pytest.param(page, event, marks=marks, id=f"{page}-{event.__name__}")


@pytest.mark.long
def test_a_run_that_is_scored_meanwhile_answers_its_topics(names, as_ada):
    """What the check finds is read with the scores, or not shown."""
    address = f"/runs/{names['cats']}/"
    for page in pages_made_while(as_ada, address, lambda: cats_run_is_scored(names)):
        assert "<dd>0 of 3 topics</dd>" not in page.content.decode()
        assert "<dd>0 documents</dd>" not in page.content.decode()


@pytest.mark.parametrize(("page", "event"), list(pairs()))
def test_a_page_bears_what_happens_meanwhile(names, as_ada, page, event):
    made = pages_made_while(as_ada, page.format(**names), lambda: event(names))
    statuses = [page.status_code for page in made]
    assert len(statuses) > 5 and set(statuses) <= {200, 404, 410}
