"""How the cost of pages grows with runs, topics and readers; `benchmarks.growth` runs this."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache, partial

from benchmarks.growth import ON_A_SITE, Growth, print_table

RUNS = (10, 100, 1_000, 5_000, 20_000)
TOPICS = (50, 500, 5_000, 20_000, 100_000)
READERS = (10, 100, 1_000, 3_000)
# A worker is seen again after so many readers.
HEARTBEAT = 50
# What stays small while the other grows.
FEW_RUNS, FEW_TOPICS = 10, 50


def main() -> None:
    from django.core.management import call_command

    # As web starts, with its garbage collector.
    import leaderboard.wsgi  # noqa: F401

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=ON_A_SITE)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    call_command("migrate", run_syncdb=True, verbosity=0)
    chosen = [each for each in GROWTHS if each.name == options.name]
    print_table(f"Where cost of {options.name} grows", chosen, options.quick)


@cache
def address_of(runs: int, topics: int) -> str:
    """The track of so many runs and topics, scored and tested, made where it is missing."""
    from benchmarks.scenes import Scene, make_track, store_scores
    from leaderboard.scoring import contest_tests

    slug = f"r{runs}t{topics}"
    scene = Scene(slug, runs=runs, topics=topics, measures=1, judged=2, different=1)
    track = make_track(scene)
    store_scores(scene, track)
    contest_tests.compare_edition(str(track.edition_id), lambda done, total: None)()
    return f"/benchmarks/{slug}"


def view(address: str) -> None:
    from django.test import Client

    answer = Client(HTTP_HOST="localhost", HTTP_ACCEPT_ENCODING="gzip").get(address)
    assert answer.status_code == 200, (address, answer.status_code)


def view_anew(address: str) -> None:
    """As the first reader after a change, of a process that remembers nothing."""
    from leaderboard.infrastructure import page_store
    from leaderboard.scoring import contest_tests, scores

    page_store.forget_all()
    scores.means_cache.clear()
    contest_tests.tests_cache.clear()
    view(address)


def of_runs(page: str, runs: int) -> Callable[[], object]:
    return partial(view_anew, address_of(runs, FEW_TOPICS) + page)


def of_topics(page: str, topics: int) -> Callable[[], object]:
    return partial(view_anew, address_of(FEW_RUNS, topics) + page)


def by_readers(readers: int) -> Callable[[], object]:
    from leaderboard.models import Worker

    page = f"{address_of(1_000, FEW_TOPICS)}/board/"

    def work() -> None:
        for number in range(readers):
            # A page is kept only while a worker is alive.
            if number % HEARTBEAT == 0:
                Worker.objects.record_heartbeat("a worker")
            view(page)

    return work


OF_RUNS = {
    "overview": "/",
    "board": "/board/",
    "list of topics": "/topics/",
    "a topic": "/topic/?number=1",
    "all pairs": "/significance/",
}
OF_TOPICS = {
    "overview": "/",
    "board": "/board/",
    "list of topics": "/topics/",
    "a topic": "/topic/?number=1",
    "topics chosen by words": "/topics/?about=topic+7",
    "map of topics": "/topics/map/",
    "comparison of two runs": "/compare/",
}
GROWTHS = (
    *(
        Growth("pages", f"runs: {name}, {FEW_TOPICS} topics", RUNS, partial(of_runs, page))
        for name, page in OF_RUNS.items()
    ),
    *(
        Growth("pages", f"topics: {name}, {FEW_RUNS} runs", TOPICS, partial(of_topics, page))
        for name, page in OF_TOPICS.items()
    ),
    Growth("readers", "of the board of 1,000 runs, kept", READERS, by_readers),
)

if __name__ == "__main__":
    main()
