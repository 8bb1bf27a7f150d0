"""What a track asks of a run and a team, as its pages say it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from evaluation.reading.containers import Limits
from evaluation.reading.recognition import RUN_FORMATS
from leaderboard import scoring
from leaderboard.models import Run, Team, Track

# What the command checks without being told.
CHECKED = {
    "takes": "trec",
    "depth": "1000",
    "missing-topics": "warn",
    "unknown-documents": "refuse",
    "duplicates": "refuse",
}


@dataclass(frozen=True)
class RunLimits:
    upload: int
    unpacked: int
    line: int
    depth: int
    topics: int
    formats: list[str]
    check_command: str


def of_track(track: Track) -> RunLimits:
    return RunLimits(
        upload=settings.RUN_UPLOAD_LIMIT,
        unpacked=settings.RUN_UNPACKED_LIMIT,
        line=Limits().line,
        depth=track.depth,
        topics=track.collection.num_topics,
        formats=[RUN_FORMATS[name] for name in track.run_formats],
        check_command=check_command(track),
    )


def check_command(track: Track) -> str:
    """What says offline what the worker says of a run of this track."""
    cutoff = scoring.cutoff_of(track.primary_measure)
    options = {
        "topics": "topics.txt",
        "docnos": "docnos.txt" if track.collection.documents else "",
        "takes": " ".join(track.run_formats),
        "depth": str(track.depth),
        "cutoff": "" if cutoff is None else str(cutoff),
        "missing-topics": track.missing_topics,
        "unknown-documents": track.unknown_documents,
        "duplicates": track.duplicates,
    }
    asked = [
        f"--{name} {value}" for name, value in options.items() if value != CHECKED.get(name, "")
    ]
    return " \\\n  ".join(["python -m evaluation check my.run.gz", *asked])


@dataclass(frozen=True)
class Quota:
    """What a team has left; None where the track sets no limit."""

    left_today: int | None
    left_in_all: int | None
    next_day: datetime


def quota_of(track: Track, team: Team | None) -> Quota:
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    used = Run.objects.counting().filter(team=team) if team else Run.objects.none()
    return Quota(
        left_today=_left(track.quota_per_day, used.filter(received_at__gte=midnight).count()),
        left_in_all=_left(track.quota_total, used.count()),
        next_day=midnight + timedelta(days=1),
    )


def _left(limit: int | None, used: int) -> int | None:
    return None if limit is None else max(0, limit - used)
