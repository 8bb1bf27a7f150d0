"""An upgrade: what is compared, what it refuses, and the whole way from the code of before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from leaderboard.archives import upgrades
from leaderboard.archives.upgrades import find_broken_boards, find_losses, take_stock
from leaderboard.infrastructure.storage import find_columns
from leaderboard.jobs.backups import Backup
from leaderboard.models import Job, Run, Score, Track
from tests.builders import make_run
from tests.services.machines import ROOT, own_postgres
from tests.upgrades import code_of, commit_before_the_last_migration, run

EMPTY = Backup("0.1.0", "2026-11-28", {}, [], {})


def test_nothing_is_lost_where_nothing_changes(track, ben):
    make_run(track, ben)
    before = take_stock()
    Job.objects.all().delete()
    assert before.scores and before.tracks == {track.slug}
    assert list(find_losses(before, take_stock())) == []
    assert list(find_broken_boards(before.tracks)) == []


def test_a_row_that_is_missing_and_a_mean_that_changed_are_losses(track, ben):
    make_run(track, ben)
    before = take_stock()
    counts = {**before.counts, "leaderboard_run": before.counts["leaderboard_run"] + 2}
    Score.objects.filter(measure="AP").update(mean=0.125)
    found = list(find_losses(replace(before, counts=counts), take_stock()))
    assert found == ["run: 2 rows of 3 missing", f"track {track.slug}: 1 mean changed or missing"]


def test_what_is_new_is_said(track, ben):
    before = take_stock()
    counts = {name: n for name, n in before.counts.items() if name != "leaderboard_question"}
    make_run(track, ben)
    changes = list(upgrades.describe_changes(replace(before, counts=counts), take_stock()))
    assert "new table question, 0 rows" in changes and "run: 0 rows before, 1 after" in changes


def test_a_board_that_is_gone_is_found(track, ben):
    make_run(track, ben)
    Track.objects.update(edition=None)
    assert list(find_broken_boards({track.slug})) == [
        f"track {track.slug}: it has scores and no board"
    ]


def test_files_of_a_table_that_the_database_lacks_are_not_asked_for(db):
    assert "file" in find_columns(Run._meta.db_table)
    assert find_columns("leaderboard_of_next_year") == set()


@pytest.fixture
def recorded(db, monkeypatch):
    """What the database says was applied."""
    applied: dict[tuple[str, str], object] = {}
    recorder = "django.db.migrations.recorder.MigrationRecorder.applied_migrations"
    monkeypatch.setattr(recorder, lambda _: applied)
    return applied


def test_a_database_of_a_later_version_is_refused(recorded, tmp_path):
    recorded["leaderboard", "0999_next_year"] = None
    with pytest.raises(CommandError, match=r"no way down.*restore a backup"):
        call_command("upgrade", tmp_path / "backup")
    assert not (tmp_path / "backup").exists()


@pytest.fixture
def pending(db, monkeypatch):
    monkeypatch.setattr(upgrades, "find_pending", lambda: ["leaderboard.0999_next_year"])


def test_the_plan_changes_nothing(pending, capsys):
    call_command("upgrade", "--plan")
    assert "1 migration to apply: leaderboard.0999_next_year." in capsys.readouterr().out


def test_without_a_folder_for_its_backup_nothing_is_upgraded(pending):
    with pytest.raises(CommandError, match="folder for the backup"):
        call_command("upgrade")


def test_a_backup_that_cannot_be_made_stops_the_upgrade(pending, tmp_path):
    with pytest.raises(CommandError, match=r"Nothing was changed: .* already exists"):
        call_command("upgrade", tmp_path)


def test_a_migration_that_fails_says_how_to_go_back(pending, tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("no such column")

    monkeypatch.setattr("leaderboard.management.commands.upgrade.call_command", fail)
    monkeypatch.setattr("leaderboard.management.commands.upgrade.create_backup", lambda _: EMPTY)
    with pytest.raises(CommandError, match=f"manage.py restore {tmp_path}"):
        call_command("upgrade", tmp_path)


def manage(home: Path, database: str, *words: str) -> str:
    return run(ROOT, home, database, "manage.py", *words)


@pytest.mark.night
@pytest.mark.services
@pytest.mark.parametrize("kind", ["SQLite", "PostgreSQL"])
def test_a_home_of_the_code_before_is_upgraded_and_goes_back(kind, tmp_path, monkeypatch):
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)
    with own_postgres() as postgres, code_of(commit_before_the_last_migration()) as code:
        urls = [postgres.with_database(name) if kind != "SQLite" else "" for name in ("a", "b")]
        collect = ("manage.py", "collectstatic", "--no-input", "-v0")
        home, other, backup = tmp_path / "home", tmp_path / "other", tmp_path / "backup"
        run(code, home, urls[0], "manage.py", "migrate", "-v0")
        run(code, home, urls[0], *collect)
        run(code, home, urls[0], "-m", "tests.upgrade_home")
        said = manage(home, urls[0], "upgrade", str(backup))
        assert "Verified: no row is missing" in said and f"manage.py restore {backup}" in said
        assert "files, each with its row" in manage(home, urls[0], "doctor", "--hash")
        assert "already" in manage(home, urls[0], "upgrade", str(tmp_path / "second"))
        restored = run(code, other, urls[1], "manage.py", "restore", str(backup))
        assert "Restored the backup of" in restored
        assert run(code, other, urls[1], "manage.py", "migrate", "--check") == ""
