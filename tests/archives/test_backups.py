"""Backups: what they hold, and what is refused instead of half restored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.files.storage import default_storage

from leaderboard.archives.backups import read_backup, restore_backup
from leaderboard.jobs.backups import BackupError, create_backup
from tests.builders import make_run


@pytest.fixture
def backup(transactional_db, track, ben, tmp_path) -> Path:
    """Of a site with one scored run."""
    make_run(track, ben)
    create_backup(tmp_path / "backup")
    return tmp_path / "backup"


def test_a_backup_holds_the_files_that_the_rows_name(backup, track):
    run = track.runs.get()
    kept = read_backup(backup)
    assert kept.counts == {"user": 2, "track": 1, "run": 1} and kept.gone == []
    assert (backup / "files" / run.file.name).read_bytes() == run.file.open().read()


def test_nobody_else_reads_a_backup(backup):
    assert backup.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in backup.glob("database*"))


def test_a_file_that_the_sweeper_took_meanwhile_is_told(transactional_db, track, ben, tmp_path):
    run = make_run(track, ben)
    default_storage.delete(run.file.name)
    assert create_backup(tmp_path / "backup").gone == [run.file.name]


def test_a_backup_that_broke_off_leaves_nothing(
    transactional_db, track, ben, tmp_path, monkeypatch
):
    make_run(track, ben)
    monkeypatch.setattr("leaderboard.jobs.backups.copy_file", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        create_backup(tmp_path / "backup")
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == []


def test_a_folder_that_is_there_is_not_written_into(db, tmp_path):
    with pytest.raises(BackupError, match="already exists"):
        create_backup(tmp_path)


def test_a_site_that_has_accounts_is_not_written_over(backup):
    with pytest.raises(BackupError, match="already has accounts"):
        restore_backup(backup)


@pytest.mark.parametrize("fault", ["changed", "gone", "no manifest", "leads out", "not a folder"])
def test_a_backup_that_is_not_whole_is_refused_before_anything_is_written(backup, fault, tmp_path):
    manifest, database = backup / "manifest.json", next(backup.glob("database.*"))
    if fault == "changed":
        database.write_bytes(database.read_bytes()[:-1] + b"x")
    elif fault == "gone":
        next((backup / "files" / "runs").rglob("file-*")).unlink()
    elif fault == "no manifest":
        manifest.unlink()
    elif fault == "leads out":
        kept = json.loads(manifest.read_text())
        kept["sums"]["../../secret"] = "0"
        manifest.write_text(json.dumps(kept))
    with pytest.raises(BackupError):
        read_backup(tmp_path / "nothing" if fault == "not a folder" else backup)
