"""Pages stay fast where tables are large: PostgreSQL finds what they ask for by indexes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.services.machines import ROOT, Postgres, folder

pytestmark = [
    pytest.mark.services,
    pytest.mark.night,
    pytest.mark.xdist_group("services"),
]
Plans = dict[str, list[str]]


@pytest.fixture(scope="module")
def plans(postgres: Postgres) -> list[Plans]:
    """By page the statements that read a table of 100,000 rows whole; then without indexes."""
    postgres.run("createdb", "-h", str(postgres.folder), "-U", "rankfield", "plans")
    with folder() as home:
        server = {
            "DATABASE_URL": postgres.url.replace("/rankfield?", "/plans?"),
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "RANKFIELD_HOME": str(home),
        }
        command = [sys.executable, "-m", "tests.services.query_plans"]
        environment = {**os.environ, **server}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_no_page_reads_a_large_table_whole(plans: list[Plans]) -> None:
    """What many people read, and what they do over and over: 57 pages and acts."""
    whole, _ = plans
    assert len(whole) > 50
    assert {page: statements for page, statements in whole.items() if statements} == {}


def test_a_table_that_is_read_whole_is_seen(plans: list[Plans]) -> None:
    _, unindexed = plans
    for page in ("anyone:/benchmarks/food/tracks/bread/board/", "ben:/runs/", "a run by API"):
        assert any("leaderboard_run" in statement for statement in unindexed[page])
