"""Quota and deadline under uploads at the same moment: how often they hold.

    python -m benchmarks.races [--times 100] [--only sqlite|servers]

Twenty programs send a run each while three more are taken; then twenty while two of the three come
as a grant, and twenty more; then twenty around the deadline. Every repetition is a track of its
own, on a site that is started once. What is printed is how many repetitions were exact; with one
that was not, it exits 1.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap, tee

from benchmarks import tables
from benchmarks.submission import server_site, sqlite_site
from tests.services.machines import Site, binary
from tests.services.people import Person, organiser
from tests.services.racing import (
    AT_ONCE,
    GRANTED,
    QUOTA,
    bring_collection,
    broken_promises,
    granted_in_between,
    track_that_closes,
    track_with_quota,
)

# Every upload of a repetition comes with the same token.
UNLIMITED = "1000000"


@dataclass(frozen=True)
class Held:
    """How many of the repetitions on a site each race held."""

    times: int
    quota: int
    grant: int
    deadline: int
    minutes: float

    @property
    def exact(self) -> bool:
        return self.quota == self.grant == self.deadline == self.times

    @property
    def cells(self) -> tuple[str, ...]:
        counted = (f"{each} of {self.times}" for each in (self.quota, self.grant, self.deadline))
        return *counted, f"{self.minutes:.1f} min"


def main(words: Sequence[str] | None = None) -> int:
    """0 where every repetition was exact, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--only", choices=("sqlite", "servers"))
    chosen = parser.parse_args(words)
    print(tables.machine())
    tables.heading(f"{AT_ONCE} uploads at once, {chosen.times} times")
    head = ("site", "quota exact", "grant exact", "deadline exact", "took")
    printed, counted = tee(held_by_site(chosen.times, chosen.only))
    tables.table(head, starmap(row, printed))
    return int(not all(held.exact for _, held in counted if held is not None))


def held_by_site(times: int, only: str | None) -> Iterator[tuple[str, Held | None]]:
    """Each site by its name; None where its servers are not installed."""
    os.environ["API_WRITES_PER_MINUTE"] = UNLIMITED
    if only != "servers":
        with sqlite_site() as site:
            yield "SQLite, nothing configured", raced(site, times)
    if only == "sqlite":
        return
    if binary("initdb") is None or binary("redis-server") is None:
        yield "PostgreSQL and Redis", None
        return
    with server_site() as site:
        yield "PostgreSQL and Redis", raced(site, times)


def row(site: str, held: Held | None) -> tuple[str, ...]:
    return (site, tables.NOT_MEASURED, "", "", "") if held is None else (site, *held.cells)


def raced(site: Site, times: int) -> Held:
    began = time.monotonic()
    ada = organiser(site, "ada")
    bring_collection(site, ada.token)
    token = site.manage("create_token", "ben")
    races = {"quota": quota_holds, "grant": grant_holds, "closes": deadline_holds}
    held = [
        sum(holds(site, ada, token, f"{name}-{n}") for n in range(times))
        for name, holds in races.items()
    ]
    return Held(times, *held, minutes=(time.monotonic() - began) / 60)


def quota_holds(site: Site, ada: Person, token: str, slug: str) -> bool:
    track = track_with_quota(site, ada.token, slug)
    sent = track.sent_at_once(token)
    accepted = {each.run for each in sent if each.accepted}
    codes = {each.code for each in sent if not each.accepted}
    return (
        len(accepted) == QUOTA and codes == {"E_QUOTA"} and accepted == set(track.received(token))
    )


def grant_holds(site: Site, ada: Person, token: str, slug: str) -> bool:
    track = track_with_quota(site, ada.token, slug, QUOTA - GRANTED)
    site.ask(f"/benchmarks/{slug}/join", token, {})
    during, after = granted_in_between(track, ada, token)
    accepted = {each.run for each in (*during, *after) if each.accepted}
    codes = {each.code for each in (*during, *after) if not each.accepted}
    return (
        len(accepted) == QUOTA and codes == {"E_QUOTA"} and accepted == set(track.received(token))
    )


def deadline_holds(site: Site, ada: Person, token: str, slug: str) -> bool:
    track = track_that_closes(site, ada.token, slug)
    sent = track.sent_around_the_deadline(token)
    codes = {each.code for each in sent if not each.accepted}
    return codes == {"E_CLOSED"} and not any(broken_promises(track, sent, track.received(token)))


if __name__ == "__main__":
    # Told to stop, the servers stop too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
