"""How fast a large run of answers is checked, and how fast the pages of a large track answer.

    python -m benchmarks.answers [--only check pages]

The check: whole processes of `answers check`, from start to exit, on 100 MB with the shape of
public runs. An answer has 13 sentences of 23 words, 15 references and up to two citations per
sentence; a fifth of the sentences are not ASCII.

The pages: 500 runs with such answers to 300 topics, 4 kB each, marks of ten nuggets a topic for
every run, and the texts of the documents that are cited. Pages are asked for inside one process,
as `benchmarks.boards` does. Twenty runs are sent, checked and stored as on a site; the others are
copies of them under tags of their own, each marked and scored by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import tables
from benchmarks.homes import own_home
from benchmarks.tables import seconds

if TYPE_CHECKING:
    from django.core.files.uploadedfile import SimpleUploadedFile

    from leaderboard.models import Track

SIZE = 100_000_000
SENTENCES, WORDS, REFERENCES = 13, 23, 15
TIMES = 3
MIB = 1024 * 1024
RUNS, SENT, TOPICS, NUGGETS, DOCUMENTS = 500, 20, 300, 10, 5000
LABELS = ("support", "partial_support", "not_support")
PAGES = {
    "board": "/benchmarks/large/board/",
    "board by another measure": "/benchmarks/large/board/?measure=all",
    "a topic": "/benchmarks/large/topic/?number=1",
    "its nuggets and runs as CSV": "/benchmarks/large/topic/?number=1&format=csv&table=nuggets",
    "a run": "/runs/{run}/",
    "one answer": "/runs/{run}/answer/?number=1",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=("check", "pages"), default=("check", "pages"))
    options = parser.parse_args()
    print(tables.machine(), flush=True)
    if "check" in options.only:
        measure_check()
    if "pages" in options.only:
        with own_home() as variables:
            os.environ |= variables
            measure_pages()


def measure_check() -> None:
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
    words = make_words()
    with path.open("w") as file:
        topic = 0
        while file.tell() < SIZE:
            topic += 1
            cited = [make_docno(chance) for _ in range(REFERENCES)]
            file.write(json.dumps(make_answer("large", topic, words, cited, chance)) + "\n")


def make_answer(
    run: str, topic: int, words: list[str], references: list[str], chance: random.Random
) -> dict[str, object]:
    answer = [
        {
            "text": " ".join(chance.choices(words, k=WORDS)) + " café" * (chance.random() < 0.2),
            "citations": chance.sample(range(REFERENCES), chance.randrange(3)),
        }
        for _ in range(SENTENCES)
    ]
    length = sum(len(str(sentence["text"]).split()) for sentence in answer)
    return {
        "run_id": run,
        "topic_id": str(topic),
        "topic": "a topic",
        "references": references,
        "response_length": length,
        "answer": answer,
    }


def make_docno(chance: random.Random) -> str:
    file, document, segment = chance.randrange(60), chance.randrange(10**9), chance.randrange(9)
    return f"msmarco_v2.1_doc_{file:02}_{document}#{segment}_{chance.randrange(10**9)}"


def measure_pages() -> None:
    from django.core.management import call_command

    import leaderboard.wsgi  # noqa: F401
    from benchmarks.boards import VIEWED, _views
    from leaderboard.models import Job, Run

    call_command("migrate", run_syncdb=True, verbosity=0)
    track = make_track()
    for number in range(SENT):
        send_run(track, f"sent-{number}", random.Random(number))
    copy_runs(track)
    mark_runs(track)
    # Pages are kept where no job waits in vain; here is no worker.
    Job.objects.all().delete()
    run = Run.objects.filter(track=track).latest("pk").pk
    tables.heading(f"{RUNS} runs of answers to {TOPICS} topics, on SQLite")
    tables.table(VIEWED, ((name, *_views(page.format(run=run))[0]) for name, page in PAGES.items()))


def make_track() -> Track:
    """An open track of answers with topics, documents and nuggets."""
    from leaderboard.actions import tracks, uploads, versions
    from leaderboard.models import Collection, NuggetVersion, Track, User

    ada = User.objects.create_user("ada", can_organise=True)
    chance, words = random.Random(5), make_words()
    listed = (f"{number}\ttopic {number}\n" for number in range(1, TOPICS + 1))
    texts = (
        {"docno": f"doc-{number}", "text": " ".join(chance.choices(words, k=120))}
        for number in range(DOCUMENTS)
    )
    collection = Collection(slug="large", name="Large", owner=ada, asks_first=False)
    files = uploads.CollectionFiles(
        sent("topics.tsv", "".join(listed)), sent("documents.jsonl", lines(texts))
    )
    uploads.accept_collection(collection, files)
    work()
    collection.refresh_from_db()
    assert collection.state == "ready", collection.problems
    track = Track(slug="large", name="Large", collection=collection)
    track.run_kind, track.disclosure = "answers", "open"
    track.measures, track.primary_measure = ["AP"], "AP"
    track.runs_per_team = RUNS
    tracks.open_track(track, ada)
    nuggets = (
        {
            "qid": str(topic),
            "nuggets": [
                {"text": " ".join(chance.choices(words, k=9)), "importance": importance}
                for importance in ("vital", "okay") * (NUGGETS // 2)
            ],
        }
        for topic in range(1, TOPICS + 1)
    )
    version = NuggetVersion(track=track, version="v1", created_by=ada, asks_first=False)
    versions.accept_version(version, sent("nuggets.jsonl", lines(nuggets)))
    work()
    track.refresh_from_db()
    return track


def send_run(track: Track, tag: str, chance: random.Random) -> None:
    from leaderboard.actions import submissions

    words = make_words()
    answers = (
        make_answer(
            tag,
            topic,
            words,
            [f"doc-{number}" for number in chance.sample(range(DOCUMENTS), REFERENCES)],
            chance,
        )
        for topic in range(1, TOPICS + 1)
    )
    file = sent("run.jsonl", lines(answers))
    submissions.accept_run(track, track.benchmark.owner, file, submissions.RunDetails())
    work()


def copy_runs(track: Track) -> None:
    """Copies of the runs that were sent, until there are enough."""
    from leaderboard.models import Run
    from leaderboard.models.runs import new_run_id

    made = list(Run.objects.filter(track=track))
    assert [run.state for run in made] == ["valid"] * SENT, [run.problems for run in made]
    for number in range(SENT, RUNS):
        run = made[number % SENT]
        run.pk, run.tag, run.sha256 = new_run_id(), f"copy-{number}", f"{number:064}"
        run.save(force_insert=True)


def mark_runs(track: Track) -> None:
    """Marks of every run and nugget, read from a file, and the scores that follow."""
    from leaderboard.actions import tracks, versions
    from leaderboard.models import MarkLayer, Run

    chance, ada = random.Random(7), track.benchmark.owner
    marks = (
        f"{tag} {topic} {nugget} {chance.choices(LABELS, (skill, 1, 1))[0]}\n"
        for skill, tag in zip(
            (chance.uniform(0.3, 3) for _ in count()),
            Run.objects.filter(track=track).values_list("tag", flat=True),
            strict=False,
        )
        for topic in range(1, TOPICS + 1)
        for nugget in range(1, NUGGETS + 1)
    )
    layer = MarkLayer(track=track, version="people", made_by="people", created_by=ada)
    layer.about, layer.nuggets, layer.asks_first = "nuggets", track.nugget_versions.get(), False
    versions.accept_version(layer, sent("marks.txt", "".join(marks)))
    work()
    tracks.use_layer(track, ada, layer)
    tracks.change_track(track, ada, {"measures": ["strict_vital", "all", *track.measures]})
    work()


def make_words() -> list[str]:
    return [f"word{number}" for number in range(5000)]


def lines(rows: Iterator[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def sent(name: str, text: str) -> SimpleUploadedFile:
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile(name, text.encode())


def work() -> None:
    """Do every job that is due, as a worker does."""
    from leaderboard.jobs import running

    running.run_due_jobs("benchmark")


if __name__ == "__main__":
    main()
