"""How fast large boards answer, and how much room their scores take, beside naive rows.

    python -m benchmarks.boards

Pages are asked for inside one process, through every middleware and packed as browsers take them;
what is measured is the time until the last byte, and how much of it the processor worked here,
which tells nearly the same on a busy machine.
Naive pages are those of `benchmarks.naive`, bare HTML without a head, not packed.
PostgreSQL is measured where its programs are on this machine.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from benchmarks import tables
from benchmarks.homes import own_home
from benchmarks.inputs import ROOT
from benchmarks.tables import mebibytes, seconds, times

VIEWS = 7
VIEWED = (
    *("page", "first view", "of it processor", "later", "of it processor"),
    *("queries", "bytes sent"),
)
# Of 50 topics and of 7,000, with 100 runs each.
TOPICS_OF = ("usual", "deep")


def main() -> None:
    """Each database in a process of its own: Django is configured once in a process."""
    print(tables.machine(), flush=True)
    with ExitStack() as stack:
        for name, url in _databases(stack):
            if url is None:
                tables.heading(f"Boards on {name}: {tables.NOT_MEASURED}")
                continue
            variables = stack.enter_context(own_home(url))
            words = [sys.executable, "-m", "benchmarks.boards", name]
            subprocess.run(words, cwd=ROOT, env={**os.environ, **variables}, check=True)


def _databases(stack: ExitStack) -> list[tuple[str, str | None]]:
    from tests.services.machines import binary, own_postgres

    if binary("initdb") is None:
        return [("SQLite", ""), ("PostgreSQL", None)]
    return [("SQLite", ""), ("PostgreSQL", stack.enter_context(own_postgres()).url)]


def measure(database: str) -> None:
    from django.core.management import call_command

    # As web starts, with its garbage collector.
    import leaderboard.wsgi  # noqa: F401
    from benchmarks.scenes import Scene

    call_command("migrate", run_syncdb=True, verbosity=0)
    wide = Scene("wide", runs=500, topics=50, measures=10)
    deep = Scene("deep", runs=100, topics=7000, measures=1)
    usual = Scene("usual", runs=100, topics=50, measures=10)
    sizes = [_size_of(scene) for scene in (wide, deep, usual)]
    _count_rows()
    tables.heading(f"Pages on {database}, {VIEWS} views of each")
    tables.table((*VIEWED, "naive page", "faster"), (_page(*page) for page in _pages()))
    tables.heading(f"The same on {database}, as others find them")
    tables.table(VIEWED, _states())
    tables.heading(f"Room for the scores in {database}")
    tables.table(("board", "values", "one array a measure", "rows", "smaller"), sizes)


def _pages() -> list[tuple[str, str, Callable[[], str] | None]]:
    from benchmarks.naive import pages

    def naive_board(slug: str) -> Callable[[], str]:
        return lambda: pages.board(slug, "nDCG@10")

    def board_of_means(slug: str) -> Callable[[], str]:
        return lambda: pages.board_of_means(slug, "nDCG@10")

    wide, deep = "500 runs", "100 runs x 7,000 topics"
    return [
        (f"board, {wide} x 10 measures", "/benchmarks/wide/board/", naive_board("wide")),
        ("the same, naive means kept", "/benchmarks/wide/board/", board_of_means("wide")),
        (
            f"board, {wide}, all 23 columns",
            "/benchmarks/wide/board/?column=all",
            naive_board("wide"),
        ),
        (f"board, {deep}", "/benchmarks/deep/board/", naive_board("deep")),
        (f"topics, {deep}", "/benchmarks/deep/topics/", lambda: pages.topics("deep", "nDCG@10")),
        (f"map of topics, {wide} x 50 topics", "/benchmarks/wide/topics/map/", None),
        ("a topic of 50, 100 runs", "/benchmarks/usual/topic/?number=1", None),
        ("a topic of 7,000, 100 runs", "/benchmarks/deep/topic/?number=1", None),
        (f"a topic of 50, {wide}", "/benchmarks/wide/topic/?number=1", None),
        ("front page", "/", None),
    ]


def _page(name: str, address: str, naive: Callable[[], str] | None) -> tuple[str, ...]:
    took, later = _views(address)
    if naive is None:
        return name, *took, "", ""
    slow = statistics.median(_seconds_of(naive)[0] for _ in range(3))
    return name, *took, seconds(slow), times(slow / later)


def _states() -> Iterator[tuple[str, ...]]:
    """The same pages as others find them; at last while no test of the runs is made."""
    from leaderboard.models import Calculation, Run, User
    from leaderboard.scoring import contest_tests, scores

    ada, run = User.objects.get(username="ada"), Run.objects.filter(track__slug="wide").first()
    board, short, long = (
        "/benchmarks/wide/board/",
        *(f"/benchmarks/{s}/topic/?number=1" for s in TOPICS_OF),
    )
    yield "board, its organiser", *_views(board, ada)[0]
    yield "board, by another measure", *_views(f"{board}?measure=AP")[0]
    yield "board, all runs with all", *_views(f"{board}?family=all")[0]
    yield "board, sorted by another measure", *_views(f"{board}?sort=-AP")[0]
    yield "board, another baseline, untested", *_views(f"{board}?baseline={run.pk}")[0]
    yield "a topic of 50, its organiser", *_views(short, ada)[0]
    yield "a topic of 7,000, its organiser", *_views(long, ada)[0]
    scores.means_cache.clear()
    contest_tests.tests_cache.clear()
    yield "board, nothing remembered at first", *_views(board)[0]
    Calculation.objects.filter(kind="tests").delete()
    contest_tests.tests_cache.clear()
    yield "board, a run has just come", *_views(board)[0]
    yield "board of 7,000 topics, the same", *_views("/benchmarks/deep/board/")[0]
    yield "a topic of 50, the same", *_views(short)[0]
    yield "a topic of 7,000, the same", *_views(long)[0]


def _views(address: str, reader: object = None) -> tuple[tuple[str, ...], float]:
    """What is told of the views of a page, and the seconds of a later one."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(HTTP_HOST="localhost", HTTP_ACCEPT_ENCODING="gzip")
    if reader is not None:
        client.force_login(reader)

    def view() -> int:
        answer = client.get(address)
        assert answer.status_code == 200, (address, answer.status_code)
        return len(answer.content)

    first = _seconds_of(view)
    timed = [_seconds_of(view) for _ in range(VIEWS)]
    later, processor = (statistics.median(each) for each in zip(*timed, strict=True))
    with CaptureQueriesContext(connection) as queries:
        size = view()
    times_told = map(seconds, (*first, later, processor))
    return (*times_told, str(len(queries)), f"{size:,}"), later


def _seconds_of(work: Callable[[], object]) -> tuple[float, float]:
    """As the clock has it, and as the processor has it."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def _size_of(scene: object) -> tuple[str, ...]:
    """Both ways to keep the same scores, and what each adds to the database."""
    from benchmarks.scenes import Scene, make_track, store_rows, store_scores
    from leaderboard.scoring import contest_tests

    assert isinstance(scene, Scene)
    track = make_track(scene)
    before = _database_size()
    store_scores(scene, track)
    arrays = _database_size() - before
    store_rows(scene)
    rows = _database_size() - before - arrays
    # What a job does once a board is scored.
    contest_tests.compare_edition(str(track.edition_id), lambda done, total: None)()
    values = scene.runs * scene.topics * scene.measures
    what = f"{scene.runs} runs x {scene.topics:,} topics x {scene.measures} measures"
    return what, f"{values:,}", mebibytes(arrays), mebibytes(rows), times(rows / arrays)


def _count_rows() -> None:
    """What PostgreSQL does by itself within a minute; before, it plans as if tables were empty."""
    from django.db import connection

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def _database_size() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        else:
            cursor.execute("SELECT pg_database_size(current_database())")
        [(size,)] = cursor.fetchall()
    return int(size)


if __name__ == "__main__":
    if "DJANGO_SETTINGS_MODULE" in os.environ and sys.argv[1:]:
        measure(sys.argv[1])
    else:
        # Told to stop, the server stops too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        main()
