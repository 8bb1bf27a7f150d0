"""The agreement page of published judgments: DL19, judged again by eight assessors.

NIST's judgments and those of second assessors (Parry and others, SIGIR 2025), in RANKFIELD_DATA.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from pytest import approx

from evaluation.reading.judging.qrels import read_qrels_leniently
from leaderboard.actions import uploads
from leaderboard.analysis.judge_agreement import measure_agreement
from leaderboard.assessments.shared_grades import SharedGrades
from leaderboard.models import Collection, Topic
from tests.builders import make_run, make_track, signed_in, upload, work

pytestmark = [pytest.mark.data, pytest.mark.night]

Grades = dict[tuple[str, str], int]
MAIN_PAIRS = (("a1", "a2"), ("a3", "a4"), ("a5", "a6"), ("a7", "a8"))


def read_grades(path: Path) -> Grades:
    with path.open("rb") as file:
        judged = read_qrels_leniently(file).grades
    return {(t.decode(), d.decode()): g for t, of in judged.items() for d, g in of.items()}


def as_qrels(grades: Grades) -> str:
    return "".join(f"{topic} 0 {docno} {grade}\n" for (topic, docno), grade in grades.items())


@pytest.fixture
def folder(data) -> Path:
    return data / "data" / "dl19"


@pytest.fixture
def collection(folder, ada) -> Collection:
    """The topics of the runs and the judgments of NIST, without documents."""
    run = gzip.decompress(next((folder / "runs").glob("*.gz")).read_bytes()).decode()
    topics = sorted({line.split()[0] for line in run.splitlines()}, key=int)
    nist = read_grades(folder / "nist.qrels")
    found = Collection(slug="dl19", name="DL19", owner=ada, asks_first=False)
    files = uploads.CollectionFiles(
        upload("topics.tsv", "".join(f"{topic}\ttopic {topic}\n" for topic in topics)),
        None,
        upload("nist.qrels", as_qrels(nist)),
    )
    uploads.accept_collection(found, files)
    work()
    found.refresh_from_db()
    assert found.state == "ready", found.problems
    return found


def shared_by_eight(folder: Path, collection: Collection, least: int = 0) -> SharedGrades:
    """The 188 documents that all have graded; with `least`, as relevant from it or not."""
    stage = folder / "assessors" / "agreement"
    read = {f"a{n}": read_grades(stage / f"a{n}.qrels") for n in range(1, 9)}
    common = sorted(set.intersection(*map(set, read.values())))
    topics = dict(Topic.objects.filter(collection=collection).values_list("number", "pk"))
    grades = np.array([[grades[key] for grades in read.values()] for key in common])
    return SharedGrades(
        judges=list(read),
        topics=[topics[topic] for topic, _ in common],
        document=np.repeat(np.arange(len(common)), 8),
        judge=np.tile(np.arange(8), len(common)),
        grade=(grades >= least if least else grades).reshape(-1),
        seconds=np.full(grades.size, np.nan),
    )


def test_eight_assessors_agree_as_published(folder, collection):
    found = measure_agreement(shared_by_eight(folder, collection))
    assert (found.num_documents, found.fleiss_documents) == (188, 188)
    assert found.fleiss == approx(0.2279, abs=5e-5)
    assert found.alphas["nominal"] == approx(0.2284, abs=5e-5)
    assert found.alphas["ordinal"] == approx(0.4534, abs=5e-5)
    kappas = [pair.kappa for pair in found.pairs]
    assert (len(kappas), np.mean(kappas)) == (28, approx(0.2419, abs=5e-5))


def test_they_agree_on_relevance_as_published(folder, collection):
    found = measure_agreement(shared_by_eight(folder, collection, least=2))
    assert found.fleiss == approx(0.3597, abs=5e-5)


def test_second_assessors_order_the_runs_as_published(folder, collection, ada):
    """The second version is the mean of two second assessors, a half rounded to even."""
    stage, again = folder / "assessors" / "main", {}
    for pair in MAIN_PAIRS:
        one, other = (read_grades(stage / f"{name}.qrels") for name in pair)
        again |= {key: round((one[key] + other[key]) / 2) for key in one.keys() & other.keys()}
    uploads.accept_judgments(collection, upload("v2", as_qrels(again)), "v2", ada, asks_first=False)
    track = make_track(collection, "dl19", measures=["nDCG@10"], primary_measure="nDCG@10")
    for path in sorted((folder / "runs").glob("*.gz")):
        make_run(track, ada, path.read_bytes())
    client = signed_in(ada)
    client.get("/collections/dl19/agreement/")
    work()
    table = client.get("/collections/dl19/agreement/?format=csv&table=judges").content.decode()
    name, topics, tau, *_ = table.splitlines()[2].split(",")
    assert (name, topics, float(tau)) == ("v2", "43", approx(0.9129, abs=5e-5))
    page = client.get("/collections/dl19/agreement/").content.decode()
    assert "the order of 37 runs has" in page
    cell = client.get("/collections/dl19/agreement/?row=3&column=0").content.decode()
    assert "Grades 3 and 0" in cell and "/document/" not in cell
