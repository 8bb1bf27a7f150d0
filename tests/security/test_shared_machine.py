"""T4 and T25: what other accounts, caches and passers-by learn beside the answers."""

from __future__ import annotations

import logging
import re
import stat
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.environment import private_folder
from leaderboard.models import Run
from tests.api.conftest import Program
from tests.builders import make_run, make_track
from tests.security.test_deployment import manage

pytestmark = pytest.mark.long


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_t25_nobody_else_opens_the_home_or_what_is_new_in_it(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    assert manage(home, ["migrate", "--verbosity", "0"]).returncode == 0
    assert mode_of(home) == 0o700
    found = [path for path in home.rglob("*") if mode_of(path) & 0o077]
    assert (home / "rankfield.sqlite3").exists() and not found


def test_t25_a_stored_file_is_for_this_account_alone(db):
    name = default_storage.save("runs/a/file", ContentFile(b"1 Q0 d1 1 1 a\n"))
    path = Path(default_storage.path(name))
    assert (mode_of(path), mode_of(path.parent)) == (0o600, 0o700)


def test_t25_a_folder_that_everybody_shares_is_not_closed(tmp_path):
    tmp_path.chmod(0o1777)
    private_folder(tmp_path)
    assert mode_of(tmp_path) == 0o1777


@pytest.fixture
def hidden_runs(collection, blind_track, track, ben) -> list[str]:
    """Of a blind track, of a track of members, and a rejected one on an open board."""
    members = make_track(collection, slug="members", visibility="members", joining="invitation")
    runs = [
        make_run(blind_track, ben),
        make_run(members, members.benchmark.owner),
        make_run(track, ben),
    ]
    Run.objects.filter(pk=runs[2].pk).update(state="refused")
    return [run.pk for run in runs]


@pytest.mark.parametrize("address", ["/runs/{}/", "/runs/{}/file/", "/api/v1/runs/{}"])
def test_t04_a_hidden_run_costs_the_queries_of_a_missing_one(hidden_runs, as_cat, client, address):
    for reader in (as_cat, client):
        statements = []
        for run in [*hidden_runs, "missing234"]:
            with CaptureQueriesContext(connection) as queries:
                assert reader.get(address.format(run)).status_code in (302, 404)
            statements.append([re.sub(r"'[^']*'", "?", each["sql"]) for each in queries])
        assert statements[:-1] == [statements[-1]] * len(hidden_runs)


def test_t04_what_members_see_is_kept_by_no_cache_on_the_way(track, ben, as_ben, client):
    run = make_run(track, ben)
    for address in (
        "/",
        "/benchmarks/bread/board/",
        f"/runs/{run.pk}/file/",
        "/nothing/",
        "/api/v1/tracks",
    ):
        assert "private" in as_ben.get(address)["Cache-Control"], address
    assert "private" in Program(ben).get("/api/v1/me")["Cache-Control"]
    words = {"login": "ben", "password": "ben-s-word"}
    assert "private" in client.post("/account/login/", words)["Cache-Control"]


def test_t04_a_badge_stays_public(track, ben, as_ben):
    make_run(track, ben)
    assert "private" not in as_ben.get("/benchmarks/bread/badge.svg")["Cache-Control"]


def test_t25_a_wrong_host_is_one_line_of_warning(client, caplog):
    answer = client.get("/limits/", headers={"Host": "elsewhere.example.org"})
    [line] = [each for each in caplog.records if each.name == "django.security.DisallowedHost"]
    assert answer.status_code == 400
    assert (line.levelno, line.exc_info) == (logging.WARNING, None)


def test_t25_too_many_fields_are_no_fault_of_the_site(db, caplog):
    Client().post("/account/login/", {f"field{n}": "" for n in range(1100)})
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]
