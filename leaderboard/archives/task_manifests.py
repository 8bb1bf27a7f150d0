"""The manifest of a task's archive."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from leaderboard.archives.manifests import Entry

# Increased when an older version could misread a new archive.
TASK_ARCHIVE_VERSION = 1
SLUG = r"^[A-Za-z0-9_-]{1,60}$"


class PlaceEntry(Entry):
    """The place of a track in the task."""

    track: str = Field(pattern=SLUG)
    fields: dict[str, Any]


class TaskTeamEntry(Entry):
    """A team of the task, with the name that it has on each track."""

    names: dict[str, str]
    fields: dict[str, Any]


class VersionEntry(Entry):
    """A version of a system, with the ids of its runs in the archives of the tracks."""

    runs: list[str]
    fields: dict[str, Any]


class SystemEntry(Entry):
    """A system; `team` is the place of its team in the list of teams."""

    team: int = Field(ge=0)
    fields: dict[str, Any]
    versions: list[VersionEntry]


class TaskManifest(Entry):
    """The contents of a task's archive; `baseline` is a place in the list of systems."""

    task_archive: int
    rankfield: str
    made_at: datetime
    slug: str
    fields: dict[str, Any]
    places: list[PlaceEntry]
    teams: list[TaskTeamEntry]
    systems: list[SystemEntry]
    baseline: int | None
