"""The manifests of archives, of tracks and benchmarks, and the fields of each of their rows."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.db import models
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from leaderboard.models import (
    Assessment,
    AssignedDocument,
    Assignment,
    Battles,
    Benchmark,
    Edition,
    JudgmentSet,
    MarkLayer,
    NuggetVersion,
    Pool,
    ReportedScores,
    Run,
    Track,
)
from leaderboard.models.registrations import FileReaders
from leaderboard.models.track_settings import setting_fields

# Increased when an older version could misread a new archive.
ARCHIVE_VERSION = 3

# Of what is read from a file, the archive has the file and what was read.
OF_IMPORTS = {"id", "version", "state", "asks_first", "sha256", "size", "preview"}
# The place of a track in its benchmark, which the manifest of the benchmark has.
PLACE = {"position", "phase", "group", "dated", "is_private"}

# Fields that belong to this installation, or that the importing site computes again.
LOCAL_FIELDS: dict[type[models.Model], set[str]] = {
    JudgmentSet: {
        *("id", "version", "state", "asks_first", "note", "sha256", "top_grade", "relevant_from"),
        *("pool_depth", "grade_counts", "num_judgments", "num_topics", "num_relevant"),
        "has_documents",
        *("num_strata", "num_subtopics", "num_intents"),
        *("preview", "questions", "problems", "problem_totals"),
    },
    NuggetVersion: OF_IMPORTS,
    Battles: {"id", "invitation"},
    MarkLayer: OF_IMPORTS,
    Track: {"id", "slug", "address", "badge_code", *PLACE},
    Run: {
        *("id", "size", "sha256", "idempotency_key", "state", "reason", "checked_at", "scored_at"),
        *("problems", "problem_totals", "num_lines", "num_answered", "num_retrieved"),
        *("fingerprint", "lengths"),
    },
    Edition: {
        *("id", "convention", "scoring_version", "settings", "digest", "mask"),
        *("num_evaluated", "state"),
    },
    Pool: {"id", "reason"},
    Benchmark: {"id", "slug", "invitation", "badge_code"},
    ReportedScores: {"id", "known", "values", "num_cells"},
    Assessment: {"id", "invitation"},
    # The own notes of an assessor stay with the person.
    Assignment: {"id", "notes"},
    AssignedDocument: {"id", "tab", "leased_until"},
}
# A rejected run keeps all its other fields, because it is not checked again on import.
LOCAL_FIELDS_OF_REJECTED = {"id", "idempotency_key", "fingerprint"}


class Entry(BaseModel):
    """A part of the manifest, built from the attributes of a row."""

    model_config = ConfigDict(from_attributes=True, extra="forbid")


class CollectionEntry(Entry):
    slug: str
    name: str = Field(max_length=120)
    description: str = Field(max_length=5000)
    licence: str = Field("", max_length=120)
    shares_documents: bool = False
    # Archives from before files had readers were of files for everyone.
    documents_readers: FileReaders = FileReaders.EVERYONE
    topics_readers: FileReaders = FileReaders.EVERYONE
    judgments_readers: FileReaders = FileReaders.EVERYONE
    source_url: str = Field("", max_length=300)
    source_note: str = Field("", max_length=2000)


class JudgmentsEntry(Entry):
    version: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")
    note: str = Field(max_length=2000)
    top_grade: int | None
    relevant_from: int
    pool_depth: int | None
    # The SHA-256 of the original file, which may have other grades.
    sha256: str
    pooled_runs: list[str]
    # How the judgments are printed; ordinary ones are written as versions before this wrote them.
    format: Literal["trec", "strata", "subtopics"] = Field(
        "trec", exclude_if=lambda format: format == "trec"
    )
    fields: dict[str, Any] = {}
    # Without documents there is no file: marks alone score the answers.
    has_documents: bool = Field(True, exclude_if=lambda has_documents: has_documents)
    # Of judgments by a machine, and of filled judgments the versions they are made of.
    machine: dict[str, Any] | None = Field(None, exclude_if=lambda card: card is None)
    people_version: str | None = Field(None, exclude_if=lambda version: version is None)
    machine_version: str | None = Field(None, exclude_if=lambda version: version is None)


class TrackEntry(Entry):
    slug: str
    fields: dict[str, Any]
    judgments: str | None
    baseline: str | None


class TeamEntry(Entry):
    """A team with its grants beyond the quota; without a run it has no alias."""

    name: str
    of_organisers: bool = False
    created_at: datetime | None = None
    alias: str = Field("", pattern=r"^[A-Z0-9]{0,8}$")
    # Its own later deadline; written only where there is one.
    closes_at: datetime | None = Field(None, exclude_if=lambda deadline: deadline is None)
    extension_reason: str = Field("", max_length=300, exclude_if=lambda reason: not reason)
    grants: list[dict[str, Any]]


class RunEntry(Entry):
    """A run; `team` is empty for the organisers' runs."""

    id: str
    team: str
    # The run that it replaced; written only where there is one.
    replaces: str | None = Field(None, exclude_if=lambda run_id: run_id is None)
    sha256: str
    fields: dict[str, Any]


class EditionEntry(Entry):
    """An edition with the track's settings that change a score."""

    name: str
    judgments: str
    convention: str
    scoring_version: int
    settings: dict[str, Any]
    fields: dict[str, Any]


# Archives of documents alone are as they were before answers were judged.
ABSENT: Any = Field(None, exclude_if=lambda value: value is None)


class PoolEntry(Entry):
    name: str
    runs: list[str]
    judged_in: str | None
    # The version by a machine that people check on these documents.
    checks: str | None = None
    # Of a pool of answers: its nuggets, and the layer whose pairs it leaves out.
    nuggets: str | None = ABSENT
    marked_in: str | None = ABSENT
    # The versions of the judgments made from this pool.
    judgments: list[str] = []
    fields: dict[str, Any]


class TopicRowEntry(Entry):
    """A row about a topic: a document of the practice, or a grade that an organiser settled."""

    topic: str
    fields: dict[str, Any]


class AssignmentEntry(TopicRowEntry):
    """A topic of an assessor, with the number of the guideline that the assessor has read."""

    assessor: str
    read_guideline: int | None


class AssessmentEntry(Entry):
    """An assessment with its assessors, whom only their pseudonyms name."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")
    pool: str
    # The judgments that closing made, and all that were made of its marks.
    version: str | None
    layer: str | None = ABSENT
    layers: list[str] = Field([], exclude_if=lambda names: not names)
    judgments: list[str]
    fields: dict[str, Any]
    guidelines: list[dict[str, Any]]
    assessors: list[dict[str, Any]]
    assignments: list[AssignmentEntry]
    practice: list[TopicRowEntry]
    settlements: list[TopicRowEntry]


class ImportedEntry(Entry):
    """Imported nuggets, with the SHA-256 of their original file."""

    version: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")
    sha256: str
    fields: dict[str, Any]


class LayerEntry(ImportedEntry):
    """A layer of marks, with the version of the nuggets that it marks."""

    nuggets: str | None
    joins: str | None = ABSENT


class DraftEntry(Entry):
    """A draft of nuggets: the version that it began with, and the one that it became."""

    based_on: str | None
    version: str | None
    fields: dict[str, Any]


class SnapshotEntry(Entry):
    slug: str
    edition: str


class Manifest(Entry):
    archive: int
    rankfield: str
    scoring_version: int
    made_at: datetime
    collection: CollectionEntry
    judgments: list[JudgmentsEntry]
    track: TrackEntry
    teams: list[TeamEntry]
    runs: list[RunEntry]
    refused: list[RunEntry] = []
    announcements: list[dict[str, Any]]
    milestones: list[dict[str, Any]] = []
    # The texts of the overview, if the organisers wrote any; archives of before name it otherwise.
    overview: dict[str, Any] | None = Field(
        None, validation_alias=AliasChoices("overview", "task_page")
    )
    editions: list[EditionEntry]
    pools: list[PoolEntry]
    # Written only where there is one.
    assessments: list[AssessmentEntry] = Field([], exclude_if=lambda entries: not entries)
    nuggets: list[ImportedEntry] = Field([], exclude_if=lambda entries: not entries)
    layers: list[LayerEntry] = Field([], exclude_if=lambda entries: not entries)
    drafts: list[DraftEntry] = Field([], exclude_if=lambda entries: not entries)
    # How battles are held, where they are.
    battles: dict[str, Any] | None = ABSENT
    snapshots: list[SnapshotEntry]


def named_rows(track: Track) -> dict[str, models.QuerySet]:
    """Return the other targets of events by kind: the key here, and the name in an archive."""
    return {
        "judgmentset": track.collection.judgment_sets.values_list("pk", "version"),
        "pool": track.pools.values_list("pk", "name"),
        "assessment": track.assessments.values_list("pk", "name"),
        "snapshot": track.snapshots.values_list("pk", "slug"),
        "nuggetversion": track.nugget_versions.values_list("pk", "version"),
        "marklayer": track.mark_layers.values_list("pk", "version"),
    }


def plain_fields(model: type[models.Model], left_out: set[str] | None = None) -> list[models.Field]:
    """The fields that go with an archive: neither relations nor files, nor what is left out."""
    left_out = LOCAL_FIELDS.get(model, {"id"}) if left_out is None else left_out
    return [
        field
        for field in model._meta.concrete_fields
        if not field.is_relation
        and not isinstance(field, models.FileField)
        and field.name not in left_out
    ]


def ranking_path(run_id: str) -> str:
    """Return where an archive has a ranking of systems by the ids that they had."""
    return f"rankings/{run_id}"


def plain_values(row: models.Model, left_out: set[str] | None = None) -> dict[str, Any]:
    fields = plain_fields(type(row), left_out)
    return {field.name: field.value_from_object(row) for field in fields}


def split_fields(fields: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a track, and those of the rules of its benchmark."""
    names = {model_field.name for model_field in setting_fields(Benchmark)}
    own = {name: value for name, value in fields.items() if name not in names}
    return own, {name: value for name, value in fields.items() if name in names}


# Increased when an older version could misread a new archive.
BENCHMARK_ARCHIVE_VERSION = 1
SLUG = r"^[A-Za-z0-9_-]{1,60}$"


class PlaceEntry(Entry):
    """The place of a track in the benchmark."""

    track: str = Field(pattern=SLUG)
    fields: dict[str, Any]


class BenchmarkTeamEntry(Entry):
    """A team of the benchmark, by its name on each track: archives of before have several."""

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


class ReportedEntry(Entry):
    """A version of the reported scores; bytes are written as base64."""

    known: str
    values: str
    fields: dict[str, Any]


class AnyArchive(BaseModel):
    """What tells the archive of a track alone from that of a benchmark."""

    archive: Any = None

    @property
    def is_of_a_track(self) -> bool:
        return self.archive is not None


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
    # Written only where there are some.
    reported: list[ReportedEntry] = Field([], exclude_if=lambda entries: not entries)
    baseline: int | None = Field(ge=0)
