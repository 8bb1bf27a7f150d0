"""How fast runs are scored, beside the programs that others use.

    python -m benchmarks.scoring                      every table
    python -m benchmarks.scoring --only L limit       these
    python -m benchmarks.scoring --times 1            each program once instead of five times
    python -m benchmarks.scoring --trec-eval PATH     this trec_eval instead of the PATH's

Whole programs are run in pairs, one after the other, from start to exit. Before a time counts,
both have printed the same value for every measure and topic; where they have not, this stops.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import peers, tables
from benchmarks.inputs import INPUTS, KINDS, ROOT, Input, Kind
from benchmarks.peers import Program
from benchmarks.processes import Cost, Costs, in_turn, run
from benchmarks.tables import mebibytes, seconds, times

# trec_eval looks topics up one after the other: 100,000 of them take it a minute.
SLOW = 60.0


@dataclass(frozen=True)
class Session:
    """How often each program is run."""

    times: int

    def against(self, ours: Program, other: Program, asked: Input) -> tuple[Costs, Costs]:
        """Both programs on one input, their values compared first."""
        first = equal_values(ours.command(asked), other.command(asked))
        if first.wall > SLOW:
            return in_turn(ours.command(asked), times=self.times)[0], Costs((first,))
        mine, theirs = in_turn(ours.command(asked), other.command(asked), times=self.times)
        return mine, theirs

    def alone(self, *programs: Sequence[str | Path]) -> list[Costs]:
        return in_turn(*programs, times=self.times)


def equal_values(ours: Sequence[str | Path], theirs: Sequence[str | Path]) -> Cost:
    """What theirs cost. Exits where the two do not print the same values."""
    with tempfile.TemporaryDirectory() as folder:
        printed = [Path(folder, "ours"), Path(folder, "theirs")]
        run(ours, printed[0])
        cost = run(theirs, printed[1])
        compare = [sys.executable, "-m", "benchmarks.equality", *map(str, printed)]
        done = subprocess.run(compare, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the values differ: {done.stderr}")
    return cost


def whole_processes(name: str) -> Callable[[Session], None]:
    def print_table(session: Session) -> None:
        asked = INPUTS[name]
        size = asked.run.stat().st_size
        tables.heading(
            f"{name}: {asked.topics:,} topics x {asked.depth:,}, {mebibytes(size)}, 25 measures,"
            " whole process"
        )
        head = ("program", "wall", "cpu", "peak memory", "Rankfield in turn", "Rankfield is")
        tables.table(head, _against_all(session, asked))

    return print_table


def _against_all(session: Session, asked: Input) -> Iterator[Sequence[str]]:
    ours = peers.ours()
    for other in peers.known(asked.name):
        if other is None:
            yield "trec_eval", tables.NOT_MEASURED, "", "", "", ""
            continue
        mine, theirs = session.against(ours, other, asked)
        ratio = times(theirs.wall / mine.wall)
        yield other.name, *_cost(theirs), seconds(mine.wall), f"{ratio} as fast"
    two = peers.ours("Rankfield, two processes", "--processes", "2")
    for program, costs in zip(
        (ours, two),
        session.alone(ours.command(asked), two.command(asked)),
        strict=True,
    ):
        share = costs.memory / asked.run.stat().st_size
        yield program.name, *_cost(costs), "", f"at {share:.2f} of the file"


def _cost(costs: Costs) -> tuple[str, str, str]:
    return seconds(costs.wall), seconds(costs.processor), mebibytes(costs.memory)


def inside(session: Session) -> None:
    tables.heading("Inside a process, judgments prepared: read and score, 25 measures")
    head = (
        *("input", "pytrec_eval: read + evaluate", "Rankfield: read + score", "together"),
        *("25 measures again", "from a record of", "evaluate / again"),
    )
    tables.table(head, (_inside(session, asked) for asked in INPUTS.values()))


def _inside(session: Session, asked: Input) -> Sequence[str]:
    python = peers.environment() / "bin" / "python"
    program = Path(__file__).parent / "peers" / "by_pytrec_eval.py"
    # Reading XL takes the others fifteen seconds.
    rounds = session.times if asked.topics * asked.depth < 10**6 else min(session.times, 3)
    theirs: list[dict[str, float]] = []
    ours: list[dict[str, float]] = []
    for _ in range(rounds):
        theirs += _timings([python, program, asked.qrels, asked.run, "1"])
        ours += _timings([sys.executable, "-m", "benchmarks.inside", asked.name, "2"])[1:]
    read, evaluate = _median(theirs, "read"), _median(theirs, "score")
    own_read, own_score = _median(ours, "read"), _median(ours, "judge", "measure")
    record = _median(ours, "record")
    return (
        asked.name,
        f"{seconds(read)} + {seconds(evaluate)}",
        f"{seconds(own_read)} + {seconds(own_score)}",
        f"{times((read + evaluate) / (own_read + own_score))} as fast",
        seconds(record),
        f"{ours[0]['record_bytes']:,.0f} bytes",
        times(evaluate / record),
    )


def _timings(words: Sequence[str | Path]) -> list[dict[str, float]]:
    printed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout
    timings: list[dict[str, float]] = json.loads(printed)
    return timings


def _median(timings: list[dict[str, float]], *names: str) -> float:
    return statistics.median(sum(each[name] for name in names) for each in timings)


def limit(session: Session) -> None:
    asked = INPUTS["L"]
    tables.heading("L against reading the file and finding its blanks with numpy, whole process")
    yardstick = [sys.executable, "-m", "benchmarks.limit", asked.run]
    mine, least = session.alone(peers.ours().command(asked), yardstick)
    multiple = times(mine.wall / least.wall)
    rows = [("numpy finds the blanks", *_cost(least), ""), ("Rankfield", *_cost(mine), multiple)]
    tables.table(("program", "wall", "cpu", "peak memory", "multiple"), rows)


def strict(session: Session) -> None:
    asked = INPUTS["L"]
    tables.heading("L: what the strict checks cost, inside a process")
    words = [sys.executable, "-m", "benchmarks.checks", asked.name, str(min(session.times, 3))]
    timings = _timings(words)
    walls = {name: _median(timings, name) for name in timings[0]}
    least = next(iter(walls.values()))
    rows = [(name, seconds(wall), f"{wall / least - 1:+.0%}") for name, wall in walls.items()]
    tables.table(("reading", "wall", "on top"), rows)


def kinds(session: Session) -> None:
    asked = INPUTS["L"]
    tables.heading("L as different systems write their runs, 25 measures, whole process")
    programs = [each for each in (peers.from_pypi("pytrec_eval"), peers.trec_eval()) if each]
    head = (
        *("kind", "file", "Rankfield", "two processes", "peak memory"),
        *(word for each in programs for word in (each.name, "Rankfield is", "two are")),
    )
    tables.table(head, (_kind(session, asked, kind, programs) for kind in KINDS.values()))


def _kind(session: Session, asked: Input, kind: Kind, programs: Sequence[Program]) -> Iterator[str]:
    """Time ours alone and by two, and each other in turn with them; their values first."""
    ours, two = peers.ours(), peers.ours("two", "--processes", "2")
    words = [each.command(asked, kind) for each in (ours, two, *programs)]
    for theirs in words[1:]:
        equal_values(words[0], theirs)
    mine, mine_by_two, *others = in_turn(*words, times=session.times)
    size = asked.run_of(kind).stat().st_size
    name = kind.name if kind.is_usual else f"{kind.name} (unusual)"
    yield from (name, mebibytes(size), seconds(mine.wall), seconds(mine_by_two.wall))
    yield f"{mine.memory / size:.2f} of the file"
    for other in others:
        yield seconds(other.wall)
        yield from (f"{times(other.wall / each.wall)} as fast" for each in (mine, mine_by_two))


TABLES: dict[str, Callable[[Session], None]] = {
    **{name: whole_processes(name) for name in INPUTS},
    "inside": inside,
    "limit": limit,
    "strict": strict,
    "kinds": kinds,
}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.scoring", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--times", type=int, default=5, metavar="N")
    parser.add_argument("--trec-eval", type=Path, metavar="PATH")
    options = parser.parse_args(words)
    if options.trec_eval is not None:
        os.environ["PATH"] = f"{options.trec_eval.resolve().parent}{os.pathsep}{os.environ['PATH']}"
    print(f"{tables.machine()}; Rankfield {peers.our_reader()}")
    for name in options.only:
        TABLES[name](Session(options.times))


if __name__ == "__main__":
    main()
