"""What the other tests show on SQLite holds on PostgreSQL too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.services.machines import ROOT, Postgres

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]


def test_the_journeys_go_the_same_way_on_postgresql(postgres: Postgres) -> None:
    """Pytest makes a test database of its own beside the site's.

    Worlds that must look alike need keys that roll back, and PostgreSQL counts on.
    """
    worlds = "--ignore=tests/flows/test_noninterference.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/flows", worlds],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": postgres.url, "RANKFIELD_DATA": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:]
