"""The faults that can be made at every change; `make faults` makes all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.db.models import FileField

from tests.faults import databases, files, hosts, messages, people, workers
from tests.faults.catalogue import FAULTS, Fault, make
from tests.faults.chaos import rage
from tests.faults.invariants import FILES, broken
from tests.faults.stage import Stage
from tests.services.machines import ROOT

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("faults")]

MODULES = (workers, messages, databases, files, hosts, people)
OFTEN = [(each.often, each) for each in FAULTS if each.often]
# One by day, and the others by night.
CELLS = [OFTEN[0], *(pytest.param(*each, marks=pytest.mark.night) for each in OFTEN[1:])]


@pytest.mark.parametrize(("stage", "fault"), CELLS, ids=str, indirect=["stage"])
def test_everything_holds_after(stage: Stage, fault: Fault) -> None:
    assert make(fault, stage).broken == []


def test_every_fault_of_the_model_is_made() -> None:
    assert {each.number for each in FAULTS} == {f"F{number}" for number in range(1, 25)}


def test_every_file_that_a_row_may_name_is_looked_for() -> None:
    models = apps.get_app_config("leaderboard").get_models()
    fields = [each for model in models for each in model._meta.fields]
    files = [each for each in fields if isinstance(each, FileField)]
    assert {(each.model._meta.model_name, each.name) for each in files} == set(FILES)


@pytest.mark.night
@pytest.mark.parametrize("stage", ["embedded", "servers"], indirect=True)
def test_nothing_is_lost_in_a_minute_of_chaos(stage: Stage) -> None:
    outcome = rage(stage, seconds=60, seed=7, pause=(3, 8))
    assert outcome.broken == []
    assert outcome.runs > 3


def test_a_lost_run_and_a_second_score_are_seen(embedded: Stage) -> None:
    """What the checker says of a site that was tampered with."""
    scene = embedded.scene("tampered")
    run = scene.send()
    scene.heal()
    assert broken(scene) == []
    scene.sent["never-taken"] = scene.sent[run]
    assert any("never-taken was answered and is lost" in each for each in broken(scene))


FAILS = """
import pytest
from tests.services.machines import SqliteSite

@pytest.fixture
def site(tmp_path):
    (tmp_path / "work.log").write_text("the worker broke")
    return SqliteSite(tmp_path)

def test_nothing_is_lost(site):
    assert not site
"""


def test_a_failure_shows_what_the_processes_said(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_runtest_makereport")
    (tmp_path / "test_fails.py").write_text(FAILS)
    words = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "work.log of" in done.stdout and "the worker broke" in done.stdout
