"""How fast a board of 2,000 runs with 40 parameters each answers, and the page of its parameters.

    python -m benchmarks.parameters

Pages are asked for inside one process, as `benchmarks.boards` does.  A first view is that of an
address that nobody has opened before, of which a process remembers means and tests alone; later
ones are kept.
"""

from __future__ import annotations

import os

from benchmarks import tables
from benchmarks.homes import own_home

RUNS, TOPICS, PARAMETERS = 2000, 50, 40
COLUMNS = "&".join(f"column=fact.p{n}" for n in range(5))
PAGES = {
    "board": "/benchmarks/lab/board/?",
    "board, five parameters": f"/benchmarks/lab/board/?{COLUMNS}",
    "board, sorted by a parameter": f"/benchmarks/lab/board/?{COLUMNS}&sort=fact.p0",
    "board, filtered by two": f"/benchmarks/lab/board/?{COLUMNS}&fact.p1=large&from.p0=500",
    "board, every column": "/benchmarks/lab/board/?column=all",
    "plot and groups of a parameter": "/benchmarks/lab/parameters/?across=fact.p1",
    "two measures": "/benchmarks/lab/parameters/?across=AP",
}


def main() -> None:
    with own_home() as variables:
        os.environ |= variables
        measure()


def measure() -> None:
    from django.core.management import call_command

    import leaderboard.wsgi  # noqa: F401
    from benchmarks.boards import VIEWED, _size_of, _views
    from benchmarks.scenes import Scene
    from leaderboard.models import Job

    call_command("migrate", run_syncdb=True, verbosity=0)
    _size_of(Scene("lab", runs=RUNS, topics=TOPICS, measures=2, parameters=PARAMETERS))
    # Pages are kept where no job waits in vain; here is no worker.
    Job.objects.all().delete()
    print(tables.machine(), flush=True)
    tables.heading(f"{RUNS:,} runs with {PARAMETERS} parameters each, on SQLite")
    tables.table(VIEWED, ((name, *_views(address)[0]) for name, address in PAGES.items()))


if __name__ == "__main__":
    main()
