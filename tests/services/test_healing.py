"""Whatever is killed, and whenever: every run is scored, and scored once.

By day, five of the faults of tests/faults stand for what waits for the night here.
"""

from __future__ import annotations

import os
import signal
import time

import pytest
from django.conf import settings

from tests.services.machines import ServerSite, Site, until
from tests.services.scene import Track, make_track

pytestmark = [
    pytest.mark.services,
    pytest.mark.night,
    pytest.mark.xdist_group("services"),
]


@pytest.fixture(scope="session")
def tracks() -> dict[str, Track]:
    return {}


@pytest.fixture
def track(site: Site, tracks: dict[str, Track]) -> Track:
    """The same track for every test on a site."""
    if site.url not in tracks:
        tracks[site.url] = make_track(site)
    return tracks[site.url]


@pytest.fixture
def server_track(server_site: ServerSite, tracks: dict[str, Track]) -> Track:
    """The same on servers, with two workers whatever the test before has killed."""
    server_site.have_workers(2)
    if server_site.url not in tracks:
        tracks[server_site.url] = make_track(server_site)
    return tracks[server_site.url]


def test_a_run_is_scored(track: Track) -> None:
    run = track.submit("plain")
    assert track.scored_once(run)
    assert sorted(track.run(run)["scores"]) == ["AP", "P@10", "nDCG@10"]


@pytest.mark.night
def test_a_pool_process_killed_in_the_middle_costs_an_attempt(track: Track) -> None:
    """Whoever looks after it knows that its worker lives, be it another one."""
    with track.begun("child-killed") as run:
        worker = track.worker_of(run)
        for process in track.site.pool_of(worker):
            os.kill(process, signal.SIGKILL)
        assert track.job(run).state == "running"
    assert track.scored_once(run)
    assert (track.job(run).attempts, track.job(run).handed_back) == (2, 0)
    assert worker in track.site.workers()


@pytest.mark.night
def test_a_worker_killed_in_the_middle_costs_nothing(track: Track) -> None:
    with track.begun("worker-killed") as run:
        track.site.kill_worker()
        assert track.job(run).state == "running"
    track.site.start_worker()
    assert track.scored_once(run)
    assert (track.job(run).attempts, track.job(run).handed_back) == (1, 1)


@pytest.mark.night
def test_two_workers_share_the_work(server_track: Track) -> None:
    """No run can end while the track is held, so what fills one worker is left to the other."""
    with server_track.held():
        runs = [server_track.submit(f"shared-{n}") for n in range(6)]
        until(lambda: len(server_track.at_work(runs)) == 2, "both workers are at work")
    assert all([server_track.scored_once(run) for run in runs])


@pytest.mark.night
def test_messages_that_come_often_change_nothing(server_track: Track) -> None:
    run = server_track.submit("often")
    server_track.site.manage(
        "shell",
        "-c",
        "from leaderboard.jobs.broker import send_work\nfor n in range(30): send_work()",
    )
    assert server_track.scored_once(run)
    assert server_track.job(run).attempts == 1


@pytest.mark.night
def test_messages_that_are_lost_are_not_missed(server_track: Track) -> None:
    """Nobody works while the runs come in, and Redis forgets that they came."""
    site = server_track.site
    site.kill_worker()
    runs = [server_track.submit(f"lost-{n}") for n in range(2)]
    site.redis.say("FLUSHALL")
    site.start_worker()
    assert all([server_track.scored_once(run) for run in runs])


def test_runs_are_taken_while_redis_is_away(server_track: Track) -> None:
    """No worker ends of it, not even one whose work ends just then."""
    redis, workers = server_track.site.redis, server_track.site.workers()
    with server_track.begun("before-redis") as began:
        redis.stop()
    assert server_track.scored_once(began)
    meanwhile = server_track.submit("without-redis")
    redis.start()
    after = server_track.submit("after-redis")
    assert all([server_track.scored_once(run) for run in (meanwhile, after)])
    assert "Unrecoverable" not in server_track.site.said("work")
    assert server_track.site.workers() == workers


@pytest.mark.night
def test_a_database_that_crashes_and_comes_back_loses_no_run(server_track: Track) -> None:
    postgres = server_track.site.postgres
    with server_track.begun("crash") as run:
        postgres.stop()
        postgres.start()
    assert server_track.scored_once(run)
    assert server_track.scored_once(server_track.submit("after-crash"))


@pytest.mark.night
def test_a_database_that_stays_away_past_a_lease_costs_no_attempt(server_track: Track) -> None:
    """Nobody could renew; so all have their time again before a run is begun once more."""
    postgres = server_track.site.postgres
    with server_track.begun("away") as run:
        postgres.stop()
        time.sleep(settings.LEASE_SECONDS + 1)
        postgres.start()
        until(lambda: server_track.is_held(run), "its lease is renewed")
    assert server_track.scored_once(run)
    assert server_track.job(run).attempts == 1


@pytest.mark.night
def test_a_worker_that_comes_late_writes_nothing(server_track: Track) -> None:
    """One worker stands still in the middle; the other takes the run over and scores it."""
    with server_track.begun("late") as run:
        late = server_track.worker_of(run)
        os.killpg(late, signal.SIGSTOP)
    try:
        assert server_track.scored_once(run)
    finally:
        os.killpg(late, signal.SIGCONT)
    until(lambda: "wrote nothing" in server_track.site.said("work"), "the late worker gives up")
    assert server_track.site.worker_named(server_track.job(run).worker) != late
    assert server_track.scored_once(run)
