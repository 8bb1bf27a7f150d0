"""Runs arrive while something is killed every few seconds; at the end nothing is missing.

    python -m tests.faults.chaos [--minutes 30] [--seed N] [--profile embedded|servers]

What is printed can be had again with the same seed, as far as two machines take the same time.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from statistics import median

# Only what writes forms asks for settings; the sites have their own.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

from tests.faults.invariants import broken
from tests.faults.profiles import LEASE, PROFILES, Embedded, Hurtable, Servers
from tests.faults.stage import Answer, Scene, Stage
from tests.services.machines import going_on

# For all that arrives in half an hour.
ROOM = "8g"
PAUSE = (5.0, 20.0)
UPLOADERS = 2
# Of so many runs one is large.
LARGE = 8


@dataclass
class Outcome:
    """What happened, and what did not hold."""

    profile: str
    seconds: float = 0.0
    blows: Counter[str] = field(default_factory=Counter)
    answers: list[Answer] = field(default_factory=list)
    runs: int = 0
    healed: float = 0.0
    waits: list[float] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def number(self, *words: str) -> int:
        return sum(any(word in each for word in words) for each in self.broken)

    def rows(self) -> Iterator[tuple[str, str]]:
        statuses = Counter(answer.status for answer in self.answers)
        yield "minutes", f"{self.seconds / 60:.1f}"
        yield "blows", f"{self.blows.total()}"
        yield "", ", ".join(f"{name} {n}" for name, n in self.blows.most_common())
        yield (
            "tries to send, by answer",
            ", ".join(f"{s or 'none'}: {n}" for s, n in sorted(statuses.items())),
        )
        yield "runs taken", str(self.runs)
        yield "lost", str(self.number("is lost", "nobody was told"))
        yield "scored twice", str(self.number("values for", "finished"))
        yield "stuck or failed", str(self.number(", not scored", "the job"))
        yield "other scores than undisturbed", str(self.number("other scores"))
        yield "all invariants", "hold" if not self.broken else f"{len(self.broken)} broken"
        yield "last one done after the last blow", f"{self.healed:.1f} s"
        yield (
            "from arrival to scores",
            f"median {median(self.waits):.1f} s, longest {max(self.waits):.1f} s",
        )


Blow = Callable[[Hurtable, random.Random], None]


def pool_process(site: Hurtable, chance: random.Random) -> None:
    pool = [pid for worker in site.workers() for pid in site.pool_of(worker)]
    end(chance.choice(pool))


def worker(site: Hurtable, chance: random.Random) -> None:
    killed = chance.choice(site.workers())
    with suppress(ProcessLookupError):
        os.killpg(killed, signal.SIGKILL)


def web_process(site: Hurtable, chance: random.Random) -> None:
    """One that answers; the one above it starts another."""
    end(chance.choice(site.web_processes()[1:]))


def web(site: Hurtable, chance: random.Random) -> None:
    site.kill_web()


def everything(site: Hurtable, chance: random.Random) -> None:
    site.kill_everything()


def hanging_worker(site: Hurtable, chance: random.Random) -> None:
    """It comes back when its lease is another's."""
    stopped = chance.choice([pid for each in site.workers() for pid in site.pool_of(each)])
    os.kill(stopped, signal.SIGSTOP)
    time.sleep(LEASE + 2)
    with suppress(ProcessLookupError):
        os.kill(stopped, signal.SIGCONT)


def redis(site: Servers, chance: random.Random) -> None:
    site.redis.stop()
    time.sleep(chance.uniform(0, 3))


def messages(site: Servers, chance: random.Random) -> None:
    site.redis.say("FLUSHALL")


def database(site: Servers, chance: random.Random) -> None:
    site.postgres.stop()
    time.sleep(chance.uniform(0, 3))


def end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


BLOWS: list[Blow] = [pool_process, worker, web_process, web, everything, hanging_worker]
BLOWS_ON_SERVERS: list[Blow] = [redis, messages, database]


def rage(stage: Stage, seconds: float, seed: int, pause: tuple[float, float] = PAUSE) -> Outcome:
    """Blow after blow while runs arrive; then look at everything."""
    outcome, chance = Outcome(stage.site.name), random.Random(seed)
    blows = BLOWS if isinstance(stage.site, Embedded) else BLOWS + BLOWS_ON_SERVERS
    scene, began = stage.scene("chaos"), time.monotonic()
    with arriving(scene, outcome):
        while time.monotonic() - began < seconds:
            time.sleep(chance.uniform(*pause))
            blow = chance.choice(blows)
            blow(stage.site, chance)
            outcome.blows[blow.__name__.replace("_", " ")] += 1
            stage.site.mend()
    outcome.seconds = time.monotonic() - began
    judge(scene, outcome)
    return outcome


def judge(scene: Scene, outcome: Outcome) -> None:
    try:
        outcome.healed = scene.heal()
    except AssertionError as error:
        outcome.broken.append(f"I2 {error}")
    outcome.broken += broken(scene)
    outcome.runs = len(scene.sent)
    outcome.waits = waits_of(scene)


def waits_of(scene: Scene) -> list[float]:
    rows = scene.site.rows(
        "select run.received_at, run.scored_at from leaderboard_run run join leaderboard_track "
        f"track on track.id = run.track_id where track.slug = '{scene.slug}' "
        "and run.scored_at is not null"
    )
    return [(moment(done) - moment(began)).total_seconds() for began, done in rows] or [0.0]


def moment(value):
    from datetime import datetime

    return datetime.fromisoformat(value) if isinstance(value, str) else value


@contextmanager
def arriving(scene: Scene, outcome: Outcome) -> Iterator[None]:
    """Somebody sends one run after the other, each until it is taken."""
    over, one_at_a_time = threading.Event(), threading.Lock()

    def send() -> None:
        while not over.is_set():
            with one_at_a_time:
                number = scene.number + 1
                sent = scene.another("small" if number % LARGE else "large")
            answers = scene.send_until_taken(sent)
            outcome.answers.extend(answers)
            over.wait(0.5)

    with going_on(over, [send] * UPLOADERS):
        yield


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30, help="of which each profile gets half")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--profile", choices=PROFILES)
    chosen = parser.parse_args()
    profiles = [chosen.profile] if chosen.profile else list(PROFILES)
    outcomes = []
    for profile in profiles:
        with PROFILES[profile](room=ROOM) as site:
            stage = Stage(site)
            stage.prepare()
            outcomes.append(rage(stage, 60 * chosen.minutes / len(profiles), chosen.seed))
    show(outcomes, chosen.seed)
    return 1 if any(each.broken for each in outcomes) else 0


def show(outcomes: list[Outcome], seed: int) -> None:
    for outcome in outcomes:
        for wrong in outcome.broken[:20]:
            print(f"{outcome.profile}: {wrong}", file=sys.stderr)
    print(f"Seed {seed}\n\n| | {' | '.join(each.profile for each in outcomes)} |")
    print("| :-- " * (len(outcomes) + 1) + "|")
    for cells in zip(*(each.rows() for each in outcomes), strict=True):
        print(f"| {cells[0][0]} | {' | '.join(value for _, value in cells)} |")


if __name__ == "__main__":
    # Told to stop, the servers stop too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
