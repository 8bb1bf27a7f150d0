"""Celery carries one message, `work`, from whoever queued a job to a worker that has time.

The queue itself is in the database, so nothing here may be the only one to know of a job.
"""

from __future__ import annotations

import logging
import mmap
import os
import secrets
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from queue import Empty
from typing import Any

from celery import Celery, bootsteps, signals
from celery.exceptions import CPendingDeprecationWarning, SecurityWarning
from celery.utils.nodenames import worker_direct
from celery.worker import state
from celery.worker.consumer import Consumer
from celery.worker.control import Panel
from kombu import Connection, Queue
from kombu.transport import TRANSPORT_ALIASES, memory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")

# Celery warns root of messages that carry code, but this worker takes none but JSON; and of a
# default that will change, but below it is set.
warnings.filterwarnings("ignore", category=SecurityWarning)
warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)

log = logging.getLogger(__name__)

# By these workers find each other.
GREETINGS = {"hello", "ping"}
# How often a worker with a free slot looks for jobs by itself, in seconds.
LOOKS_EMBEDDED = 0.3
LOOKS = 1.0


def configuration() -> dict[str, Any]:
    """Read when the first message goes or comes, once Django's settings are there."""
    from django.conf import settings

    # What redis-py calls unix:// has another name here.
    redis = settings.REDIS_URL.replace("unix://", "redis+socket://", 1)
    if redis:
        forgive_redis()
    return {
        "broker_url": redis or INSIDE,
        "broker_transport_options": REDIS if redis else {},
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "accept_content": ["json"],
        "task_ignore_result": True,
        "task_acks_late": True,
        "worker_prefetch_multiplier": 1,
        # Each worker reads a queue of its own too.
        "worker_direct": True,
        # Looked at after a message, in KiB: a process that a job has made large is replaced.
        "worker_max_memory_per_child": 500_000,
        "worker_consumer": f"{__name__}:Reconnecting",
        # After a pool process was lost its slot is free again in so many seconds.
        "worker_lost_wait": 2,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # With this off, and mingle and heartbeats off too, a worker that meets a restart of Redis
        # in the middle of a job hangs for ever; so on Redis all three stay on.
        "worker_enable_remote_control": bool(redis),
        "worker_redirect_stdouts": False,
        "timezone": "UTC",
    }


INSIDE = "inside://localhost/"
REDIS = {
    "global_keyprefix": "rankfield:",
    # A message is gone once it is read: it only says "look", so nobody need keep it.  Where it is
    # kept, one that ends while Redis is away ends the worker too (kombu 5.7, seen).
    "ack_emulation": False,
    "socket_timeout": 30,
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "health_check_interval": 25,
}
# For one message from a request or from the timer: better lost than late.
QUICK = {**REDIS, "socket_timeout": 0.8, "socket_connect_timeout": 0.8, "max_retries": 0}


def forgive_redis() -> None:
    """Let a message go that was being worked on when Redis went away, and one that is none.

    kombu would put the one back into the Redis that is away, or else dump it into a file; of the
    other, which anybody may write there, the worker would end.
    """
    from kombu.transport.redis import Channel

    Channel.do_restore = False
    Channel._brpop_read = drop_rubbish(Channel._brpop_read)


def drop_rubbish(read: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(read)
    def read_or_drop(*args: Any, **options: Any) -> Any:
        try:
            return read(*args, **options)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            log.warning("dropped what is no message: %r", error)
            raise Empty from None

    return read_or_drop


class Inside(memory.Transport):
    """The broker of a worker that has none: a queue in the memory of its own main process.

    Unlike kombu's it is read in the worker's event loop.  Without an event loop the pool's
    processes share one pipe and its lock, and one that is killed while it waits keeps the lock:
    the worker lives and does nothing, for ever.
    """

    implements = memory.Transport.implements.extend(asynchronous=True)

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        loop.on_tick.add(self.take)

    def take(self) -> None:
        with suppress(Empty):
            self.cycle.get(self._deliver)


TRANSPORT_ALIASES["inside"] = f"{__name__}:Inside"

app = Celery("rankfield")
app.add_defaults(configuration)
app.autodiscover_tasks(["leaderboard"], related_name="jobs.running")


def send_work(queue: Queue | None = None) -> None:
    """Put one `work` on the broker, for any worker or for the one that reads this queue.

    Raises when the broker does not answer within a second or two.
    """
    if app.conf.broker_url == INSIDE:
        app.send_task("work", queue=queue)
        return
    url = app.conf.broker_url
    with Connection(url, connect_timeout=0.8, transport_options=QUICK) as connection:
        app.send_task("work", queue=queue, connection=connection, retry=False)


class Reconnecting(Consumer):
    """Looks for a Redis that is away every few seconds; Celery's own waits up to half a minute."""

    def ensure_connected(self, conn: Connection) -> Connection:
        often = {"interval_start": 0.5, "interval_step": 0.5, "interval_max": 2}
        conn.ensure_connection = partial(conn.ensure_connection, **often)
        return super().ensure_connected(conn)


class Doorbell(bootsteps.StartStopStep):
    """Makes a worker with a free slot look for jobs, whether anybody rang or not.

    It rings for its own worker alone.  Of a queue that all share another might get every message,
    and this one, never seen to do anything, would be taken for dead.

    It runs in the worker's main process and never opens the database there: the connection
    would be forked into the pool, and would not survive a restart of the database.
    """

    requires = {"celery.worker.consumer.tasks:Tasks"}
    entry = None

    def start(self, consumer: Any) -> None:
        every = LOOKS_EMBEDDED if consumer.app.conf.broker_url == INSIDE else LOOKS
        self.entry = consumer.timer.call_repeatedly(every, self.ring, (consumer,))

    def stop(self, consumer: Any) -> None:
        if self.entry is not None:
            self.entry.cancel()

    def ring(self, consumer: Any) -> None:
        if len(state.reserved_requests) < consumer.pool.num_processes:
            send_work(worker_direct(consumer.hostname))


app.steps["consumer"].add(Doorbell)

# Shared with the pool: one byte, set when the worker was told to stop.
_stopping = mmap.mmap(-1, 1)
_name = f"{socket.gethostname()[:60]} {os.getpid()}"


def worker_name() -> str:
    """The name of this start of this worker, the same in all its processes."""
    return _name


def is_stopping() -> bool:
    """Whether this worker was told to stop; it ends the job at hand and begins no other."""
    return _stopping[0] == 1


@signals.worker_init.connect
def name_this_start(sender: Any, **_: object) -> None:
    global _name
    _name = f"{sender.hostname[:60]} {secrets.token_hex(4)}"


@signals.worker_init.connect
def obey_nobody(**_: object) -> None:
    """Whoever writes to Redis could stop all workers; of Celery's commands the greetings stay."""
    for command in Panel.data.keys() - GREETINGS:
        del Panel.data[command]


@signals.worker_shutting_down.connect
def tell_the_pool(**_: object) -> None:
    _stopping[0] = 1


@signals.worker_process_init.connect
def end_with_the_worker(**_: object) -> None:
    """A pool process whose worker was killed ends too, even in the middle of a job."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)


@signals.setup_logging.connect
def leave_logging_to_django(**_: object) -> None:
    """Celery would replace the handlers that the settings name."""
