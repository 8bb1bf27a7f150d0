"""The Celery app: it carries one message, `work`, which tells a worker to look for jobs.

The queue itself is in the database, so a lost message never loses a job.
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

from leaderboard.jobs import doorbell

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")

# Celery warns root users about messages that carry code, but this worker accepts only JSON. It also
# warns about a default that will change, but the configuration below sets it.
warnings.filterwarnings("ignore", category=SecurityWarning)
warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)

log = logging.getLogger(__name__)

# Workers find each other by these commands.
DISCOVERY_COMMANDS = {"hello", "ping"}
# How often a worker with a free slot looks for jobs without a message, in seconds; more often
# where it hears of none, without Redis and without a doorbell.
POLL_SECONDS = 1.0
POLL_SECONDS_DEAF = 0.3


def configuration() -> dict[str, Any]:
    """Return Celery's configuration; Celery calls this after Django's settings are loaded."""
    from django.conf import settings

    # Celery has another name for what redis-py calls unix://.
    redis = settings.REDIS_URL.replace("unix://", "redis+socket://", 1)
    if redis:
        survive_redis_outage()
    return {
        "broker_url": redis or EMBEDDED_URL,
        "broker_transport_options": REDIS if redis else {},
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "accept_content": ["json"],
        "task_ignore_result": True,
        "task_acks_late": True,
        "worker_prefetch_multiplier": 1,
        # Each worker reads a queue of its own too.
        "worker_direct": True,
        # In KiB, checked after each message: a process that a job has made large is replaced.
        "worker_max_memory_per_child": 500_000,
        "worker_consumer": f"{__name__}:ReconnectingConsumer",
        # The seconds until the slot of a lost pool process is free again.
        "worker_lost_wait": 2,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # Without this, mingle and heartbeats, a worker hangs for ever when Redis restarts in the
        # middle of a job. So with Redis all three stay on.
        "worker_enable_remote_control": bool(redis),
        "worker_redirect_stdouts": False,
        "timezone": "UTC",
    }


EMBEDDED_URL = "embedded://localhost/"
REDIS = {
    "global_keyprefix": "rankfield:",
    # A message is deleted once it is read: it only says "look".  If it were kept, a message that
    # ends while Redis is away would end the worker too (seen with kombu 5.7).
    "ack_emulation": False,
    "socket_timeout": 30,
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "health_check_interval": 25,
}
# For one message from a request or from the timer: a lost message is better than a late one.
QUICK_REDIS = {**REDIS, "socket_timeout": 0.8, "socket_connect_timeout": 0.8, "max_retries": 0}


def survive_redis_outage() -> None:
    """Keep the worker alive when Redis goes away or holds an invalid message.

    kombu would put an open message back into the Redis that is away, or else dump it into a file.
    An invalid message, which any client of Redis can write, would end the worker.
    """
    from kombu.transport.redis import Channel

    Channel.do_restore = False
    Channel._brpop_read = drop_invalid_messages(Channel._brpop_read)


def drop_invalid_messages(read: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a read function so that it logs an invalid message and skips it."""

    @wraps(read)
    def read_or_drop(*args: Any, **options: Any) -> Any:
        try:
            return read(*args, **options)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            log.warning("dropped an invalid message: %r", error)
            raise Empty from None

    return read_or_drop


class EmbeddedTransport(memory.Transport):
    """A broker for a worker without Redis: a queue in the memory of its own main process.

    The worker's event loop reads it, unlike kombu's.  Without an event loop the pool's processes
    share one pipe and its lock.  A process that is killed while it waits keeps the lock, and the
    worker then hangs for ever.
    """

    implements = memory.Transport.implements.extend(asynchronous=True)

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        loop.on_tick.add(self.deliver_next)

    def deliver_next(self) -> None:
        with suppress(Empty):
            self.cycle.get(self._deliver)


TRANSPORT_ALIASES["embedded"] = f"{__name__}:EmbeddedTransport"

app = Celery("rankfield")
app.add_defaults(configuration)
app.autodiscover_tasks(["leaderboard"], related_name="jobs.running")


def send_work(queue: Queue | None = None) -> None:
    """Send one `work` message to any worker, or to the worker that reads this queue.

    Raises an error when the broker does not answer within two seconds.
    """
    if app.conf.broker_url == EMBEDDED_URL:
        app.send_task("work", queue=queue)
        return
    url = app.conf.broker_url
    with Connection(url, connect_timeout=0.8, transport_options=QUICK_REDIS) as connection:
        app.send_task("work", queue=queue, connection=connection, retry=False)


class ReconnectingConsumer(Consumer):
    """A consumer that retries a lost Redis every two seconds; Celery's waits up to 30 seconds."""

    def ensure_connected(self, conn: Connection) -> Connection:
        often = {"interval_start": 0.5, "interval_step": 0.5, "interval_max": 2}
        conn.ensure_connection = partial(conn.ensure_connection, **often)
        return super().ensure_connected(conn)


class JobPoller(bootsteps.StartStopStep):
    """A worker step that regularly makes a worker with a free slot look for jobs.

    It sends messages only to its own worker.  From a shared queue another worker might get every
    message, and this worker, never seen to do anything, would count as dead.

    It runs in the worker's main process and never opens the database there: the connection
    would be forked into the pool, and would not survive a restart of the database.
    """

    requires = {"celery.worker.consumer.tasks:Tasks"}
    entry = None
    bell: int | None = None

    def start(self, consumer: Any) -> None:
        is_embedded = consumer.app.conf.broker_url == EMBEDDED_URL
        self.bell = doorbell.install() if is_embedded else None
        # Who looks that often opens the database each time, which took 4 % of a core.
        is_deaf = is_embedded and self.bell is None
        seconds = POLL_SECONDS_DEAF if is_deaf else POLL_SECONDS
        self.entry = consumer.timer.call_repeatedly(seconds, self.poll, (consumer,))

    def register_with_event_loop(self, consumer: Any, hub: Any) -> None:
        """Without Redis, look as soon as somebody rings."""
        if self.bell is not None:
            hub.add_reader(self.bell, self.answer, consumer)

    def answer(self, consumer: Any) -> None:
        doorbell.silence(self.bell)
        self.poll(consumer)

    def stop(self, consumer: Any) -> None:
        if self.entry is not None:
            self.entry.cancel()
        if self.bell is not None:
            consumer.hub.remove(self.bell)
            os.close(self.bell)
            self.bell = None

    def poll(self, consumer: Any) -> None:
        if len(state.reserved_requests) < consumer.pool.num_processes:
            send_work(worker_direct(consumer.hostname))


app.steps["consumer"].add(JobPoller)

# One byte shared with the pool, set when the worker is asked to stop.
_stopping = mmap.mmap(-1, 1)
_name = f"{socket.gethostname()[:60]} {os.getpid()}"


def worker_name() -> str:
    """Return the name of this start of the worker, the same in all its processes."""
    return _name


def is_stopping() -> bool:
    """Whether this worker should stop: it ends the current job and starts no other."""
    return _stopping[0] == 1


@signals.worker_init.connect
def set_worker_name(sender: Any, **_: object) -> None:
    """Give each start of a worker its own name."""
    global _name
    _name = f"{sender.hostname[:60]} {secrets.token_hex(4)}"


@signals.worker_init.connect
def disable_remote_commands(**_: object) -> None:
    """Remove Celery's remote commands: any client of Redis could stop all workers with them."""
    for command in Panel.data.keys() - DISCOVERY_COMMANDS:
        del Panel.data[command]


@signals.worker_init.connect
def log_farewell(**_: object) -> None:
    """Log what Celery would print when it is asked to stop, which is no line of JSON."""
    from celery.apps import worker

    worker.safe_say = lambda message, *_: log.info("%s", message)


@signals.worker_shutting_down.connect
def mark_stopping(**_: object) -> None:
    """Tell the pool's processes that the worker stops."""
    _stopping[0] = 1


@signals.worker_before_create_process.connect
def load_addresses(**_: object) -> None:
    """Load the addresses of all pages before the pool is forked.

    Notices name pages. Otherwise each process would import every page within its first
    transaction, which takes a second, and on SQLite nobody else can write meanwhile.
    """
    from django.urls import get_resolver

    _ = get_resolver().url_patterns


@signals.worker_process_init.connect
def exit_with_worker(**_: object) -> None:
    """End a pool process when its worker is killed, even in the middle of a job."""
    threading.Thread(target=_kill_when_orphaned, args=(os.getppid(),), daemon=True).start()


def _kill_when_orphaned(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)


@signals.setup_logging.connect
def leave_logging_to_django(**_: object) -> None:
    """Keep the log handlers of the settings, which Celery would replace."""
