"""The faults that can be made at every change; `make faults` makes all of them."""

from __future__ import annotations

import pytest

from tests.faults import databases, files, hosts, messages, people, workers
from tests.faults.catalogue import FAULTS, Fault, make
from tests.faults.chaos import rage
from tests.faults.invariants import broken
from tests.faults.stage import Stage

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("faults")]

MODULES = (workers, messages, databases, files, hosts, people)
CELLS = [(each.often, each) for each in FAULTS if each.often]


@pytest.mark.parametrize(("stage", "fault"), CELLS, ids=str, indirect=["stage"])
def test_everything_holds_after(stage: Stage, fault: Fault) -> None:
    assert make(fault, stage).broken == []


def test_every_fault_of_the_model_is_made() -> None:
    assert {each.number for each in FAULTS} == {f"F{number}" for number in range(1, 25)}


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
