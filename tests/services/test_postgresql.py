"""What the other tests show on SQLite holds on PostgreSQL too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.services.machines import ROOT, Postgres, Redis, ServerSite

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]


# Where databases differ most: locks, quotas, and what a column can hold.
BY_DAY = [
    *("tests/jobs", "tests/runs", "tests/api/test_parameters.py"),
    "tests/infrastructure/test_request_slots.py",
]
BY_NIGHT = [
    f"tests/{package}"
    for package in (
        "actions",
        "analysis",
        "archives",
        "boards",
        "collections",
        "infrastructure",
        "management",
        "notifications",
        "scoring",
    )
]
WALKS = ["tests/security/test_parameters.py", "tests/api/test_parameters.py"]
WORLDS = "tests/boards/test_noninterference.py"


@pytest.mark.night
def test_what_databases_differ_in_goes_the_same_way_on_postgresql(postgres: Postgres) -> None:
    """Pytest makes a test database of its own beside the site's."""
    server = {"DATABASE_URL": postgres.url, "RANKFIELD_DATA": ""}
    run_on(server, "-m", "not night", *BY_DAY)


@pytest.mark.night
def test_the_journeys_go_the_same_way_on_postgresql(postgres: Postgres) -> None:
    server = {"DATABASE_URL": postgres.url, "RANKFIELD_DATA": ""}
    run_on(server, *BY_NIGHT, f"--ignore={WORLDS}")


@pytest.mark.night
def test_no_answer_depends_on_the_judgments_on_postgresql(postgres: Postgres) -> None:
    """One world of three; all of them are held against each other on SQLite."""
    secret = f"{WORLDS}::test_no_answer_depends_on_the_judgments[no judgments]"
    run_on({"DATABASE_URL": postgres.url, "RANKFIELD_DATA": ""}, secret)


@pytest.mark.night
def test_no_parameter_breaks_an_address_on_postgresql(postgres: Postgres) -> None:
    """It stores no NUL and no number larger than its column, where SQLite stores any."""
    run_on({"DATABASE_URL": postgres.url, "RANKFIELD_DATA": ""}, *WALKS)


@pytest.mark.night
@pytest.mark.data
def test_hostile_forms_are_answered_the_same_way(postgres: Postgres, redis: Redis) -> None:
    """Hostile files are sent to a whole site in test_bad_inputs, races are run in test_races."""
    servers = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
    run_on(servers, "tests/actions/test_bad_inputs.py::test_a_form", "tests/api/test_bad_input.py")


def test_a_statement_for_a_page_has_half_a_minute_and_one_of_a_worker_its_time(
    postgres: Postgres,
) -> None:
    assert statement_timeout(postgres, "leaderboard.wsgi") == "30s"
    assert statement_timeout(postgres, "leaderboard.jobs.broker") == "0"


# The connections of web and workers.
SERVING = """from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()"""


def test_pages_open_at_once_after_the_database_has_ended_its_connections(
    server_site: ServerSite,
) -> None:
    """Web keeps its connections between requests, and checks one before it is used again."""
    assert all(server_site.answers() for _ in range(8))
    kept = server_site.rows(f"select pid {SERVING}")
    server_site.rows(f"select pg_terminate_backend(pid) {SERVING}")
    assert kept and all(server_site.answers() for _ in range(8))


def statement_timeout(postgres: Postgres, started: str) -> str:
    asks = f"""
import django, {started}
from django.db import connection
django.setup()
with connection.cursor() as cursor:
    cursor.execute("SHOW statement_timeout")
    print(*cursor.fetchone())
"""
    server = {"DATABASE_URL": postgres.url, "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    command = [sys.executable, "-c", asks]
    environment = {**os.environ, **server}
    return subprocess.check_output(command, cwd=ROOT, env=environment, text=True).strip()


def run_on(servers: dict[str, str], *tests: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *tests],
        cwd=ROOT,
        env={**os.environ, **servers},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:]
