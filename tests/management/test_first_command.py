"""A command may be the first thing that is ever run in a new home."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

MANAGE = Path(__file__).parents[2] / "manage.py"


def test_create_token_lays_out_the_database_itself(tmp_path):
    home = {**os.environ, "RANKFIELD_HOME": str(tmp_path)}
    home.pop("DJANGO_SETTINGS_MODULE", None)
    made = [sys.executable, str(MANAGE), "create_token", "ada"]
    answer = subprocess.run(made, env=home, capture_output=True, text=True, check=False)
    assert answer.stdout.startswith("rf_"), answer.stderr
