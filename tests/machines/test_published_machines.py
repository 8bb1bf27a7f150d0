"""Machine judges whose answers are in RANKFIELD_DATA, read and imported as organisers do it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest import approx

from evaluation.agreement import cohen_kappa
from evaluation.reading.judging.machine_grades import MachineAnswers, read_answers
from evaluation.reading.judging.qrels import read_qrels_leniently
from leaderboard.actions import uploads
from leaderboard.actions.machine_judgments import import_machine_answers
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.analysis.judge_agreement import compute_version_agreement
from leaderboard.models import Collection, JudgmentSet, User
from tests.builders import signed_in, upload, work
from tests.machines.answers import CARD
from tests.pages.reading import words

pytestmark = pytest.mark.data

MACHINES = {
    "llmjudge": ["willia-umbrela1", "Olz-gpt4o", "TREMA-nuggets", "h2oloo-zeroshot1"],
    "dl19": ["umbrela-gpt4"],
}


def answers_of(data: Path, folder: str, name: str) -> MachineAnswers:
    with (data / "data" / folder / "machine" / f"{name}.qrels").open("rb") as file:
        return read_answers(file, highest=3)


def grades_of(data: Path, folder: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """float64[pairs] by people and by the machine, on what both judged."""
    people_file = {"llmjudge": "people.qrels", "dl19": "nist.qrels"}[folder]
    with (data / "data" / folder / people_file).open("rb") as file:
        people = read_qrels_leniently(file).grades
    machine = answers_of(data, folder, name).grades
    pairs = [
        (grade, machine[topic.decode(), docno.decode()])
        for topic, judged in people.items()
        for docno, grade in judged.items()
        if (topic.decode(), docno.decode()) in machine
    ]
    first, second = np.array(pairs, dtype=float).T
    return first, second


@pytest.mark.parametrize(
    ("folder", "name", "kappa"),
    [
        ("dl19", "umbrela-gpt4", 0.3385),
        ("llmjudge", "willia-umbrela1", 0.2863),
        ("llmjudge", "Olz-gpt4o", 0.2625),
        ("llmjudge", "TREMA-nuggets", 0.0604),
    ],
)
def test_machines_agree_with_people_as_published(data, folder, name, kappa):
    assert cohen_kappa(*grades_of(data, folder, name)) == approx(kappa, abs=5e-5)


def test_the_best_machine_agrees_as_published_by_weight_and_in_two_grades(data):
    people, machine = grades_of(data, "llmjudge", "willia-umbrela1")
    assert cohen_kappa(people, machine, "quadratic") == approx(0.5044, abs=5e-5)
    binary = [(grades >= 2).astype(float) for grades in (people, machine)]
    assert cohen_kappa(*binary) == approx(0.3985, abs=5e-5)


@pytest.mark.parametrize("folder", MACHINES)
def test_every_file_of_a_machine_is_read(data, folder):
    for path in sorted((data / "data" / folder / "machine").glob("*.qrels")):
        found = answers_of(data, folder, path.stem)
        assert found.num_asked == len(found.grades) + found.num_failed > 4000


@pytest.fixture
def passages(ada: User, data: Path) -> Collection:
    """The topics of DL19 with the judgments of NIST, without texts."""
    judged = (data / "data" / "dl19" / "nist.qrels").read_bytes()
    numbers = dict.fromkeys(line.split()[0].decode() for line in judged.splitlines())
    topics = "".join(f"{number}\tTopic {number}\n" for number in numbers)
    files = CollectionFiles(upload("topics.tsv", topics), None, upload("nist.qrels", judged))
    collection = Collection(slug="passages", name="Passages", owner=ada, asks_first=False)
    uploads.accept_collection(collection, files)
    work()
    collection.refresh_from_db()
    return collection


@pytest.mark.long
def test_imported_on_the_site_a_machine_agrees_with_nist_as_published(passages, data):
    content = (data / "data" / "dl19" / "machine" / "umbrela-gpt4.qrels").read_bytes()
    file = SimpleUploadedFile("umbrela-gpt4.qrels", content)
    made = import_machine_answers(
        passages, passages.owner, file, "gpt4", CARD, highest_grade=3, asks_first=False
    )
    work()
    nist = passages.judgment_sets.get(version="v1")
    machine = JudgmentSet.objects.get(pk=made.judgment_set.pk)
    assert (nist.num_judgments, machine.state) == (9260, "ready")
    [pair] = compute_version_agreement(nist.pk, machine.pk).pairs
    assert pair.kappa == approx(0.3385, abs=5e-5)
    page = signed_in(passages.owner).get("/collections/passages/agreement/").content.decode()
    assert "κ .34 (95 % interval" in words(page)
