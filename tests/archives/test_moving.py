"""A site that moves: read-only meanwhile, resumed after an interruption, the same afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from leaderboard.archives import moving
from leaderboard.archives.moving import MoveError, move_files, read_ledger
from leaderboard.infrastructure.read_only import switch_read_only
from leaderboard.infrastructure.storage import DiskStorage, sha256_of, stored_file_names
from leaderboard.jobs.running import claim_job
from leaderboard.models import Job, Run
from tests.builders import RUN, make_run, upload
from tests.services.machines import ROOT, own_postgres
from tests.services.test_buckets import KEYS, Stores


@pytest.fixture(autouse=True)
def home(settings, tmp_path: Path) -> Path:
    settings.RANKFIELD_HOME = tmp_path / "home"
    settings.RANKFIELD_HOME.mkdir()
    return settings.RANKFIELD_HOME


def test_a_read_only_site_is_read_and_not_changed(track, ben, as_ben):
    switch_read_only(True)
    assert as_ben.get(f"/benchmarks/{track.slug}/").status_code == 200
    page = as_ben.post(f"/benchmarks/{track.slug}/submit/", {"file": upload("a.run", RUN)})
    assert page.status_code == 503 and "read-only for a while" in page.text
    assert page["Retry-After"] == "600" and not Run.objects.exists()
    call = as_ben.delete("/api/v1/runs/x", headers={"Authorization": "Bearer rf_x"})
    assert call.status_code == 503 and call.json()["code"] == "E_AWAY"


def test_a_worker_begins_no_job_of_a_read_only_site(db):
    Job.objects.create(kind="check_run", target_id="x")
    switch_read_only(True)
    assert claim_job("rankfield-1@here") is None
    switch_read_only(False)
    assert claim_job("rankfield-1@here") is not None


def test_the_command_says_which_it_is(capsys):
    call_command("read_only", "on")
    call_command("read_only")
    call_command("read_only", "off")
    assert capsys.readouterr().out.split("\n")[:3] == ["read-only"] * 2 + ["read and write"]


class Bucket(DiskStorage):
    """A folder that stands for a bucket, and fails at some file."""

    fails_at = -1
    damages = False

    def _save(self, name: str, content: Any) -> str:
        self.fails_at -= 1
        if self.fails_at == 0:
            raise OSError("the network is gone")
        saved = super()._save(name, content)
        if self.damages:
            Path(self.path(saved)).write_bytes(b"x")
        return saved

    def hash_stored(self, name: str) -> str:
        with self.open(name) as file:
            return sha256_of(file)


@pytest.fixture
def bucket(track, ben, tmp_path, settings) -> Bucket:
    settings.NEW_S3_BUCKET = "rankfield"
    make_run(track, ben)
    return Bucket(location=tmp_path / "bucket")


def test_every_file_of_a_row_is_moved_and_compared(bucket):
    names = set(stored_file_names())
    moved = move_files(bucket)
    assert (moved.total, moved.known) == (len(names), 0)
    for name in names:
        with default_storage.open(name) as file:
            assert bucket.hash_stored(name) == sha256_of(file)


def test_a_move_goes_on_after_an_interruption(bucket, home):
    bucket.fails_at = 3
    with pytest.raises(OSError, match="network"):
        move_files(bucket)
    ledger = home / "moved_to_rankfield"
    assert len(read_ledger(ledger)) == 2
    ledger.open("a").write("0123456789")
    moved = move_files(bucket)
    assert moved.known == 2 and moved.total == len(read_ledger(ledger))


def test_a_file_that_arrives_changed_stops_the_move(bucket):
    bucket.damages = True
    with pytest.raises(MoveError, match="is not the same in the bucket"):
        move_files(bucket)


def test_a_file_that_left_the_bucket_since_is_noticed(bucket):
    move_files(bucket)
    bucket.delete(Run.objects.get().file.name)
    with pytest.raises(MoveError, match="missing in the bucket"):
        move_files(bucket)


def test_a_move_that_fails_stays_read_only_and_says_how_to_give_up(db, settings, monkeypatch):
    def fail(*_: object) -> None:
        raise MoveError("runs/x is missing on the disk.")

    settings.NEW_S3_BUCKET = "rankfield"
    monkeypatch.setattr(moving, "open_bucket", lambda: None)
    monkeypatch.setattr(moving, "move_files", fail)
    with pytest.raises(CommandError, match="give up by `manage"):
        call_command("move")
    call_command("read_only", "off")


def test_a_job_that_runs_on_stops_the_move(db, settings):
    settings.NEW_S3_BUCKET = "rankfield"
    Job.objects.create(kind="check_run", target_id="x", state=Job.State.RUNNING)
    with pytest.raises(CommandError, match="1 job did not end in time"):
        call_command("move", "--wait", "0")


def test_without_a_goal_nothing_moves(db, settings):
    settings.NEW_S3_BUCKET = settings.NEW_DATABASE_URL = ""
    with pytest.raises(CommandError, match="NEW_S3_BUCKET, NEW_DATABASE_URL"):
        call_command("move")


def run(home: Path, *words: str, fails: bool = False, **settings: str) -> str:
    """What a command prints on the site of a folder."""
    own = {"RANKFIELD_HOME": str(home), "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": "", **own, **settings},
        capture_output=True,
        text=True,
    )
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


@pytest.mark.night
@pytest.mark.services
def test_a_site_is_the_same_on_postgresql_and_in_a_bucket(tmp_path):
    stores, home = Stores(), tmp_path / "site"
    stores.start()
    with own_postgres() as postgres:
        store = {**KEYS, "S3_ENDPOINT": f"http://127.0.0.1:{stores.port}"}
        url = postgres.with_database("moved")
        goal = {**store, "NEW_DATABASE_URL": url, "NEW_S3_BUCKET": "moved"}
        make_bucket(stores, "moved")
        run(home, "manage.py", "migrate", "-v0")
        run(home, "manage.py", "collectstatic", "--no-input", "-v0")
        run(home, "-m", "tests.upgrade_home")
        before = stored(home)
        said = run(home, "manage.py", "move", **goal)
        assert "every table with the same hash" in said and "same SHA-256" in said
        again = run(home, "manage.py", "move", **goal)
        assert "every table with the same hash" in again
        moved = {**store, "DATABASE_URL": url, "S3_BUCKET": "moved"}
        (home / "files").rename(tmp_path / "files-of-before")
        (home / "rankfield.sqlite3").rename(tmp_path / "rankfield.sqlite3")
        run(home, "manage.py", "read_only", "off", **moved)
        assert stored(home, **moved) == before
        assert "files, each with its row" in run(home, "manage.py", "doctor", "--hash", **moved)
        run(home, "manage.py", "create_token", "zoe", "--organiser", **moved)
        stranger = run(home, "manage.py", "move", fails=True, **moved, NEW_S3_BUCKET="other")
        assert "in a bucket already" in stranger
    stores.server.stop()


@pytest.mark.night
@pytest.mark.services
def test_a_database_with_another_site_is_left_alone(tmp_path):
    with own_postgres() as postgres:
        url, home, other = postgres.with_database("taken"), tmp_path / "site", tmp_path / "other"
        run(home, "manage.py", "migrate", "-v0")
        run(home, "manage.py", "create_token", "ada")
        run(other, "manage.py", "migrate", "-v0", DATABASE_URL=url)
        run(other, "manage.py", "create_token", "eve", DATABASE_URL=url)
        said = run(home, "manage.py", "move", fails=True, NEW_DATABASE_URL=url)
        assert "The new database differs in" in said and "leaderboard_user" in said


def stored(home: Path, **settings: str) -> list[dict[str, object]]:
    """What each benchmark and collection has of each kind."""
    found = json.loads(run(home, "manage.py", "storage", "--json", **settings))
    return [row for row in found if row["kind of owner"] != "site"]


def make_bucket(stores: Stores, name: str) -> None:
    import boto3

    names = {"aws_access_key_id": "key", "aws_secret_access_key": "word"}
    endpoint = f"http://127.0.0.1:{stores.port}"
    store = boto3.resource("s3", endpoint_url=endpoint, region_name="us-east-1", **names)
    store.create_bucket(Bucket=name)
