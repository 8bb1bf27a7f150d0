"""How soon commands end, and how soon a site answers.

    python -m benchmarks.starting [--times 3]

Everything is started in a folder of its own with nothing configured. `new` is the first start,
which makes the database; `again` finds it. What pip downloads is not measured.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks import tables
from benchmarks.inputs import ROOT
from benchmarks.processes import ENVIRONMENT, in_turn
from benchmarks.tables import seconds
from leaderboard.management.processes import is_answering
from tests.services.machines import free_port

COMMANDS = {
    "create_token": ["create_token", "ada"],
    "load_runs --help": ["load_runs", "--help"],
    "doctor": ["doctor"],
    "check": ["check"],
}
MANAGE = [sys.executable, str(ROOT / "manage.py")]
READY = "Press Ctrl-C to stop."
PATIENCE = 120.0


def home(folder: str) -> dict[str, str]:
    return {**ENVIRONMENT, "RANKFIELD_HOME": folder, "LOG_LEVEL": "WARNING"}


def commands(times: int) -> Iterator[Sequence[str]]:
    with tempfile.TemporaryDirectory() as folder:
        made = [*MANAGE, "create_token", "ada", "--organiser"]
        subprocess.run(made, env=home(folder), stdout=subprocess.DEVNULL, check=True)
        ENVIRONMENT["RANKFIELD_HOME"] = folder
        for name, words in COMMANDS.items():
            (cost,) = in_turn([*MANAGE, *words], times=times)
            yield f"`manage.py {name}`", seconds(cost.wall), seconds(cost.processor)


def sites(times: int) -> Iterator[Sequence[str]]:
    for name, start in {"serve": until_it_answers, "demo": until_it_is_ready}.items():
        took = [new_and_again(start) for _ in range(times)]
        new, again = (statistics.median(column) for column in zip(*took, strict=True))
        yield f"`manage.py {name}`", seconds(new), seconds(again)


def new_and_again(start: Callable[[str], float]) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        return start(folder), start(folder)


def until_it_answers(folder: str) -> float:
    """Seconds until `serve` answers its first request."""
    port = free_port()
    began = time.perf_counter()
    site = begin(["serve", "--port", str(port)], folder)
    try:
        while not is_answering(f"http://127.0.0.1:{port}/healthz"):
            assert site.poll() is None and time.perf_counter() - began < PATIENCE
            time.sleep(0.01)
        return time.perf_counter() - began
    finally:
        end(site)


def until_it_is_ready(folder: str) -> float:
    """Seconds until `demo` has imported, scored and tested everything, and says so."""
    began = time.perf_counter()
    site = begin(["demo", "--port", "0"], folder)
    try:
        assert site.stdout is not None
        for line in site.stdout:
            if READY in line:
                return time.perf_counter() - began
        raise AssertionError("the demo ended")
    finally:
        end(site)


def begin(words: Sequence[str], folder: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*MANAGE, *words], cwd=ROOT, env=home(folder), stdout=subprocess.PIPE, text=True
    )


def end(site: subprocess.Popen[str]) -> None:
    site.send_signal(signal.SIGINT)
    site.communicate(timeout=PATIENCE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    times = parser.parse_args().times
    print(tables.machine())
    tables.heading("Commands, with a database")
    tables.table(("command", "wall", "cpu"), commands(times))
    tables.heading("Sites, nothing configured")
    tables.table(("command", "new", "again"), sites(times))


if __name__ == "__main__":
    main()
