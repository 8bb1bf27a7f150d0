"""Metrics of this installation in Prometheus' format."""

from __future__ import annotations

import hmac
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, Min, QuerySet
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from leaderboard.jobs.backups import find_last_backups
from leaderboard.models import Job, Mail, Run, Track, User, Worker

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "rankfield"


@dataclass(frozen=True)
class Gauge:
    """A metric with one value, or one for each set of labels."""

    name: str
    says: str
    values: list[tuple[dict[str, str], float]]

    def lines(self) -> Iterator[str]:
        name = f"{PREFIX}_{self.name}"
        yield f"# HELP {name} {self.says}"
        yield f"# TYPE {name} gauge"
        for labels, value in self.values:
            said = ",".join(f'{label}="{escape_label(word)}"' for label, word in labels.items())
            yield f"{name}{{{said}}} {value:g}" if said else f"{name} {value:g}"


def escape_label(word: str) -> str:
    r"""
    >>> escape_label('a"b')
    'a\\"b'
    """
    return word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def render_gauges() -> str:
    """Render all gauges in Prometheus' text format."""
    return "".join(f"{line}\n" for gauge in read_gauges() for line in gauge.lines())


def read_gauges() -> Iterable[Gauge]:
    room = shutil.disk_usage(settings.RANKFIELD_HOME)
    alive = Worker.objects.alive()
    yield Gauge("info", "The version that answers.", [({"version": settings.VERSION}, 1)])
    yield Gauge("jobs", "Jobs by kind and state.", count_by(Job.objects.all(), "kind", "state"))
    yield single_gauge(
        "job_wait_seconds",
        "How long the oldest job that is due has waited.",
        seconds_of_longest_wait(),
    )
    yield single_gauge("workers_alive", "Workers seen within the last seconds.", alive.count())
    yield single_gauge(
        "worker_last_seen_seconds",
        "Since any worker was seen; -1: never.",
        seconds_since_worker_seen(),
    )
    yield Gauge("mails", "Emails by state.", count_by(Mail.objects.all(), "state"))
    yield single_gauge(
        "mail_wait_seconds",
        "How long the oldest email that was not yet delivered has waited.",
        seconds_since_first(Mail.objects.filter(state=Mail.State.WAITING)),
    )
    yield Gauge("runs", "Runs by state.", count_by(Run.objects.all(), "state"))
    yield single_gauge("tracks", "Tracks.", Track.objects.count())
    yield single_gauge("users", "Accounts.", User.objects.count())
    if settings.BACKUP_FOLDER:
        yield from read_backup_gauges()
    yield single_gauge("disk_free_bytes", "Free where the site keeps its files.", room.free)
    yield single_gauge("disk_bytes", "Size of that disk.", room.total)


def read_backup_gauges() -> Iterable[Gauge]:
    last = find_last_backups()
    age = (timezone.now() - last.done.finished_at).total_seconds() if last.done else -1.0
    yield single_gauge("backup_age_seconds", "Since the last scheduled backup; -1: never.", age)
    yield single_gauge("backup_failing", "1 if the last scheduled backup failed.", last.is_failing)


def single_gauge(name: str, says: str, value: float) -> Gauge:
    return Gauge(name, says, [({}, value)])


def count_by(rows: QuerySet, *by: str) -> list[tuple[dict[str, str], float]]:
    found = rows.order_by().values(*by).annotate(number=Count("pk")).order_by(*by)
    return [({label: row[label] for label in by}, row["number"]) for row in found]


def seconds_of_longest_wait() -> float:
    """Return how long the oldest due job has waited; jobs for a later time do not count."""
    return seconds_since_first(Job.objects.filter(state=Job.State.QUEUED, not_before=None))


def seconds_since_first(rows: QuerySet) -> float:
    """Return how long ago the oldest of these rows was made; 0 where there are none."""
    first = rows.aggregate(first=Min("created_at"))["first"]
    return max(0.0, (timezone.now() - first).total_seconds()) if first else 0.0


def seconds_since_worker_seen() -> float:
    last = Worker.objects.annotate(now=Now()).order_by("last_seen").last()
    return (last.now - last.last_seen).total_seconds() if last is not None else -1.0


@never_cache
@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Return all metrics to a client with METRICS_TOKEN; without that setting, 404.

    The client's address would prove nothing: behind a proxy all clients share one.
    """
    said = request.headers.get("Authorization", "").encode("utf-8", "replace")
    wanted = f"Bearer {settings.METRICS_TOKEN}".encode()
    if not settings.METRICS_TOKEN or not hmac.compare_digest(said, wanted):
        raise Http404("no such page")
    return HttpResponse(render_gauges(), content_type=CONTENT_TYPE)
