"""The manifest of a benchmark's archive."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import AliasChoices, Field

from leaderboard.archives.manifests import Entry

# Increased when an older version could misread a new archive.
BENCHMARK_ARCHIVE_VERSION = 1
SLUG = r"^[A-Za-z0-9_-]{1,60}$"


class PlaceEntry(Entry):
    """The place of a track in the benchmark."""

    track: str = Field(pattern=SLUG)
    fields: dict[str, Any]


class BenchmarkTeamEntry(Entry):
    """A team of the benchmark, with the name that it has on each track."""

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


class BenchmarkManifest(Entry):
    """The contents of a benchmark's archive; `baseline` is a place in the list of systems."""

    # Archives of before name it otherwise.
    benchmark_archive: int = Field(
        validation_alias=AliasChoices("benchmark_archive", "task_archive")
    )
    rankfield: str
    made_at: datetime
    slug: str
    fields: dict[str, Any]
    places: list[PlaceEntry]
    teams: list[BenchmarkTeamEntry]
    systems: list[SystemEntry]
    baseline: int | None = Field(ge=0)
