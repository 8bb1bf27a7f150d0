"""What makes an answer stale: every change of a row that answers about a track show."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.db import connection, models, transaction
from django.db.migrations import AddField, AlterField, Migration
from django.utils import timezone

from leaderboard.actions import snapshots
from leaderboard.boards import staleness
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.page_keys import find_seen_track
from leaderboard.boards.staleness import SHOWN, UNSHOWN, Shown
from leaderboard.boards.standings import find_board
from leaderboard.models import (
    Announcement,
    AssignedDocument,
    Assignment,
    Battles,
    BenchmarkSnapshot,
    Calculation,
    Guideline,
    MachineCard,
    Milestone,
    Overview,
    Run,
    Settlement,
    System,
    SystemVersion,
    Track,
    TrackChange,
    User,
)
from tests.benchmark_scene import make_benchmark
from tests.builders import (
    RUN,
    make_assessment,
    make_pool,
    make_reported,
    make_run,
    make_user,
    store_nuggets,
)

pytestmark = pytest.mark.long

# Values where another one of the same type would break a rule of the table.
VALUES: dict[str, Any] = {
    "Track.opens_at": timezone.now() - timedelta(days=400),
    "Track.closes_at": timezone.now() + timedelta(days=400),
    "Track.release_at": timezone.now() + timedelta(days=500),
    "Track.disclosure": "leaderboard",
    "Benchmark.commit_url": "https://example.org/{commit}",
    "Topic.position": 999,
}
# What has to be so before that field may have another value.
FIRST: dict[str, dict[str, Any]] = {
    "Track.ladder_step": {"disclosure": "leaderboard"},
}

# What changes only with another field, by a rule of the table.
BY_A_MACHINE = {"made_by": "machine", "machine": "a model"}
TOGETHER: dict[str, dict[str, Any]] = {
    "MarkLayer.made_by": BY_A_MACHINE,
    "MarkLayer.machine": BY_A_MACHINE,
    "MarkLayer.about": {"about": "support", "nuggets": None},
}


def make_scene(ada: User, ben: User, cat: User) -> Track:
    """A track with a row of every table that answers show."""
    benchmark = make_benchmark(ada, ben, cat)
    track = Track.objects.get(slug="bread")
    run = make_run(track, ben, RUN)
    benchmark.co_organisers.add(cat)
    texts = {"caption": "", "heads": [], "rows": [], "files": {}}
    BenchmarkSnapshot.objects.create(
        benchmark=benchmark, slug="final", name="Final", created_by=ada, **texts
    )
    judgments = track.judgment_set
    judgments.pooled_runs.add(run)
    snapshots.freeze_board(find_board(sight_of(track, ada)), ada, "final", "as published")
    Announcement.objects.create(track=track, text="Judgments v2 are out.", created_by=ada)
    Milestone.objects.create(track=track, label="Workshop", day=timezone.now().date())
    Overview.objects.get_or_create(track=track)
    system = System.objects.create(benchmark=benchmark, team=benchmark.teams.first(), name="oven")
    SystemVersion.objects.create(system=system, label="1", created_by=ben)
    MachineCard.objects.create(judgment_set=judgments, model="a model", prompt="Judge.")
    assessment = make_assessment(
        make_pool(track, ada, [run]), ada, make_user("dan"), shows_progress=True
    )
    Guideline.objects.get_or_create(
        assessment=assessment, number=1, defaults={"grades": [], "created_by": ada}
    )
    topic = track.collection.topics.first()
    assignment = Assignment.objects.filter(assessor__assessment=assessment).first()
    if not AssignedDocument.objects.exists():
        AssignedDocument.objects.create(assignment=assignment, docno="d1", place=1)
    given = {"topic": topic, "docno": "d1", "grade": 1}
    Settlement.objects.create(assessment=assessment, settled_by=ada, **given)
    store_nuggets(track)
    make_reported(benchmark)
    Battles.objects.create(track=track)
    Calculation.objects.all().delete()
    Calculation.objects.create(kind="judges", track=track, key="AP", request={})
    return track


def version_of(track: Track, viewer: Any = None) -> tuple[int, int]:
    seen = find_seen_track(viewer or track.benchmark.owner, track.slug)
    return (0, 0) if seen is None else (seen.version, seen.inside)


def sums(track: Track) -> list[tuple[Any, ...]]:
    rows = TrackChange.objects.filter(track=track).order_by("is_inside", "written_in")
    return list(rows.values_list("is_inside", "written_in", "token"))


def row_of(model: type[models.Model], track: Track) -> models.Model:
    """A row of a table that belongs to this track."""
    own = [each.name for each in model._meta.get_fields() if each.name == "track"]
    rows = model._base_manager.filter(**({"track": track} if own else {}))
    found = rows.filter(pk=track.pk) if model is Track else rows
    return found.first()


def shown_fields() -> Iterator[tuple[Shown, models.Field]]:
    for shown in SHOWN:
        for each in shown.model._meta.concrete_fields:
            if each.column in shown.columns and not each.primary_key and "UPDATE" in shown.acts:
                yield shown, each


def other_value(each: models.Field, old: Any, name: str) -> Any:
    """Another value of the type of a field."""
    if name in VALUES:
        return VALUES[name]
    if each.choices:
        return next(value for value, _ in each.choices if value != old)
    if isinstance(each, models.ForeignKey):
        # Constraints are checked when the transaction ends, and this one is rolled back.
        return 10**6 if not isinstance(each.target_field, models.CharField) else "nobody"
    match each:
        case models.BooleanField():
            return not old
        case models.DateTimeField():
            return timezone.now() + timedelta(days=300)
        case models.DateField():
            return (timezone.now() + timedelta(days=300)).date()
        case models.JSONField():
            return [old, "changed"]
        case models.BinaryField():
            return b"changed"
        case models.FloatField() | models.IntegerField():
            return (old or 0) + 1
    return f"changed-{old}"[: each.max_length]


@pytest.mark.parametrize(
    ("shown", "each"),
    [pytest.param(*pair, id=f"{pair[0].model.__name__}.{pair[1].name}") for pair in shown_fields()],
)
def test_a_change_of_any_shown_field_makes_answers_stale(scene, shown, each):
    row, name = row_of(shown.model, scene), f"{shown.model.__name__}.{each.name}"
    rows = shown.model._base_manager.filter(pk=row.pk)
    value = other_value(each, getattr(row, each.attname), name)
    with transaction.atomic():
        if name in FIRST:
            rows.update(**FIRST[name])
        before = sums(scene)
        rows.update(**TOGETHER.get(name, {each.attname: value}))
        after = sums(scene)
        transaction.set_rollback(True)
    assert after != before


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.model.__name__)
def test_a_row_that_comes_or_goes_makes_answers_stale(scene, shown):
    row, before = row_of(shown.model, scene), sums(scene)
    if "DELETE" not in shown.acts:
        return
    with transaction.atomic():
        shown.model._base_manager.filter(pk=row.pk)._raw_delete("default")
        gone = sums(scene)
        row.save(force_insert=True)
        back = sums(scene)
        transaction.set_rollback(True)
    assert before != gone != back


def test_every_table_is_shown_or_has_a_reason():
    shown = {each.model.__name__ for each in SHOWN}
    known = apps.get_app_config("leaderboard").get_models()
    assert {model.__name__ for model in known} == UNSHOWN.keys() | {
        name for name in shown if "_" not in name
    }
    assert not shown & UNSHOWN.keys()


def test_a_change_of_nothing_leaves_answers_as_they_are(scene):
    before = sums(scene)
    Run.objects.update(tag=models.F("tag"))
    User.objects.update(last_login=timezone.now(), password="other")
    assert sums(scene) == before


def test_a_change_that_is_rolled_back_leaves_answers_as_they_are(scene):
    before = sums(scene)
    with transaction.atomic():
        Run.objects.update(tag="other")
        transaction.set_rollback(True)
    assert sums(scene) == before


def test_a_waiting_run_changes_what_its_team_sees_alone(scene, ben):
    public, inside = version_of(scene, AnonymousUser()), version_of(scene, ben)
    Run.objects.filter(track=scene).update(state="queued")
    before = version_of(scene, AnonymousUser())
    Run.objects.filter(track=scene).update(state="checking")
    assert version_of(scene, AnonymousUser())[0] == before[0] != public[0]
    assert version_of(scene, ben)[1] != inside[1]


def test_old_changes_become_one_and_no_version_returns(scene):
    before, later = sums(scene), timezone.now() + timedelta(hours=2)
    for number in range(3):
        TrackChange.objects.create(track=scene, is_inside=False, written_in=90 + number, token=7)
    TrackChange.objects.merge_old(later)
    after = [row for row in sums(scene) if not row[0]]
    assert len(after) == 1 and after != before and after[0][1] == -1


def test_the_triggers_are_made_once(scene):
    made = staleness.existing_triggers(connection)
    staleness.install(connection)
    assert staleness.existing_triggers(connection) == made
    assert len(made) == sum(len(shown.acts) for shown in SHOWN)


def test_triggers_of_another_version_are_dropped(scene):
    made = staleness.existing_triggers(connection)
    staleness.drop(connection, dict(list(made.items())[:5]))
    assert len(staleness.existing_triggers(connection)) == len(made) - 5
    staleness.install_after_migrating("default")
    assert staleness.existing_triggers(connection) == made


def change_column(name: str) -> Migration:
    """A migration with one operation on a column that triggers name."""
    migration = Migration(name, "leaderboard")
    operation = {"widened": AlterField, "added": AddField}[name]
    migration.operations = [operation("Run", "tag", models.CharField(max_length=500))]
    return migration


def test_triggers_go_before_a_column_that_they_name_is_altered(db: None) -> None:
    """PostgreSQL alters none while they are there."""
    staleness.drop_before_migrating("default", [(change_column("widened"), False)])
    assert not staleness.existing_triggers(connection)


def test_triggers_stay_on_postgresql_while_a_migration_only_adds(db: None) -> None:
    """Older code still writes rows meanwhile."""
    staleness.drop_before_migrating("default", [(change_column("added"), False)])
    stays = connection.vendor == "postgresql"
    assert bool(staleness.existing_triggers(connection)) == stays
