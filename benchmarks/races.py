"""Quota and deadline under uploads at the same moment: how often they hold.

    python -m benchmarks.races [--times 100] [--only sqlite|servers]

Twenty programs send a run each while five more are taken; then twenty around the deadline. Every
repetition is a track of its own. What is printed is how many repetitions were exact.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator

from benchmarks import tables
from benchmarks.submission import server_site, sqlite_site
from tests.services.machines import Site, binary
from tests.services.racing import (
    AT_ONCE,
    QUOTA,
    bring_collection,
    broken_promises,
    track_that_closes,
    track_with_quota,
)

# Every upload of a repetition comes with the same token.
UNLIMITED = "1000000"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--only", choices=("sqlite", "servers"))
    chosen = parser.parse_args()
    os.environ["API_WRITES_PER_MINUTE"] = UNLIMITED
    print(tables.machine())
    tables.heading(f"{AT_ONCE} uploads at once, {chosen.times} times")
    tables.table(("site", "quota exact", "deadline exact"), _rows(chosen.times, chosen.only))


def _rows(times: int, only: str | None) -> Iterator[tuple[str, ...]]:
    if only != "servers":
        with sqlite_site() as site:
            yield "SQLite, nothing configured", *exact(site, times)
    if only == "sqlite":
        return
    if binary("initdb") is None or binary("redis-server") is None:
        yield "PostgreSQL and Redis", tables.NOT_MEASURED, ""
        return
    with server_site() as site:
        yield "PostgreSQL and Redis", *exact(site, times)


def exact(site: Site, times: int) -> tuple[str, str]:
    organiser = site.manage("create_token", "ada", "--organiser")
    bring_collection(site, organiser)
    token = site.manage("create_token", "ben")
    quotas = sum(quota_holds(site, organiser, token, f"quota-{n}") for n in range(times))
    deadlines = sum(deadline_holds(site, organiser, token, f"closes-{n}") for n in range(times))
    return f"{quotas} of {times}", f"{deadlines} of {times}"


def quota_holds(site: Site, organiser: str, token: str, slug: str) -> bool:
    track = track_with_quota(site, organiser, slug)
    sent = track.sent_at_once(token)
    accepted = {each.run for each in sent if each.accepted}
    codes = {each.code for each in sent if not each.accepted}
    return (
        len(accepted) == QUOTA and codes == {"E_QUOTA"} and accepted == set(track.received(token))
    )


def deadline_holds(site: Site, organiser: str, token: str, slug: str) -> bool:
    track = track_that_closes(site, organiser, slug)
    sent = track.sent_around_the_deadline(token)
    codes = {each.code for each in sent if not each.accepted}
    return codes == {"E_CLOSED"} and not any(broken_promises(track, sent, track.received(token)))


if __name__ == "__main__":
    # Told to stop, the servers stop too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
