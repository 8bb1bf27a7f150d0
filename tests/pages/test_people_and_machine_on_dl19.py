"""People beside a machine on published data: DL19 by NIST and by UMBRELA with GPT-4.

A middle run is reranked by the machine's own labels, as in the study of circularity.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pytest import approx

from leaderboard.analysis.people_and_machine import PeopleBesideMachine, find_people_and_machine
from leaderboard.boards.disclosure import sight_of
from leaderboard.models import JudgmentSet, Track
from tests.builders import make_run, make_track, signed_in, work
from tests.pages.test_judge_agreement_on_dl19 import as_qrels, collection, folder, read_grades
from tests.pages.test_people_and_machine import add_machine

pytestmark = [pytest.mark.data, pytest.mark.night]

__all__ = ["collection", "folder"]


def rerank(run: str, labels: dict[tuple[str, str], int]) -> str:
    """Sort the first 100 documents of each topic by the machine's labels, as its rerank would."""
    by_topic: dict[str, list[list[str]]] = {}
    for line in run.splitlines():
        by_topic.setdefault(line.split()[0], []).append(line.split())
    lines = []
    for topic, rows in by_topic.items():
        first = sorted(rows, key=lambda row: int(row[3]))[:100]
        ordered = sorted(first, key=lambda row: -labels.get((topic, row[2]), -1))
        lines += [
            f"{topic} Q0 {row[2]} {rank} {1000 - rank} circular"
            for rank, row in enumerate(ordered, 1)
        ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def dl19(folder: Path, collection, ada) -> Track:
    machine = read_grades(folder / "machine" / "umbrela-gpt4.qrels")
    add_machine(collection, ada, as_qrels(machine), "m1")
    track = make_track(collection, "dl19", measures=["nDCG@10"], primary_measure="nDCG@10")
    for path in sorted((folder / "runs").glob("*.gz")):
        make_run(track, ada, path.read_bytes())
    return track


def boards_of(track: Track, ada) -> PeopleBesideMachine:
    versions = [JudgmentSet.objects.get(version=name) for name in ("v1", "m1")]
    find_people_and_machine(sight_of(track, ada), *versions, "nDCG@10")
    work()
    found = find_people_and_machine(sight_of(track, ada), *versions, "nDCG@10")
    assert found.boards is not None
    return found.boards


def test_the_machine_orders_the_runs_much_like_nist(dl19, ada):
    found = boards_of(dl19, ada)
    assert found.shift.agreement.tau_b == approx(0.8498, abs=5e-5)
    assert found.shift.agreement.tau_ap == approx(0.7950, abs=5e-5)
    assert found.shift.top == approx(0.6444, abs=5e-5)
    assert found.shift.mean_change == approx(0.0874, abs=5e-5)
    assert (len(found.turned), found.judged.num_pairs) == (119, 666)


@pytest.mark.parametrize(("before", "by_people"), [(19, 5), (32, 13)], ids=["middle", "weak"])
def test_a_run_by_the_labels_of_the_machine_is_first_and_flagged(
    dl19, folder, ada, before, by_people
):
    tag = boards_of(dl19, ada).shift.by_rank_before[before - 1].run.tag
    labels = read_grades(folder / "machine" / "umbrela-gpt4.qrels")
    text = gzip.decompress((folder / "runs" / f"{tag}.run.gz").read_bytes()).decode()
    make_run(dl19, ada, rerank(text, labels), facts={"models": "GPT-4 with the UMBRELA prompt"})
    found = boards_of(dl19, ada)
    circular = next(each for each in found.shift.moves if each.run.tag == "circular")
    assert (circular.after.rank, circular.before.rank) == (1, by_people), tag
    assert found.of_family == [circular]
    page = signed_in(ada).get("/benchmarks/dl19/people-and-machine/").content.decode()
    assert "<b><bdi>circular</bdi></b> states a model of the judge’s family." in page
