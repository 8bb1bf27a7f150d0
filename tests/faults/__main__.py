"""Every fault on every profile, as a table.

    python -m tests.faults [--times 5] [--only F1 F8] [--profile embedded|servers|installed]

A cell says how often all invariants held, and how long healing took at most.  `installed` is what
tests/services/test_installation.py installs and begins this program beside.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path

# Only what writes forms asks for settings; the sites have their own.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

from tests.faults import databases, files, hosts, messages, people, workers
from tests.faults.catalogue import FAULTS, CannotBeMade, Fault, make
from tests.faults.installed import installed
from tests.faults.profiles import PROFILES, Hurtable
from tests.faults.stage import Stage

MODULES = (workers, messages, databases, files, hosts, people)
BESIDES = {**PROFILES, "installed": installed}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=1, help="make every fault so often")
    parser.add_argument("--only", nargs="*", help="numbers or words of faults")
    parser.add_argument("--profile", choices=BESIDES)
    parser.add_argument("--logs", type=Path, help="keep in this folder what the processes said")
    chosen = parser.parse_args()
    faults = [each for each in FAULTS if wanted(each, chosen)]
    cells: dict[tuple[Fault, str], str] = {}
    profiles = [chosen.profile] if chosen.profile else [*PROFILES]
    for profile in profiles:
        with BESIDES[profile]() as site:
            stage = Stage(site)
            stage.prepare()
            for each in faults:
                if site.name in each.profiles:
                    cells[each, profile] = cell(each, stage, chosen.times)
                    if chosen.logs:
                        keep_logs(site, chosen.logs)
    show(faults, cells, profiles)
    return 1 if any("WRONG" in each for each in cells.values()) else 0


def keep_logs(site: Hurtable, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in site.home.glob("*.log"):
        shutil.copy(path, folder / f"{site.name}-{path.name}")


def wanted(fault: Fault, chosen: argparse.Namespace) -> bool:
    return not chosen.only or any(
        word == fault.number or word in fault.name for word in chosen.only
    )


def cell(fault: Fault, stage: Stage, times: int) -> str:
    """Made so often; everything that went wrong is said as it happens."""
    held, slowest, began = 0, 0.0, time.monotonic()
    for n in range(times):
        try:
            verdict = make(fault, stage)
        except CannotBeMade as reason:
            say(f"{fault} on {stage.site.name}: {reason}")
            return "not made"
        except Exception:
            traceback.print_exc()
            stage.site.mend()
            continue
        held += not verdict.broken
        slowest = max(slowest, verdict.healed)
        for wrong in verdict.broken[:10]:
            say(f"{fault} on {stage.site.name}, {n + 1}: {wrong}")
    took = time.monotonic() - began
    say(f"{fault} on {stage.site.name}: {held} of {times}, {took:.0f} s")
    return f"{held} of {times}, {slowest:.1f} s" + ("" if held == times else " WRONG")


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def show(faults: list[Fault], cells: dict[tuple[Fault, str], str], profiles: list[str]) -> None:
    faults = sorted(faults, key=lambda each: int(each.number[1:]))
    print("| fault | | " + " | ".join(profiles) + " |")
    print("| :-- | :-- " + "| :-- " * len(profiles) + "|")
    for each in faults:
        row = [cells.get((each, profile), "") for profile in profiles]
        print(f"| {each.number} | {each.name} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    # Told to stop, the servers stop too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
