"""What befalls hosts: their clocks step, and everything goes down at once."""

from __future__ import annotations

import glob
import itertools
import os
import random
import signal
import time
from collections.abc import Iterable, Iterator

from tests.faults.catalogue import CannotBeMade, fault
from tests.faults.invariants import broken
from tests.faults.profiles import FAKETIME, HOUR, Clock, Hurtable, embedded
from tests.faults.stage import Scene, Stage
from tests.services.machines import until

READY = 30


def clock_of(scene: Scene, name: str) -> Clock:
    clock = Clock(scene.site.home / name)
    clock.step(0)
    return clock


@fault("F15", "servers")
def clock_of_a_worker_is_wrong(scene: Scene) -> Iterator[None]:
    """By an hour, this way and that; leases go by the database's clock."""
    clock = clock_of(scene, "clock-of-a-worker")
    site = scene.site
    for hours in (1, -1):
        site.kill_worker()
        clock.step(hours * HOUR)
        site.start_worker(**clock.for_python())
        run = scene.send("large")
        scene.is_begun(run)
        clock.step(-hours * HOUR)
        site.have_workers(2)
        until(lambda run=run: scene.run(run)["done"], "it is scored", 60)
        assert scene.job(run).attempts == 1, "nobody took it away"
        os.kill(site.worker_named(scene.job(run).worker), signal.SIGKILL)
    site.kill_worker()
    site.mend()
    yield


@fault("F15", "servers")
def clock_of_the_database_steps(scene: Scene) -> Iterator[None]:
    """Back by an hour, with a job at work whose worker is then killed."""
    if not glob.glob(FAKETIME):
        raise CannotBeMade("no libfaketime on this machine: apt-get install libfaketime")
    clock = clock_of(scene, "clock-of-the-database")
    site = scene.site
    clock.path.chmod(0o644)
    site.postgres.stop()
    site.postgres.start(**clock.for_servers())
    until(site.answers, "web answers")
    step_and_heal(scene, site, clock, (-1, 0))
    site.postgres.stop()
    site.postgres.start()
    yield


@fault("F15", "embedded")
def clock_of_the_host_steps(scene: Scene) -> Iterator[None]:
    """On a site of its own; forwards and back, with a job at work whose worker is killed."""
    clock = clock_of(scene, "clock-of-the-host")
    with embedded(**clock.for_python()) as site:
        stage = Stage(site)
        stage.prepare()
        elsewhere = stage.scene("clock")
        step_and_heal(elsewhere, site, clock, (1, 0, -1))
        clock.step(0)
        time.sleep(1.5)
        elsewhere.heal()
        assert not (wrong := broken(elsewhere)), wrong
    yield


def step_and_heal(scene: Scene, site: Hurtable, clock: Clock, steps: Iterable[int]) -> None:
    """Set the clock to each of so many hours beside the right time, with a job at work."""
    for hours in steps:
        run = scene.send("large")
        scene.is_begun(run)
        clock.step(hours * HOUR)
        time.sleep(1.5)
        site.kill_worker()
        site.mend()
        until(lambda run=run: scene.run(run)["done"], f"healed after {hours} h", 40)


@fault("F23")
def everything_killed_and_started_in_any_order(scene: Scene) -> Iterator[None]:
    scene.is_begun(scene.send("large"))
    scene.send_many(5)
    scene.site.kill_everything()
    if scene.site.is_supervised:
        scene.site.mend()
        yield
        return
    site = scene.site
    orders = list(itertools.permutations(["redis", "postgres", "web", "worker"]))
    start = {
        "redis": site.redis.start,
        "postgres": site.postgres.start,
        "web": site.start_web,
        "worker": lambda: site.started.append(site.start("work", "work")),
    }
    order = random.choice(orders)
    began = time.monotonic()
    for each in order:
        start[each]()
        time.sleep(0.3)
    web = site.web
    until(site.answers, f"web answers, started as {order}", READY + 15)
    assert site.web is web and web.poll() is None, f"web had to be started twice: {order}"
    assert time.monotonic() - began < READY + 15, f"ready, started as {order}"
    site.mend()
    yield


@fault("F15", "servers")
def clock_of_web_is_wrong(scene: Scene) -> Iterator[None]:
    """By an hour; what was sent keeps its place, and nothing waits for that hour."""
    clock = clock_of(scene, "clock-of-web")
    site = scene.site
    for hours in (1, -1):
        clock.step(hours * HOUR)
        site.kill_web()
        site.start_web(**clock.for_python())
        until(site.answers, "web answers")
        scene.send_many(4)
        scene.heal()
    site.kill_web()
    site.mend()
    yield
