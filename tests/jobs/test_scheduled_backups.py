"""Backups on a schedule: written in time, few enough kept, failures told."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from leaderboard.analysis.health_checks import check_backups
from leaderboard.archives.backups import read_backup
from leaderboard.jobs import backups, cleanup
from leaderboard.models import Collection, Job
from tests.builders import make_run, work


@pytest.fixture
def folder(transactional_db, settings, tmp_path) -> Path:
    settings.BACKUP_FOLDER, settings.BACKUP_KEEP = str(tmp_path / "backups"), 2
    return tmp_path / "backups"


def a_day_later(days: int = 1) -> None:
    """Workers look again, a day after all that was done."""
    for job in Job.objects.filter(kind="back_up"):
        job.created_at -= timedelta(days=days)
        job.finished_at -= timedelta(days=days)
        job.save()
    cleanup.sweep()
    work()


def findings() -> list[str]:
    return [finding.level for finding in check_backups()]


def test_without_a_folder_nothing_is_backed_up(db):
    cleanup.sweep()
    assert not Job.objects.exists() and findings() == ["good"]


def test_a_worker_writes_a_whole_backup_and_no_second_one_soon(folder, track, ben):
    make_run(track, ben)
    a_day_later()
    [backup] = folder.iterdir()
    assert re.fullmatch(r"rankfield-\d{8}T\d{6}Z", backup.name)
    assert read_backup(backup).counts["run"] == 1
    cleanup.sweep()
    work()
    assert [backup] == list(folder.iterdir()) and findings() == ["good"]


def test_the_last_ones_are_kept_and_strangers_files_stay(folder, monkeypatch):
    (folder / "by hand").mkdir(parents=True)
    (folder / "rankfield-20200101T000000Z.0.part").mkdir()
    began = timezone.now()
    for day in range(4):
        monkeypatch.setattr(backups.timezone, "now", lambda day=day: began + timedelta(days=day))
        cleanup.sweep()
        work()
    names = sorted(path.name for path in folder.iterdir())
    wanted = [f"rankfield-{began + timedelta(days=day):%Y%m%dT%H%M%SZ}" for day in (2, 3)]
    assert names == ["by hand", *wanted]


def test_a_backup_that_fails_keeps_the_others_and_is_told_and_tried_again(folder, monkeypatch):
    a_day_later()
    [first] = folder.iterdir()
    before = [first.rename(folder / "rankfield-20200101T000000Z")]
    with monkeypatch.context() as broken:
        broken.setattr(backups, "_copy_database", lambda _: Path("/no/such/disk").read_text())
        a_day_later()
        assert list(folder.iterdir()) == before
        failed = Job.objects.get(kind="back_up", state="failed")
        assert "No such file" in failed.reason and findings() == ["bad"]
        cleanup.sweep()
        assert not Job.objects.open().exists()
    failed.created_at -= timedelta(hours=2)
    failed.save()
    cleanup.sweep()
    work()
    assert len(list(folder.iterdir())) == 2 and findings() == ["good"]


def test_backups_that_stopped_are_told(folder):
    a_day_later()
    Job.objects.update(finished_at=timezone.now() - timedelta(days=3))
    assert findings() == ["bad"]


def test_a_worker_without_the_folder_leaves_the_job_to_others(folder, settings):
    cleanup.sweep()
    settings.BACKUP_FOLDER = ""
    work()
    assert Job.objects.get().state == "queued"


@pytest.mark.parametrize("step", ["remove_broken_backups", "remove_old_backups"])
def test_what_cannot_be_tidied_away_stops_no_backup(folder, monkeypatch, step):
    monkeypatch.setattr(backups, step, lambda folder: next(folder.glob("no such backup")))
    a_day_later()
    assert len(backups.list_backups(folder)) == 1 and findings() == ["good"]


def test_a_cleanup_that_fails_stops_no_backup(folder, monkeypatch):
    monkeypatch.setattr(Collection.objects, "abandoned", lambda: 1 / 0)
    a_day_later()
    assert len(backups.list_backups(folder)) == 1
