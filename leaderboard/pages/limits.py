"""Limits on runs and teams, as shown to users."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from evaluation.problems import KEPT
from evaluation.reading.containers import DOCUMENT_LIMITS
from leaderboard.actions.partial_uploads import MOST_LIMITS, MOST_UPLOADS, UPLOADS_KEPT
from leaderboard.display.numbers import counted, mebibytes
from leaderboard.infrastructure import request_bodies
from leaderboard.models import Track, Webhook
from leaderboard.scoring import files, judgments
from leaderboard.scoring.kinds import kind_of


@dataclass(frozen=True)
class Limit:
    """One limit: what it limits, its value and what happens beyond it."""

    what: str
    limit: str
    beyond: str


def site_limits() -> dict[str, list[Limit]]:
    """Return all limits of this installation, in groups."""
    return {
        "A run": run_limits(),
        "A collection": collection_limits(),
        "Teams and programs": team_limits(),
        "How long it is kept": retention_limits(),
    }


def run_limits() -> list[Limit]:
    runs = files.run_limits()
    from_size = mebibytes(runs.ratio_above)
    seconds, memory = settings.JOB_TIME_LIMIT, settings.JOB_MEMORY_LIMIT
    return [
        Limit("Upload size", mebibytes(runs.upload), "rejected: E_SIZE"),
        Limit("Unpacked size", mebibytes(runs.unpacked), "rejected at once: E_BOMB"),
        Limit("Compression ratio", f"{runs.ratio}, from {from_size} on", "E_BOMB"),
        Limit("Files in a .zip", "1, not a nested archive", "rejected: E_MEMBERS, E_CONTAINER"),
        Limit("Line length", counted(runs.line, "byte"), "rejected: E_LINE_LONG"),
        Limit("Lines, including blank ones", f"{runs.lines:,}", "rejected: E_SIZE"),
        Limit("Documents per topic", "set by the track, usually 1,000", "rejected: E_DEPTH"),
        Limit("Errors", f"{KEPT:,} read, {settings.PROBLEMS_SHOWN} shown", "checking stops"),
        Limit("Reading and scoring", f"{seconds:,} s and {mebibytes(memory)}", "marked as failed"),
    ]


def collection_limits() -> list[Limit]:
    return [
        Limit("Upload size per file", mebibytes(settings.COLLECTION_UPLOAD_LIMIT), "E_SIZE"),
        Limit("Unpacked per file", mebibytes(settings.COLLECTION_UNPACKED_LIMIT), "E_BOMB"),
        Limit("A document", mebibytes(DOCUMENT_LIMITS.line), "rejected: E_LINE_LONG"),
    ]


def team_limits() -> list[Limit]:
    attempts, writes = settings.ATTEMPTS_PER_DAY, settings.API_WRITES_PER_MINUTE
    kept = counted(settings.REFUSED_KEPT_DAYS, "day")
    return [
        Limit("Runs per team", "set by the track", "E_QUOTA"),
        Limit("Files per team", format_byte_limit(settings.TEAM_BYTES), "E_QUOTA"),
        Limit("Files per benchmark", format_byte_limit(settings.BENCHMARK_BYTES), "E_FULL"),
        Limit("Files on the whole site", format_byte_limit(settings.SITE_BYTES), "E_FULL"),
        Limit(
            "Rejected files",
            f"{attempts} per team per day, unless set by the track",
            "E_QUOTA",
        ),
        Limit(
            "Storage of rejected files",
            kept,
            "after that, only the record and first problems are kept",
        ),
        Limit(
            "Write requests",
            f"{writes} per user per minute, not counting organisers’ runs on their own tracks",
            "429, with Retry-After",
        ),
        Limit(
            "Unfinished uploads in pieces",
            f"{MOST_UPLOADS} and {mebibytes(MOST_LIMITS * settings.RUN_UPLOAD_LIMIT)} per user, "
            f"kept for {counted(UPLOADS_KEPT.days, 'day')}",
            "E_QUOTA: finish or delete some first",
        ),
        Limit("Webhooks per track", str(Webhook.MOST_PER_TRACK), "remove one first"),
        Limit("Request without a file", mebibytes(request_bodies.FORM_LIMIT), "413: E_SIZE"),
    ]


def retention_limits() -> list[Limit]:
    """Return how long the site keeps what it does not keep for good."""
    rows = counted(settings.ROWS_KEPT_DAYS, "day")
    backups = f"{settings.BACKUP_KEEP}, one per {counted(settings.BACKUP_HOURS, 'hour')}"
    limits = [
        Limit("Finished jobs, webhook calls and emails", rows, "deleted"),
        Limit("Notices, after they were read", rows, "deleted"),
        Limit("Sessions", counted(settings.SESSION_DAYS, "day"), "sign in again"),
    ]
    if settings.BACKUP_FOLDER:
        limits.append(Limit("Scheduled backups", backups, "the oldest is deleted"))
    return limits


def format_byte_limit(limit: int) -> str:
    return mebibytes(limit) if limit else "no limit"


@dataclass(frozen=True)
class RunLimits:
    upload: int
    unpacked: int
    line: int
    asks: str
    # Per topic, in words; "" if there is no limit.
    most: str
    topics: int
    # In words, by name.
    formats: dict[str, str]
    check_command: str
    knows_judged: bool
    takes_rankings: bool


def track_limits(track: Track) -> RunLimits:
    kind = kind_of(track)
    return RunLimits(
        upload=settings.RUN_UPLOAD_LIMIT,
        unpacked=settings.RUN_UNPACKED_LIMIT,
        line=kind.longest_line(),
        asks=kind.asks,
        most=kind.most(track),
        topics=track.collection.num_topics,
        formats=kind.formats_of(track),
        check_command=kind.check_command(track),
        knows_judged=judgments.judged_topics(track) is not None,
        takes_rankings=kind.takes_rankings,
    )
