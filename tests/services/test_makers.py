"""Processes that need the same answer at the same moment: one makes it, the others get it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.services.machines import ROOT, Redis

pytestmark = [
    pytest.mark.services,
    pytest.mark.night,
    pytest.mark.xdist_group("services"),
]

PROCESSES = 3
# Each process waits for the same moment, and whoever makes the answer takes its time.
MAKER = """
import sys, time
import django
django.setup()
from leaderboard.infrastructure import page_store

key = "a" * 64
print("ready", flush=True)
time.sleep(float(sys.stdin.readline()) - time.time())
while (found := page_store.find(key)) is None:
    with page_store.turn_to_make(key) as turn:
        if not turn.waited:
            print("made")
            time.sleep(0.5)
            page_store.keep(key, page_store.KeptPage.pack({}, "digest", [b"a board"]))
print(found.texts[0].decode())
"""


def start_maker(home: Path, redis_url: str) -> subprocess.Popen[str]:
    site = {"RANKFIELD_HOME": str(home), "REDIS_URL": redis_url}
    return subprocess.Popen(
        [sys.executable, "-c", MAKER],
        cwd=ROOT,
        env=os.environ | site | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def what_makers_say(home: Path, redis_url: str) -> list[str]:
    makers = [start_maker(home, redis_url) for _ in range(PROCESSES)]
    assert {maker.stdout.readline() for maker in makers} == {"ready\n"}
    moment = time.time() + 0.5
    for maker in makers:
        maker.stdin.write(f"{moment}\n")
        maker.stdin.flush()
    return sorted(maker.communicate(timeout=60)[0] for maker in makers)


def test_one_process_of_several_makes_an_answer(redis: Redis, tmp_path: Path) -> None:
    told = what_makers_say(tmp_path, redis.url)
    assert told == ["a board\n"] * (PROCESSES - 1) + ["made\na board\n"]


def test_without_redis_each_process_makes_its_own(tmp_path: Path) -> None:
    told = what_makers_say(tmp_path, f"unix://{tmp_path}/nowhere")
    assert told == ["made\na board\n"] * PROCESSES
