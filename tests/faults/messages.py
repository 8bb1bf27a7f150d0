"""What befalls the broker and its messages: they are lost, doubled, forged, and of another age."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

from celery import Celery

from tests.faults.catalogue import fault
from tests.faults.stage import Scene
from tests.services.machines import until

MANY = 60
# A message that cannot be sent costs an upload no more than this.
PATIENCE = 2.0
RING = "from leaderboard.jobs.broker import send_work\nfor n in range({}): send_work()"


@fault("F5", "servers")
def redis_killed_with_jobs_running_and_queued(scene: Scene) -> Iterator[None]:
    scene.is_begun(scene.send("large"))
    scene.send_many(MANY)
    workers = scene.site.workers()
    scene.site.redis.stop()
    scene.send_many(5)
    scene.site.redis.start()
    yield
    assert scene.site.workers() == workers, "no worker ended of it"


@fault("F6", "servers")
def all_messages_lost(scene: Scene) -> Iterator[None]:
    scene.site.kill_worker()
    scene.send_many(5)
    scene.site.redis.say("FLUSHALL")
    scene.site.mend()
    yield


@fault("F7", "servers")
def redis_away_while_runs_arrive(scene: Scene) -> Iterator[None]:
    """Gone, and worse, hanging."""
    scene.site.redis.stop()
    answers = scene.send_many(25)
    scene.site.redis.start()
    scene.site.redis.process.send_signal(signal.SIGSTOP)
    answers += scene.send_many(10, at_once=2)
    scene.site.redis.process.send_signal(signal.SIGCONT)
    yield
    assert {answer.status for answer in answers} == {201}, "all were taken"
    quick = sorted(answer.seconds for answer in answers)
    assert quick[len(quick) // 2] < PATIENCE, f"half took more than {quick[len(quick) // 2]:.1f} s"
    assert quick[-1] < 4 * PATIENCE, f"one took {quick[-1]:.1f} s"


@fault("F13", "servers")
def every_message_many_times(scene: Scene) -> Iterator[None]:
    run = scene.send("large")
    scene.site.manage("shell", "-c", RING.format(30))
    scene.send()
    yield
    assert scene.job(run).attempts == 1, "begun once"


@fault("F17", "servers", often="servers")
def messages_of_another_version_and_of_nobody(scene: Scene) -> Iterator[None]:
    """Of a task that is gone, with arguments, as pickle, commands, and bytes without a meaning."""
    workers = scene.site.workers()
    forge(scene.site.redis.url)
    command(scene.site.redis.url)
    scene.site.redis.say("LPUSH rankfield:celery rubbish")
    scene.site.redis.say('LPUSH rankfield:celery {"body":"e30="}')
    insert = (
        "from leaderboard.models import Job\n"
        f"Job.objects.create(kind='of_tomorrow', target_id='{scene.slug[-40:]}', priority=0)"
    )
    scene.site.manage("shell", "-c", insert)
    run = scene.send()
    yield
    assert scene.job(run).attempts == 1
    assert scene.site.workers() == workers, "no worker ended of it"
    waits = scene.site.rows(
        f"select state, attempts from leaderboard_job where target_id = '{scene.slug[-40:]}'"
    )
    assert waits == [("queued", 0)], "what a newer version queued is left to it"


def app_on(url: str) -> Celery:
    """Celery as anybody has it who reaches Redis."""
    app = Celery(broker=url.replace("unix://", "redis+socket://", 1))
    app.conf.broker_transport_options = {"global_keyprefix": "rankfield:"}
    return app


def command(url: str) -> None:
    """What Celery's own tools tell workers."""
    control = app_on(url).control
    control.broadcast("pool_shrink", arguments={"n": 9})
    control.broadcast("cancel_consumer", arguments={"queue": "celery"})
    control.shutdown()


def forge(url: str) -> None:
    headers = {"lang": "py", "id": "0", "argsrepr": "", "kwargsrepr": ""}
    nothing = [[], {}, {}]
    with app_on(url).connection() as connection:
        producer = connection.Producer()

        def send(task: str, body: object, **how: object) -> None:
            producer.publish(body, routing_key="celery", headers={**headers, "task": task}, **how)

        send("leaderboard.jobs.running.score_run", [["run"], {}, {}], serializer="json")
        send("work", [[], {"job_id": "tomorrow"}, {}], serializer="json")
        send("work", [["an argument"], {}, {}], serializer="json")
        send("work", nothing, serializer="pickle")
        send("work", "not a task at all", serializer="json")


@fault("F12")
def web_restarted_under_readers_and_uploads(scene: Scene) -> Iterator[None]:
    """Told to stop, it ends what it has begun; the next one answers what came meanwhile."""
    from tests.faults.reading import reading

    with reading(scene, f"/benchmarks/{scene.slug}/board/", every=0.05) as statuses:
        answers = scene.send_many(4, at_once=4)
        master = scene.site.web_processes()[0]
        time.sleep(0.2)
        scene.site.terminate_web(master)
        answers += scene.send_many(8, at_once=4)
        until(scene.site.answers, "web answers")
    assert len(statuses) > 3, "somebody read meanwhile"
    assert set(statuses) == {200}, f"readers saw {sorted(set(statuses))}"
    assert {answer.status for answer in answers} == {201}, sorted({a.status for a in answers})
    yield
