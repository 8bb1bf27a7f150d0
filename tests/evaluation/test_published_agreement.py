"""Agreement of assessors on published judgments, kept in RANKFIELD_DATA.

LLMJudge: 4,423 pairs graded by people and by machines (Rahmani and others 2024). DL19: documents of
TREC Deep Learning 2019 judged again (Parry and others, SIGIR 2025), and by UMBRELA (Upadhyay and
others 2024).
"""

from __future__ import annotations

import gzip
from io import BytesIO
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from pytest import approx

from evaluation.agreement import (
    cohen_kappa,
    count_opinions,
    find_unused_grades,
    fleiss_kappa,
    kendall_tau_b,
    krippendorff_alpha,
)
from evaluation.judging import judge, prepare
from evaluation.measures import parse_measure
from evaluation.problems import Problems
from evaluation.ragged import FloatArray
from evaluation.reading.judging.qrels import Qrels, read_qrels_leniently
from evaluation.reading.runs.reader import Run, read_run_leniently

pytestmark = pytest.mark.data


def read_file(path: Path) -> dict[bytes, dict[bytes, int]]:
    with path.open("rb") as file:
        return read_qrels_leniently(file).grades


def grades_in(*paths: Path) -> FloatArray:
    """float64[files, documents] for the documents that all assessors graded."""
    files = [
        {(t, d): grade for t, graded in read_file(path).items() for d, grade in graded.items()}
        for path in paths
    ]
    common = sorted(set.intersection(*map(set, files)))
    return np.array([[one[key] for key in common] for one in files], dtype=float)


def binary(grades: FloatArray) -> FloatArray:
    return (grades >= 2).astype(float)


def llmjudge(data: Path, machine: str) -> FloatArray:
    folder = data / "data" / "llmjudge"
    (machine_file,) = (folder / "machine").glob(f"{machine}*")
    return grades_in(folder / "people.qrels", machine_file)


def counts_of(grades: FloatArray, most: int) -> np.ndarray:
    """int[documents, grades]: how many gave each grade."""
    return np.stack([(grades == grade).sum(axis=0) for grade in range(most + 1)], axis=1)


def test_people_graded_llmjudge_as_published(data):
    people, _ = llmjudge(data, "willia-umbrela1")
    assert np.bincount(people.astype(int)).tolist() == [2005, 1233, 808, 377]


def test_the_best_machine_of_llmjudge_agrees_as_published(data):
    people, machine = grades = llmjudge(data, "willia-umbrela1")
    assert cohen_kappa(people, machine) == approx(0.2863, abs=5e-5)
    assert cohen_kappa(people, machine, "quadratic") == approx(0.5044, abs=5e-5)
    assert cohen_kappa(*binary(grades)) == approx(0.3985, abs=5e-5)
    assert krippendorff_alpha(grades, "nominal") == approx(0.2840, abs=5e-5)
    assert krippendorff_alpha(grades, "ordinal") == approx(0.4918, abs=5e-5)
    assert krippendorff_alpha(grades, "interval") == approx(0.5001, abs=5e-5)


def test_another_machine_of_llmjudge_agrees_as_published(data):
    people, machine = grades = llmjudge(data, "Olz-gpt4o")
    assert cohen_kappa(people, machine) == approx(0.2625, abs=5e-5)
    assert krippendorff_alpha(grades, "ordinal") == approx(0.5020, abs=5e-5)


def test_the_worst_machine_of_llmjudge_agrees_as_published(data):
    assert cohen_kappa(*llmjudge(data, "TREMA-nuggets")) == approx(0.0604, abs=5e-5)


def assessors(data: Path, stage: str, *names: str) -> FloatArray:
    folder = data / "data" / "dl19" / "assessors" / stage
    return grades_in(*(folder / f"{name}.qrels" for name in names))


EIGHT = [f"a{number}" for number in range(1, 9)]


def test_eight_assessors_of_188_documents_agree_as_published(data):
    grades = assessors(data, "agreement", *EIGHT)
    assert grades.shape == (8, 188)
    assert fleiss_kappa(counts_of(grades, 3)) == approx(0.2279, abs=5e-5)
    assert fleiss_kappa(counts_of(binary(grades), 1)) == approx(0.3597, abs=5e-5)
    assert krippendorff_alpha(grades, "nominal") == approx(0.2284, abs=5e-5)
    assert krippendorff_alpha(grades, "ordinal") == approx(0.4534, abs=5e-5)
    kappas = [cohen_kappa(*pair) for pair in combinations(grades, 2)]
    assert (len(kappas), np.mean(kappas)) == (28, approx(0.2419, abs=5e-5))


@pytest.mark.parametrize(
    ("pair", "documents", "kappa"),
    [
        (("a5", "a6"), 1131, 0.3316),
        (("a1", "a2"), 1111, 0.2280),
        (("a3", "a4"), 1127, 0.0840),
        (("a7", "a8"), 1122, 0.2353),
    ],
)
def test_pairs_of_assessors_agree_as_published(data, pair, documents, kappa):
    grades = assessors(data, "main", *pair)
    assert grades.shape[1] == documents
    assert cohen_kappa(*grades) == approx(kappa, abs=5e-5)


def test_umbrela_agrees_with_nist_as_published(data):
    folder = data / "data" / "dl19"
    grades = grades_in(folder / "nist.qrels", folder / "machine" / "umbrela-gpt4.qrels")
    assert cohen_kappa(*grades) == approx(0.3385, abs=5e-5)
    assert cohen_kappa(*binary(grades)) == approx(0.5123, abs=5e-5)


def board_by(judged: dict[bytes, dict[bytes, int]], runs: list[Run]) -> FloatArray:
    judgments, measure = prepare(Qrels(judged, Problems())), parse_measure("nDCG@10")
    return np.array([measure.aggregate(measure.scores(judge(run, judgments))) for run in runs])


def test_second_assessors_order_the_runs_of_dl19_as_published(data):
    """NIST's judgments against the mean of two second assessors, a half rounded to even."""
    folder = data / "data" / "dl19"
    again: dict[bytes, dict[bytes, int]] = {}
    for one, other in (("a1", "a2"), ("a3", "a4"), ("a5", "a6"), ("a7", "a8")):
        first, second = (
            read_file(folder / "assessors" / "main" / f"{name}.qrels") for name in (one, other)
        )
        for topic, documents in first.items():
            both = documents.keys() & second.get(topic, {}).keys()
            means = {d: round((documents[d] + second[topic][d]) / 2) for d in both}
            again.setdefault(topic, {}).update(means)
    paths = sorted((folder / "runs").glob("*.gz"))
    runs = [read_run_leniently(BytesIO(gzip.decompress(path.read_bytes()))) for path in paths]
    tau = kendall_tau_b(board_by(read_file(folder / "nist.qrels"), runs), board_by(again, runs))
    assert (len(runs), tau) == (37, approx(0.9129, abs=5e-5))


def answers(data: Path, *names: str) -> tuple[FloatArray, np.ndarray]:
    """float64[files, documents] that all files grade, and the topic of each document."""
    files = [
        read_qrels_leniently(BytesIO(gzip.decompress(path.read_bytes()))).grades
        for path in (data / "data" / "answers" / f"{name}.qrels.gz" for name in names)
    ]
    common = [
        (topic, docno)
        for topic in sorted(files[0])
        for docno in files[0][topic]
        if all(docno in grades.get(topic, {}) for grades in files)
    ]
    topics = np.unique([topic for topic, _ in common], return_inverse=True)[1]
    return np.array([[of[t][d] for t, d in common] for of in files], dtype=float), topics


def test_people_and_umbrela_agree_on_rag25_as_published(data):
    grades, topics = answers(data, "rag25-qrels/nist", "rag25-qrels/umbrela")
    kappa = count_opinions(grades, topics).kappa()
    assert kappa.value == approx(0.2333, abs=5e-5)
    # The bootstrap over topics gave [.195, .271], which is too short.
    assert (kappa.low, kappa.high) == approx((0.1914, 0.2752), abs=5e-5)
    assert krippendorff_alpha(grades, "ordinal") == approx(0.4926, abs=5e-5)


DEV = "rag26-dev/rag25-climbmix-umbrela-"
GPT, QWEN1, QWEN2 = (
    f"{DEV}{name}"
    for name in ("codex-gpt5.5-medium-reasoning-v1", "qwen3.5-9b-v1", "qwen3.5-9b-v2")
)


def test_two_machines_agree_on_rag26_as_published(data):
    grades, _ = answers(data, GPT, QWEN2)
    assert (grades[0] == grades[1]).mean() == approx(0.4734, abs=5e-5)
    assert cohen_kappa(*grades) == approx(0.3009, abs=5e-5)
    assert cohen_kappa(*grades, "quadratic") == approx(0.6593, abs=5e-5)
    assert krippendorff_alpha(grades, "ordinal") == approx(0.6800, abs=5e-5)


def test_two_prompts_of_a_machine_agree_on_rag26_as_published(data):
    assert cohen_kappa(*answers(data, QWEN1, QWEN2)[0]) == approx(0.7751, abs=5e-5)


def test_a_grade_that_a_machine_hardly_uses_is_found(data):
    used = [np.bincount(each.astype(int)) for each in answers(data, GPT, QWEN2)[0]]
    counts = [dict(enumerate(each.tolist())) for each in used]
    assert [find_unused_grades(each, 4) for each in counts] == [[], [4]]
