"""How fast a large run of answers is checked: 100 MB with the shape of public runs.

    python -m benchmarks.answers

Whole processes of `answers check`, from start to exit. An answer has 13 sentences of 23 words, 15
references and up to two citations per sentence; a fifth of the sentences are not ASCII.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import tables
from benchmarks.tables import seconds

SIZE = 100_000_000
SENTENCES, WORDS, REFERENCES = 13, 23, 15
TIMES = 3
MIB = 1024 * 1024


def main() -> None:
    print(tables.machine(), flush=True)
    with tempfile.TemporaryDirectory(prefix="rankfield-bench-") as folder:
        path = Path(folder) / "run.jsonl"
        write_run(path)
        measured = sorted(measure(path) for _ in range(TIMES))
        took, memory = measured[TIMES // 2]
        tables.heading(f"Check of a run of answers of {SIZE // 1_000_000} MB")
        goal = [("wall", seconds(took), "10 s"), ("peak memory", f"{memory} MiB", "300 MiB")]
        tables.table(("what", "took", "goal"), goal)


def measure(path: Path) -> tuple[float, int]:
    """Return the time in seconds and the peak memory in MiB of one process."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "evaluation", "answers", "check", str(path)]
    process = os.spawnv(os.P_NOWAIT, sys.executable, [*command, "--preset", "rag24"])
    _, status, usage = os.wait4(process, 0)
    assert status == 0, status
    return time.perf_counter() - began, usage.ru_maxrss * 1024 // MIB


def write_run(path: Path) -> None:
    chance = random.Random(11)
    words = [f"word{number}" for number in range(5000)]
    with path.open("w") as file:
        topic = 0
        while file.tell() < SIZE:
            topic += 1
            file.write(json.dumps(make_answer(topic, words, chance)) + "\n")


def make_answer(topic: int, words: list[str], chance: random.Random) -> dict[str, object]:
    answer = [
        {
            "text": " ".join(chance.choices(words, k=WORDS)) + " café" * (chance.random() < 0.2),
            "citations": chance.sample(range(REFERENCES), chance.randrange(3)),
        }
        for _ in range(SENTENCES)
    ]
    length = sum(len(str(sentence["text"]).split()) for sentence in answer)
    return {
        "run_id": "large",
        "topic_id": str(topic),
        "topic": "a topic",
        "references": [make_docno(chance) for _ in range(REFERENCES)],
        "response_length": length,
        "answer": answer,
    }


def make_docno(chance: random.Random) -> str:
    file, document, segment = chance.randrange(60), chance.randrange(10**9), chance.randrange(9)
    return f"msmarco_v2.1_doc_{file:02}_{document}#{segment}_{chance.randrange(10**9)}"


if __name__ == "__main__":
    main()
