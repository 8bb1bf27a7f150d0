"""Size: a million documents imported and opened, a run of seven million lines checked.

python -m benchmarks.intake [--only documents|run] [--database postgresql://...]

Every line is a process of its own that does the work of a worker too; its memory is what the
kernel counted at its peak.  That the second import needs little more than the first, with ten
times as many documents, is what is to be seen.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from random import Random

from benchmarks.inputs import CACHE, DOCUMENTS, INPUTS
from benchmarks.processes import run
from benchmarks.tables import heading, machine, mebibytes, seconds, table

HOME = CACHE / "intake"
WORDS = ("heat", "layer", "wing", "flow", "bread", "rye", "oven", "crust", "starter", "harbour")
SIZES = (100_000, 1_000_000)
RUN = INPUTS["L"]
HEAD = ("what", "time", "peak memory")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("documents", "run"))
    parser.add_argument("--database", default="", help="empty: SQLite in a folder of its own")
    chosen = parser.parse_args()
    os.environ.update(RANKFIELD_HOME=str(HOME), DATABASE_URL=chosen.database, LOG_LEVEL="ERROR")
    shutil.rmtree(HOME, ignore_errors=True)
    print(f"{machine()}; {chosen.database.partition(':')[0] or 'sqlite'}")
    run([sys.executable, "manage.py", "migrate"])
    if chosen.only != "run":
        import_documents()
    if chosen.only != "documents":
        check_run()
    shutil.rmtree(HOME)


def import_documents() -> None:
    heading("Documents")
    rows = []
    for size in SIZES:
        path = documents_of(size)
        said = f"import {size:,} documents, {path.stat().st_size / 1e9:.1f} GB of JSON lines"
        files = ("--topics", topics_of(10), "--documents", path)
        rows.append(measured(said, "load_collection", f"c{size}", *files, "--yes"))
    table(HEAD, rows)
    print()
    run([sys.executable, "-m", "benchmarks.opening", f"c{SIZES[-1]}"], HOME / "opened")
    opened = json.loads((HOME / "opened").read_text())
    table(("a document by its docno", "time"), [(said, seconds(t)) for said, t in opened.items()])


def check_run() -> None:
    heading(f"A run of {RUN.topics * RUN.depth:,} lines against {DOCUMENTS:,} docnos")
    files = ("--topics", topics_of(RUN.topics, RUN.first_topic), "--docnos", RUN.docnos)
    judged = ("--judgments", RUN.qrels)
    folder = HOME / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RUN.run.name).symlink_to(RUN.run)
    table(
        HEAD,
        [
            measured("import the docnos", "load_collection", "large", *files, *judged, "--yes"),
            measured("open a track", "shell", "--command", OPEN_TRACK),
            measured("check and score the run", "load_runs", "large", folder),
        ],
    )


OPEN_TRACK = """
from leaderboard.actions import tracks
from leaderboard.models import Collection, Track
of = Collection.objects.get(slug="large")
measures = ["AP", "nDCG@10", "RR"]
track = Track(slug="large", name="Large", collection=of, measures=measures, primary_measure="AP")
track.judgment_set = of.judgment_sets.get()
tracks.open_track(track, of.owner)
"""


def measured(said: str, *words: str | Path) -> tuple[str, str, str]:
    cost = run([sys.executable, "manage.py", *words])
    return said, seconds(cost.wall), mebibytes(cost.memory)


def documents_of(size: int) -> Path:
    """So many documents of a kilobyte each, the same ones every time."""
    path = CACHE / f"{size}.jsonl"
    if not path.exists():
        random = Random(size)
        text = " ".join(random.choices(WORDS, k=200_000))
        part = path.with_suffix(".part")
        with part.open("w") as file:
            for number in range(size):
                start = random.randrange(len(text) - 2000)
                words = text[start : start + random.randrange(200, 1750)]
                file.write(
                    f'{{"_id": "doc-{number}", "title": "No. {number}", "text": "{words}"}}\n'
                )
        part.replace(path)
    return path


def topics_of(number: int, first: int = 1) -> Path:
    HOME.mkdir(parents=True, exist_ok=True)
    path = HOME / f"topics-{number}.tsv"
    path.write_text("".join(f"{n}\tbread {n}\n" for n in range(first, first + number)))
    return path


if __name__ == "__main__":
    main()
