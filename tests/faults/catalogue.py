"""Every fault by its number, and how one is made, healed and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.faults.invariants import broken
from tests.faults.stage import Scene, Stage

# Breaks something, yields while it heals, and then says what else must be true.
Breaking = Callable[[Scene], Iterator[None]]
BOTH = ("embedded", "servers")


@dataclass(frozen=True)
class Fault:
    number: str
    make: Breaking
    profiles: tuple[str, ...]
    # Where it is made at every change: of many alike the quickest.
    often: str

    @property
    def name(self) -> str:
        return self.make.__name__.replace("_", " ")

    def __str__(self) -> str:
        return f"{self.number} {self.name}"


FAULTS: list[Fault] = []


def fault(number: str, *profiles: str, often: str = "") -> Callable[[Breaking], Breaking]:
    """This function makes that fault, where it applies."""

    def note(make: Breaking) -> Breaking:
        FAULTS.append(Fault(number, make, profiles or BOTH, often))
        return make

    return note


class CannotBeMade(Exception):
    """What this machine does not allow, in words."""


@dataclass
class Verdict:
    """What became of one fault, made once."""

    healed: float = 0.0
    broken: list[str] = field(default_factory=list)


def make(fault: Fault, stage: Stage) -> Verdict:
    """Make a fault once on a track of its own; everything runs again afterwards."""
    verdict = Verdict()
    scene = stage.scene(fault.make.__name__.replace("_", "-"))
    try:
        with stage.cat.judging():
            steps = fault.make(scene)
            next(steps)
            verdict.healed = scene.heal()
            for _ in steps:
                verdict.healed = max(verdict.healed, scene.heal())
        verdict.broken = broken(scene)
    except AssertionError as error:
        verdict.broken.append(str(error).split("\n")[0][:300] or "an assertion")
    finally:
        stage.site.mend()
    return verdict
