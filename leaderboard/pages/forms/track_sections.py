"""The sections in which the settings of a track are shown and saved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from django.forms import BaseForm
from django.forms.boundfield import BoundField

from leaderboard.models import Track
from leaderboard.models.tracks import JUDGED_MARKS, RANKS_SYSTEMS


@dataclass(frozen=True)
class SettingsRow:
    """Settings side by side; `only_for` is the one choice that has them, "" if all have."""

    names: tuple[str, ...]
    only_for: str = ""

    @property
    def classes(self) -> str:
        side_by_side = "row" if len(self.names) > 1 else ""
        return " ".join(filter(None, (side_by_side, self.only_for and f"of-{self.only_for}")))


@dataclass(frozen=True)
class Section:
    """A section of the settings; one without rows leads to what is done elsewhere."""

    name: str
    title: str
    rows: tuple[SettingsRow, ...] = ()
    effect: str = "Changes no score."
    # The kinds of run that have it; empty if all have.
    only_for: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The settings of this section."""
        return tuple(name for row in self.rows for name in row.names)


@dataclass(frozen=True)
class FieldRow:
    """Fields of a form side by side."""

    fields: list[BoundField]
    classes: str


def list_rows(form: BaseForm, rows: Iterable[SettingsRow]) -> list[FieldRow]:
    """Return the fields of a form in these rows."""
    return [FieldRow([form[name] for name in row.names], row.classes) for row in rows]


RESCORES = "Changes that affect scores trigger a rescore. The board updates when it finishes."
WORDS = Section("words", "Words", (SettingsRow(("name", "slug")), SettingsRow(("description",))))
PEOPLE = Section(
    "people",
    "Who takes part",
    (
        SettingsRow(("joining",)),
        SettingsRow(("visibility",)),
        SettingsRow(("pseudonyms",)),
        SettingsRow(("terms",)),
    ),
)
RUNS = Section(
    "runs",
    "Runs accepted",
    (
        SettingsRow(("quota_per_day", "quota_total", "attempts_per_day")),
        SettingsRow(("run_kind", "depth")),
        SettingsRow(("run_formats",), "rankings"),
        SettingsRow(("required_facts",)),
        SettingsRow(("missing_topics", "unknown_documents")),
        SettingsRow(("duplicates", "repeated_tags")),
    ),
    "Runs that are here stay. Another depth scores them again.",
)
ANSWERS = Section(
    "answers",
    "Answers",
    (
        SettingsRow(("answer_rules", "answer_ranking"), "answers"),
        SettingsRow(("answer_limit", "answer_unit", "answer_over"), "answers"),
        SettingsRow(("shares_nuggets",), "answers"),
    ),
    RESCORES,
    only_for=("answers",),
)
MARKS = Section(
    "marks",
    "Marks in use",
    (SettingsRow(("assignments", "support"), "answers"),),
    RESCORES,
    only_for=("answers", *JUDGED_MARKS),
)
SYSTEMS = Section(
    "systems",
    "Systems that are ranked",
    (SettingsRow(("systems", "systems_measure"), "systems"),),
    RESCORES,
    only_for=(RANKS_SYSTEMS,),
)
BUILDS = Section(
    "builds",
    "Commits and builds",
    (SettingsRow(("main_branch", "commit_url")), SettingsRow(("gate_margin", "gate_builds"))),
)
SCORES = Section(
    "scores",
    "Scores and board",
    (
        SettingsRow(("primary_measure", "selection")),
        SettingsRow(("measures",)),
        SettingsRow(("disclosure",)),
        SettingsRow(("public_topics", "public_share"), "leaderboard"),
        SettingsRow(("ladder_step",), "leaderboard"),
        SettingsRow(("test", "convention")),
    ),
    RESCORES,
)
JUDGMENTS = Section(
    "judgments",
    "Judgments in use",
    (
        SettingsRow(("judgment_set", "relevance_threshold")),
        SettingsRow(("drop_empty_topics",)),
        SettingsRow(("excluded_topics", "exclusion_reason")),
        SettingsRow(("shares_judgments",)),
    ),
    RESCORES,
)
DATES = Section(
    "dates",
    "Dates",
    (
        SettingsRow(("opens_at", "closes_at")),
        SettingsRow(("topics_at", "documents_at")),
        SettingsRow(("judgments_at", "baseline_at")),
        SettingsRow(("release_at", "zone")),
        SettingsRow(("grace_minutes", "late_runs")),
    ),
    "Teams are notified of another deadline.",
)
PROGRAMS = Section("programs", "Badge and programs")
ARCHIVE = Section("archive", "Copy, archive, delete")
SECTIONS = {
    section.name: section
    for section in (
        *(
            WORDS,
            PEOPLE,
            RUNS,
            ANSWERS,
            MARKS,
            SYSTEMS,
            BUILDS,
            SCORES,
            JUDGMENTS,
            DATES,
            PROGRAMS,
            ARCHIVE,
        ),
    )
}
# What everybody answers of a new track, and the closed groups of sections below it.
ANSWERED = (
    SettingsRow(("name", "slug")),
    SettingsRow(("primary_measure", "joining")),
    SettingsRow(("closes_at", "zone")),
)
GROUPS = {
    "scoring": (SCORES, DATES, JUDGMENTS),
    "readers": (PEOPLE, WORDS),
    "rules": (RUNS, ANSWERS, MARKS, SYSTEMS, BUILDS),
}


def list_sections(track: Track) -> list[Section]:
    """Return the sections of the settings of a track; dates are on a page of their own."""
    return [
        section
        for section in SECTIONS.values()
        if section is not DATES and track.run_kind in (section.only_for or (track.run_kind,))
    ]


def rows_of_group(name: str) -> tuple[SettingsRow, ...]:
    """Return the rows of a closed group, without what stands above the groups."""
    above = {each for row in ANSWERED for each in row.names}
    rows = (row for section in GROUPS[name] for row in section.rows)
    left = (replace(row, names=tuple(n for n in row.names if n not in above)) for row in rows)
    return tuple(row for row in left if row.names)
