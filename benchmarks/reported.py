"""Scores that others report, of many systems on many collections, most cells missing.

    python -m benchmarks.reported

measures how long their import takes, and how fast the pages of their board answer.

The sizes follow those of the public results of embeddings: 673 systems on 1,564 collections, half
of the systems with at most 68 scores, the busiest with 1,027, one cell of ten known.  Most systems
are tried on one or two suites of collections as a whole, a few lack some cells of a suite, and some
have single collections besides.  Nothing is copied; every number follows from a fixed seed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import tables
from benchmarks.homes import own_home
from benchmarks.inputs import ROOT
from benchmarks.tables import seconds
from evaluation.complete_cells import BoolArray
from evaluation.ragged import FloatArray, IntArray

SEED = 20_261_128
KINDS = (
    *("Retrieval", "Classification", "STS", "Clustering", "Reranking", "PairClassification"),
    *("BitextMining", "MultilabelClassification", "InstructionRetrieval", "Summarization"),
)
# The share of collections of each kind, the largest first.
SHARES = (0.34, 0.27, 0.1, 0.09, 0.06, 0.05, 0.04, 0.03, 0.015, 0.005)


@dataclass(frozen=True)
class Suite:
    """Collections that are tried together: their share of all, and the share of systems on them."""

    collections: float
    systems: float


# A few that most systems are tried on, some of a language, and one of nearly everything.
SUITES = (
    Suite(0.036, 0.6),
    Suite(0.085, 0.22),
    *(Suite(0.02, share) for share in (0.12, 0.1, 0.08, 0.06, 0.05, 0.05, 0.04, 0.04)),
    Suite(0.65, 0.095),
)
SLUG = "wide"
PAGES = {
    "first page": "",
    "another page": "?page=5",
    "sorted by the mean": "?sort=mean",
    "a group opened": "?open=Retrieval",
    "every collection, no system complete": "?rule=systems",
    "every collection of a group of 500, opened": "?rule=systems&group=Retrieval&open=Retrieval",
    "collections that all systems have": "?rule=collections",
    "systems of one laboratory": "?text=lab-1",
    "CSV of the complete part": "?format=csv",
    "CSV of every cell": "?rule=systems&format=csv",
}
# Of the systems on a suite so many lack some of its cells, and so many cells on average.
UNFINISHED, LACKING = 0.3, 0.2


@dataclass(frozen=True, eq=False)
class ReportedScene:
    """Systems by collections, float64[systems, collections], NaN where nothing is reported."""

    collections: list[str]
    groups: list[str]
    systems: list[str]
    scores: FloatArray

    @property
    def known(self) -> int:
        return int((~np.isnan(self.scores)).sum())


def make_scene(systems: int = 700, collections: int = 1500) -> ReportedScene:
    random = np.random.default_rng([SEED, systems, collections])
    kinds = random.choice(len(KINDS), collections, p=SHARES)
    scores = np.round(_complete_scores(random, systems, kinds), 6)
    scores[~_find_known(random, systems, collections)] = np.nan
    return ReportedScene(
        [f"{KINDS[kind]}Set{place:04d}" for place, kind in enumerate(kinds.tolist())],
        [KINDS[kind] for kind in kinds.tolist()],
        [f"lab-{place % 97}/model-{place}" for place in range(systems)],
        scores,
    )


def _complete_scores(random: np.random.Generator, systems: int, kinds: IntArray) -> FloatArray:
    """A system has its skill, and one for each kind; a collection its difficulty."""
    skill = random.normal(0, 0.4, (systems, 1))
    of_kind = random.normal(0, 0.25, (systems, len(KINDS)))[:, kinds]
    difficulty = random.normal(0.3, 0.9, len(kinds))
    noise = random.normal(0, 0.15, (systems, len(kinds)))
    values: FloatArray = 1 / (1 + np.exp(difficulty - skill - of_kind - noise))
    return values


def _find_known(random: np.random.Generator, systems: int, collections: int) -> BoolArray:
    """Which cells are reported: suites as a whole, less what is lacking, and single cells."""
    known = np.zeros((systems, collections), dtype=bool)
    for suite in SUITES:
        size = max(1, round(suite.collections * collections))
        members = random.choice(collections, size, replace=False)
        for system in np.flatnonzero(random.random(systems) < suite.systems).tolist():
            lacks = random.exponential(LACKING) if random.random() < UNFINISHED else 0.0
            known[system, members[random.random(size) >= lacks]] = True
    singles = random.random((systems, collections)) < random.exponential(0.004, (systems, 1))
    known |= singles
    # Nobody is listed without a score.
    known[np.arange(systems), random.integers(0, collections, systems)] = True
    return known


def write_results(scene: ReportedScene, path: Path) -> None:
    """Write a ZIP archive of `model/revision/Task.json`, a file for each known cell."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, text in result_files(scene):
            archive.writestr(f"results/{name}", text)


def result_files(scene: ReportedScene) -> Iterator[tuple[str, str]]:
    """Each result file with its path; as large as public ones, with rows of a test split."""
    for system, scores in zip(scene.systems, scene.scores, strict=True):
        folder = f"{system.replace('/', '__')}/{hash_of(system):040x}"
        for place in np.flatnonzero(~np.isnan(scores)).tolist():
            name, score = scene.collections[place], float(scores[place])
            yield f"{folder}/{name}.json", json.dumps(_result(name, score), indent=2)


def hash_of(text: str) -> int:
    return int.from_bytes(text.encode(), "big") % 16**40


def _result(name: str, score: float) -> dict[str, object]:
    """Two subsets whose mean is the score."""
    rows = [
        {
            **{f"ndcg_at_{k}": round(value, 5) for k in (1, 3, 5, 10, 20, 100, 1000)},
            **{f"map_at_{k}": round(value, 5) for k in (1, 3, 5, 10, 20, 100, 1000)},
            **{f"recall_at_{k}": round(value, 5) for k in (1, 3, 5, 10, 20, 100, 1000)},
            "main_score": value,
            "hf_subset": subset,
            "languages": [language],
        }
        for subset, language, value in (
            ("en", "eng-Latn", score * 0.9),
            ("de", "deu-Latn", score * 1.1),
        )
    ]
    return {
        "dataset_revision": "0123456789abcdef",
        "task_name": name,
        "mteb_version": "1.38.0",
        "scores": {"test": rows},
        "evaluation_time": 12.5,
        "kg_co2_emissions": None,
    }


def write_groups(scene: ReportedScene, path: Path) -> None:
    """Write a table with the group of each collection."""
    rows = zip(scene.collections, scene.groups, strict=True)
    path.write_text("collection,group\n" + "".join(f"{name},{kind}\n" for name, kind in rows))


def main() -> None:
    """In a process of its own, with a folder that is thrown away."""
    print(tables.machine(), flush=True)
    with own_home() as variables:
        words = [sys.executable, "-m", "benchmarks.reported", "measure"]
        subprocess.run(words, cwd=ROOT, env={**os.environ, **variables}, check=True)


def measure(home: Path) -> None:
    from django.core.management import call_command

    # As web starts, with its garbage collector.
    import leaderboard.wsgi  # noqa: F401
    from benchmarks.boards import VIEWED
    from benchmarks.scenes import Scene, make_track

    call_command("migrate", run_syncdb=True, verbosity=0)
    make_track(Scene(SLUG, 2, 5, 1))
    tables.heading("Import of reported scores")
    tables.table(("files", "took", "processor", "peak memory"), [_load(make_scene(), home)])
    tables.heading("Tests of all pairs of a complete part, in a job")
    tables.table(("took", "processor"), [_test()])
    tables.heading("Pages of 700 systems on 1,500 collections")
    tables.table(VIEWED, (_page(*page) for page in PAGES.items()))


def _load(scene: ReportedScene, home: Path) -> tuple[str, ...]:
    """Import an archive by the command, in a process of its own."""
    archive = home / "results.zip"
    write_results(scene, archive)
    write_groups(scene, archive.with_suffix(".csv"))
    words = [sys.executable, "manage.py", "load_reported", SLUG, str(archive)]
    words += ["--source", "a benchmark", "--groups", str(archive.with_suffix(".csv"))]
    start = time.perf_counter()
    subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    took, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    # The kernel counts in KiB.
    memory = tables.mebibytes(used.ru_maxrss * 1024)
    return f"{scene.known:,}", seconds(took), seconds(used.ru_utime + used.ru_stime), memory


def _test(query: str = "") -> tuple[str, ...]:
    """Make the tests that a page asks for, as a job does."""
    from django.test import Client

    from leaderboard.models import Calculation, Job
    from leaderboard.scoring.reported_ranks import compute_reported_ranks

    Client(HTTP_HOST="localhost").get(f"/benchmarks/{SLUG}/reported/{query}")
    clock, processor = time.perf_counter(), time.process_time()
    for asked in Calculation.objects.filter(kind=Calculation.Kind.REPORTED).waiting():
        compute_reported_ranks(asked, lambda done, total: None)()
    took = seconds(time.perf_counter() - clock), seconds(time.process_time() - processor)
    # Where a job waits without a worker, no page is kept.
    Job.objects.all().delete()
    return took


def _page(name: str, query: str) -> tuple[str, ...]:
    """Return the views of an address that nobody has opened, once its tests are made."""
    from benchmarks.boards import _views

    _test(query)
    return name, *_views(f"/benchmarks/{SLUG}/reported/{query or '?'}&timed=1")[0]


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(Path(os.environ["RANKFIELD_HOME"]))
    else:
        main()
