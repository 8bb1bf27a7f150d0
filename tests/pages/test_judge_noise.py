"""Versions of machines beside each other: means, agreement and the use of grades."""

from __future__ import annotations

import pytest

from leaderboard.analysis.judge_noise import list_grade_use
from leaderboard.models import JudgmentSet
from tests.builders import OTHER_RUN, make_run, work
from tests.pages.test_people_and_machine import BY_MACHINE, add_machine

PAGE = "/benchmarks/bread/judge-noise/"
OTHER = BY_MACHINE.replace("d10 3", "d10 0")


@pytest.fixture
def versions(track, ada, ben, cat):
    """Two runs, and three versions of a machine, of which the last likes the other run less."""
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    for name, text in (("m1", BY_MACHINE), ("m2", BY_MACHINE), ("m3", OTHER)):
        add_machine(track.collection, ada, text, name)
    return track


def read(client, address: str = PAGE) -> str:
    client.get(address)
    work()
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_one_version_makes_no_noise(as_ada, track, ada):
    add_machine(track.collection, ada)
    assert "Two machine versions needed" in read(as_ada)


def test_runs_have_a_mean_by_each_version(as_ada, versions):
    page = read(as_ada)
    assert "pair of runs" in page and "have another verdict by some of the 3 versions" in page
    sheet = as_ada.get(f"{PAGE}?format=csv").content.decode()
    assert sheet.splitlines()[0].endswith("mean_by_m1,mean_by_m2,mean_by_m3")
    assert len(sheet.splitlines()) == 3


def test_every_two_versions_have_their_agreement(as_ada, versions):
    lines = as_ada.get(f"{PAGE}?format=csv&table=pairs").content.decode().splitlines()
    assert [line.split(",")[:2] for line in lines[1:]] == [["m1", "m2"], ["m1", "m3"], ["m2", "m3"]]
    assert lines[1].split(",")[3] == "1.0"


def test_a_grade_that_is_hardly_used_is_named(as_ada, versions):
    counts = {"0": 9000, "1": 12000, "2": 5340, "3": 1}
    JudgmentSet.objects.filter(version="m2").update(grade_counts=counts)
    page = read(as_ada)
    assert "Grades that a machine hardly uses:" in page and "(1 document)" in page


def test_the_use_of_grades_begins_with_the_highest():
    uses = list_grade_use(JudgmentSet(version="m1", grade_counts={"-1": 5, "0": 3, "2": 1}), 2)
    assert [(use.grade, use.count, use.share) for use in uses] == [
        *((2, 1, 0.25), (1, 0, 0.0), (0, 3, 0.75)),
    ]


def test_a_stranger_reads_nothing(as_cat, versions):
    assert as_cat.get(PAGE).status_code == 403
