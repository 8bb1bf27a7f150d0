"""What makes an answer about a track stale: the rows that answers show, and the tracks they reach.

Database triggers made from this list write a `TrackChange` in the transaction of each change, so
that no code can forget it, neither `update()` nor older code during an upgrade.  They are made
anew after every migration.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps as all_apps
from django.db import connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.operations import (
    AddConstraint,
    AddField,
    AddIndex,
    AlterModelOptions,
    CreateModel,
    RunPython,
)

from leaderboard.models import (
    Announcement,
    Assessment,
    Assessor,
    AssignedDocument,
    AuditEvent,
    Battles,
    Benchmark,
    BenchmarkSnapshot,
    Calculation,
    Collection,
    Edition,
    JudgmentSet,
    MachineCard,
    MarkLayer,
    Membership,
    Milestone,
    NuggetVersion,
    Overview,
    Participation,
    Pool,
    ReportedScores,
    Run,
    Score,
    ScoreSet,
    Settlement,
    Snapshot,
    System,
    SystemVersion,
    Team,
    Topic,
    Track,
    User,
)
from leaderboard.models.changes import MOST_TOKENS, TrackChange

PREFIX = "shown_"
CHANGES = TrackChange._meta.db_table
# What a migration may do while older code and its triggers are at work.
ADDITIONS = (CreateModel, AddField, AddIndex, AddConstraint, AlterModelOptions, RunPython)

# The tracks of a row, as SQL; `{row}` stands for the row.
ITSELF = "SELECT {row}.id AS id"
OF_TRACK = "SELECT {row}.track_id AS id"
OF_EDITION = "SELECT track_id AS id FROM leaderboard_edition WHERE id = {row}.edition_id"
OF_SCORE_SET = (
    "SELECT edition.track_id AS id FROM leaderboard_scoreset scored "
    "JOIN leaderboard_edition edition ON edition.id = scored.edition_id "
    "WHERE scored.id = {row}.score_set_id"
)
OF_COLLECTION = "SELECT id FROM leaderboard_track WHERE collection_id = {row}.collection_id"
AS_COLLECTION = "SELECT id FROM leaderboard_track WHERE collection_id = {row}.id"
OF_BENCHMARK = "SELECT id FROM leaderboard_track WHERE benchmark_id = {row}.benchmark_id"
OF_CALCULATION = f"{OF_TRACK} UNION {OF_EDITION} UNION {OF_BENCHMARK}"
AS_BENCHMARK = "SELECT id FROM leaderboard_track WHERE benchmark_id = {row}.id"
OF_SYSTEM = (
    "SELECT track.id AS id FROM leaderboard_system made "
    "JOIN leaderboard_track track ON track.benchmark_id = made.benchmark_id "
    "WHERE made.id = {row}.system_id"
)
OF_ASSESSMENT = "SELECT track_id AS id FROM leaderboard_assessment WHERE id = {row}.assessment_id"
OF_ASSIGNMENT = (
    "SELECT held.track_id AS id FROM leaderboard_assignment given "
    "JOIN leaderboard_assessor judge ON judge.id = given.assessor_id "
    "JOIN leaderboard_assessment held ON held.id = judge.assessment_id "
    "WHERE given.id = {row}.assignment_id AND held.shows_progress"
)
EVERY_TRACK = "SELECT id FROM leaderboard_track"


def of_judgments(column: str) -> str:
    """Return the tracks on the collection of a version of judgments."""
    return (
        "SELECT track.id AS id FROM leaderboard_judgmentset version "
        "JOIN leaderboard_track track ON track.collection_id = version.collection_id "
        f"WHERE version.id = {{row}}.{column}"
    )


@dataclass(frozen=True)
class Shown:
    """A table that answers about tracks show.

    `unshown` gives the columns that no answer shows, with reasons.  `public` is SQL that says
    whether others than the track's teams and organisers can see the row.
    """

    model: type[models.Model]
    tracks: str
    unshown: Mapping[str, str] = field(default_factory=dict)
    public: str = ""
    # What is done to rows; some are made or deleted only together with others that count.
    acts: Sequence[str] = ("INSERT", "UPDATE", "DELETE")

    @property
    def columns(self) -> list[str]:
        """The columns whose change counts."""
        fields = self.model._meta.concrete_fields
        return [each.column for each in fields if each.name not in self.unshown]


CREDENTIAL = "a credential, which no page of a track prints"
ROLE = "a role, which is part of the viewer's view"
PERSONAL = "a person's own setting"
FIXED = "what is asked for, which never changes"
BOOKKEEPING = "bookkeeping of a form or a job"

SHOWN = (
    Shown(Track, ITSELF, acts=("INSERT", "UPDATE")),
    Shown(Edition, OF_TRACK),
    Shown(
        Run,
        OF_TRACK,
        {"idempotency_key": BOOKKEEPING},
        # Others see a run from when it has scores.
        public="{row}.state = 'scored'",
    ),
    Shown(ScoreSet, OF_EDITION),
    Shown(Score, OF_SCORE_SET),
    Shown(
        Calculation,
        OF_CALCULATION,
        dict.fromkeys(("edition", "track", "benchmark", "kind", "key", "request"), FIXED),
    ),
    Shown(Team, OF_BENCHMARK),
    Shown(Participation, OF_TRACK),
    Shown(Membership, OF_BENCHMARK),
    Shown(Snapshot, OF_TRACK),
    Shown(Announcement, OF_TRACK),
    Shown(Milestone, OF_TRACK),
    Shown(Overview, OF_TRACK),
    Shown(Benchmark, AS_BENCHMARK),
    Shown(Benchmark.co_organisers.through, OF_BENCHMARK),
    Shown(BenchmarkSnapshot, OF_BENCHMARK),
    Shown(ReportedScores, OF_BENCHMARK),
    Shown(System, OF_BENCHMARK),
    Shown(SystemVersion, OF_SYSTEM, {"announced_at": BOOKKEEPING}),
    Shown(
        AuditEvent,
        OF_TRACK,
        # Since when everyone has seen all scores is read from the log.
        public="CAST({row}.after AS text) LIKE '%disclosure%'",
    ),
    Shown(Collection, AS_COLLECTION, {"arrives_until": BOOKKEEPING}),
    Shown(Topic, OF_COLLECTION),
    Shown(JudgmentSet, OF_COLLECTION),
    Shown(JudgmentSet.pooled_runs.through, of_judgments("judgmentset_id")),
    Shown(MachineCard, of_judgments("judgment_set_id")),
    Shown(Battles, OF_TRACK, {"invitation": CREDENTIAL}),
    Shown(NuggetVersion, OF_TRACK),
    Shown(MarkLayer, OF_TRACK),
    Shown(Pool, OF_TRACK),
    Shown(Assessment, OF_TRACK),
    Shown(Assessor, OF_ASSESSMENT, {"last_seen_at": "only the page of the judging shows it"}),
    Shown(
        AssignedDocument,
        OF_ASSIGNMENT,
        {"tab": BOOKKEEPING, "leased_until": BOOKKEEPING},
        acts=("UPDATE",),
    ),
    Shown(Settlement, OF_ASSESSMENT),
    Shown(
        User,
        EVERY_TRACK,
        {
            **dict.fromkeys(("password", "email"), CREDENTIAL),
            **dict.fromkeys(("is_staff", "is_superuser", "can_organise"), ROLE),
            **dict.fromkeys(("last_login", "date_joined", "mails", "orcid"), PERSONAL),
        },
        acts=("UPDATE",),
    ),
)

# The other tables, with the reason why no answer about a track shows them.
UNSHOWN = {
    "ApiToken": CREDENTIAL,
    "BattleVote": "only the pages of battles show it, which are not kept",
    "BattleVoter": "only the pages of battles show it, which are not kept",
    "Assignment": "only the pages of the judging show it",
    "Digest": "a notice outside the site",
    "Delivery": "only organisers' webhooks show it",
    "Grant": "a quota is shown where a run is submitted",
    "Guideline": "only the pages of the judging show it",
    "Intent": "written with its version of the judgments, and never changed",
    "Job": "no kept page has the banner of a stopped queue, or a place in the queue",
    "Invitation": "only the page of invitations shows it, which is not kept",
    "Message": "only the pages of messages show it, which are not kept",
    "Reminder": BOOKKEEPING,
    "StoppedAddress": PERSONAL,
    "JoinRequest": "only the desk shows it",
    "Agreement": "only the pages of registration show it, which are not kept",
    "Download": "only a file for organisers has it",
    "Question": "only the page of questions shows it, which is not kept",
    "ResultsFile": "only its organisers' page shows it",
    "Registration": "only organisers and the team see it",
    "Signature": "only organisers and the team see it",
    "Judgment": "written with its version, and never changed",
    "MachineReplies": "only their own pages show them, which are not kept",
    "Mail": "a notice outside the site",
    "Mark": "a mark changes its document, which is shown",
    "MarkedAnswer": "written with its layer, and never changed",
    "Notice": "personal",
    "NuggetDraft": "only its writers' pages show it",
    "PracticeDocument": "only the pages of the judging show it",
    "PagesCopy": "only its organisers' page shows it",
    "PartialUpload": "it is no run yet",
    "UploadPiece": "it is no run yet",
    "SentForm": BOOKKEEPING,
    "Stratum": "written with its version of the judgments, and never changed",
    "SubtopicGrade": "written with its version of the judgments, and never changed",
    "TopicNuggets": "written with its version, and never changed",
    "TrackChange": "the version itself",
    "Webhook": "only organisers' webhooks show it",
    "WritingStep": "only its writers' pages show it",
    "Worker": "the banner of a stopped queue is on no kept page",
}


@dataclass(frozen=True)
class Trigger:
    """A trigger; its name tells what it does, so one that changes gets another name."""

    table: str
    act: str
    # Statements for the body, and what must hold for it to run.
    when: str
    body: str

    @property
    def name(self) -> str:
        text = "\n".join((self.table, self.act, self.when, self.body))
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{PREFIX}{self.table.removeprefix('leaderboard_')}_{self.act.lower()}_{digest}"

    def create(self, vendor: str) -> Iterator[str]:
        when = f"WHEN ({self.when}) " if self.when else ""
        begin = f'CREATE TRIGGER {self.name} AFTER {self.act} ON "{self.table}" FOR EACH ROW {when}'
        if vendor == "sqlite":
            yield f"{begin}BEGIN {self.body} END"
            return
        yield (
            f"CREATE OR REPLACE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$body$ BEGIN {self.body} RETURN NULL; END $body$"
        )
        yield f"{begin}EXECUTE FUNCTION {self.name}()"


def triggers(vendor: str) -> Iterator[Trigger]:
    """Return every trigger, in the language of a database."""
    for shown in SHOWN:
        for act in shown.acts:
            yield Trigger(
                shown.model._meta.db_table,
                act,
                _differs(shown, vendor) if act == "UPDATE" else "",
                _write_change(shown, act, vendor),
            )


def _differs(shown: Shown, vendor: str) -> str:
    differs = "IS NOT" if vendor == "sqlite" else "IS DISTINCT FROM"
    return " OR ".join(f'NEW."{name}" {differs} OLD."{name}"' for name in shown.columns)


def _write_change(shown: Shown, act: str, vendor: str) -> str:
    rows = {"INSERT": ["NEW"], "UPDATE": ["NEW", "OLD"], "DELETE": ["OLD"]}[act]
    found = " UNION ".join(shown.tracks.format(row=row) for row in rows)
    tracks = f"SELECT found.id FROM ({found}) AS found WHERE found.id IS NOT NULL"
    public = " OR ".join(f"coalesce({shown.public.format(row=row)}, false)" for row in rows)
    inside = f"NOT ({public})" if shown.public else "false"
    columns = "track_id, is_inside, written_in, token, at"
    if vendor == "sqlite":
        stamp = "strftime('%Y-%m-%d %H:%M:%f', 'now')"
        return (
            f"DELETE FROM {CHANGES} WHERE is_inside = ({inside}) AND track_id IN ({tracks}); "
            f"INSERT INTO {CHANGES} ({columns}) SELECT changed.id, ({inside}), 0, "
            f"abs(random() % {MOST_TOKENS}), {stamp} FROM ({tracks}) AS changed;"
        )
    return (
        f"INSERT INTO {CHANGES} ({columns}) SELECT changed.id, {inside}, txid_current(), "
        f"floor(random() * {MOST_TOKENS})::bigint, clock_timestamp() FROM ({tracks}) AS changed "
        "ON CONFLICT (track_id, is_inside, written_in) DO UPDATE SET token = excluded.token;"
    )


def drop_before_migrating(
    using: str, plan: Sequence[tuple[Migration, bool]] = (), **about: object
) -> None:
    """Drop the triggers where a migration could not be applied beside them.

    SQLite rebuilds tables that triggers name.  PostgreSQL changes no column that a trigger names;
    where a migration only adds, they stay, for older code that still runs.
    """
    connection = connections[using]
    if plan and (connection.vendor == "sqlite" or not all(_only_adds(*step) for step in plan)):
        drop(connection, existing_triggers(connection))


def _only_adds(migration: Migration, is_undone: bool) -> bool:
    if migration.app_label != "leaderboard":
        return True
    return not is_undone and all(isinstance(each, ADDITIONS) for each in migration.operations)


def install_after_migrating(using: str, apps: Any = all_apps, **about: object) -> None:
    """Make the triggers, if the database has every table and column of this version."""
    if all(_is_known(shown.model, apps) for shown in SHOWN) and _is_known(TrackChange, apps):
        install(connections[using])


def _is_known(model: type[models.Model], apps: Any) -> bool:
    try:
        known = apps.get_model("leaderboard", model.__name__)
    except LookupError:
        return False
    columns = {each.column for each in model._meta.concrete_fields}
    return columns <= {each.column for each in known._meta.concrete_fields}


def install(connection: BaseDatabaseWrapper) -> None:
    """Make the triggers that are missing, and drop those of other versions, both at one moment."""
    wanted = {each.name: each for each in triggers(connection.vendor)}
    with transaction.atomic(connection.alias), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Two hosts may start at once, and both find a trigger missing.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [PREFIX])
        existing = existing_triggers(connection)
        drop(connection, {name: table for name, table in existing.items() if name not in wanted})
        for name, trigger in wanted.items():
            if name not in existing:
                for statement in trigger.create(connection.vendor):
                    cursor.execute(statement)


def existing_triggers(connection: BaseDatabaseWrapper) -> dict[str, str]:
    """Return the tables of our triggers, by name."""
    query = {
        "sqlite": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname, relname FROM pg_trigger "
        "JOIN pg_class ON pg_class.oid = tgrelid WHERE NOT tgisinternal",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        return {name: table for name, table in cursor.fetchall() if name.startswith(PREFIX)}


def drop(connection: BaseDatabaseWrapper, names: Mapping[str, str]) -> None:
    """Drop triggers, given with their tables."""
    with connection.cursor() as cursor:
        for name in names:
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP FUNCTION IF EXISTS {name}() CASCADE")
