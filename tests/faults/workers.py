"""What befalls workers: killed, stopped, and runs that harm them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

from tests.faults.catalogue import fault
from tests.faults.profiles import LEASE
from tests.faults.stage import Scene
from tests.services.machines import until


@fault("F1", often="embedded")
def pool_process_killed_in_scoring(scene: Scene) -> Iterator[None]:
    with scene.begun() as run:
        worker = scene.worker_of(run)
        os.kill(scene.site.reader_of(run), signal.SIGKILL)
    scene.is_begun_again(run)
    yield
    assert scene.tries(run) == (2, 0), scene.tries(run)
    assert worker in scene.site.workers(), "the worker lives on"


@fault("F2")
def whole_worker_killed_in_scoring(scene: Scene) -> Iterator[None]:
    with scene.begun() as run:
        scene.site.kill_worker()
    time.sleep(5)
    scene.site.mend()
    scene.is_begun_again(run)
    yield
    assert scene.tries(run) == (1, 1), scene.tries(run)


@fault("F3")
def run_that_needs_too_much_memory(scene: Scene) -> Iterator[None]:
    pool = processes(scene)
    run = scene.send(file="hungry", ends="failed")
    scene.send()
    yield
    assert "Too large: processing needs over" in scene.run(run)["reason"], scene.run(run)["reason"]
    assert scene.job(run).attempts == 1, "not tried again"
    assert processes(scene) == pool, "no process ended of it"


def processes(scene: Scene) -> set[int]:
    return {pid for worker in scene.site.workers() for pid in scene.site.pool_of(worker)}


@fault("F4")
def run_that_kills_its_process_every_time(scene: Scene) -> Iterator[None]:
    run = scene.send(file="poison", ends="failed")
    scene.is_begun(run)
    others = [scene.send() for _ in range(5)]
    until(lambda: all(scene.run(each)["done"] for each in others), "the others are done")
    assert not scene.run(run)["done"], "the others do not wait"
    # Its lease ends three times.
    until(lambda: scene.run(run)["done"], "it has failed", 4 * LEASE + 20)
    yield
    assert "crashed 3 times" in scene.run(run)["reason"], scene.run(run)["reason"]
    desk = scene.site.rows(f"select reason from leaderboard_job where target_id = '{run}'")
    assert "crashed 3 times" in desk[-1][0], "the organisers read it on their desk"


@fault("F14")
def worker_that_hangs_past_its_lease_and_comes_back(scene: Scene) -> Iterator[None]:
    with scene.begun() as run:
        late = scene.site.reader_of(run)
        os.kill(late, signal.SIGSTOP)
    try:
        until(lambda: scene.run(run)["state"] == "scored", "another one scores it", 3 * LEASE)
    finally:
        os.kill(late, signal.SIGCONT)
    until(lambda: "wrote nothing" in said_by_workers(scene), "the late one gives up", 2 * LEASE)
    yield


def said_by_workers(scene: Scene) -> str:
    return scene.site.said("serve" if scene.site.name == "embedded" else "work")


@fault("F19", "servers")
def worker_whose_timer_is_dead(scene: Scene) -> Iterator[None]:
    """Its main process stands still, so its pool hears of nothing; and nobody rings."""
    stopped = scene.site.workers()[0]
    os.kill(stopped, signal.SIGSTOP)
    runs = [scene.send() for _ in range(4)]
    scene.site.redis.say("FLUSHALL")
    try:
        until(lambda: all(scene.run(run)["done"] for run in runs), "the other one works", 20)
    finally:
        os.kill(stopped, signal.SIGCONT)
    yield


@fault("F21")
def metric_that_never_ends(scene: Scene) -> Iterator[None]:
    """One hears that its time is over; one does not, and is killed."""
    runs = [scene.send(file=name, ends="failed") for name in ("endless", "deaf")]
    until(lambda: all(scene.run(run)["done"] for run in runs), "both have failed", 60)
    others = [scene.send() for _ in range(3)]
    yield
    for run in runs:
        reason = scene.run(run)["reason"]
        assert "Timed out: processing took over" in reason, reason
    assert all(scene.run(run)["state"] == "scored" for run in others), "the slots are free again"
