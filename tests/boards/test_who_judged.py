"""A board names who judged: people, which machine, or both with their shares."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.judges import WhoJudged
from leaderboard.boards.standings import find_visible_board
from leaderboard.models import Collection, JudgmentSet, MachineCard, Run, Track, User
from tests.builders import make_run, make_track

MACHINE = "GPT-4o (umbrela, prompt 8e28)"


@pytest.fixture
def by_machine(track: Track, collection: Collection) -> JudgmentSet:
    return card(collection.judgment_sets.get())


@pytest.fixture
def run(track: Track, ben: User) -> Run:
    return make_run(track, ben)


def card(judgment_set: JudgmentSet) -> JudgmentSet:
    """Say that a machine made these judgments."""
    judgment_set.made_by = JudgmentSet.MadeBy.MACHINE
    judgment_set.save(update_fields=["made_by"])
    MachineCard.objects.create(
        judgment_set=judgment_set, model="GPT-4o", prompt="Grade it.", prompt_name="umbrela"
    )
    return judgment_set


def fill_unjudged(collection: Collection) -> JudgmentSet:
    """People judged topic 1, and the machine the other two."""
    both = collection.judgment_sets.get()
    versions = [
        JudgmentSet.objects.create(
            collection=collection, version=name, made_by=name, created_by=collection.owner
        )
        for name in ("people", "machine")
    ]
    for judgment in both.judgments.filter(topic__number="1"):
        versions[0].judgments.create(topic=judgment.topic, docno=judgment.docno, grade=1)
    card(versions[1])
    both.made_by = JudgmentSet.MadeBy.BOTH
    both.people_version, both.machine_version = versions
    both.save()
    return both


def text_of(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_a_board_without_a_statement_stays_as_it_is(run, as_cat):
    assert "judged by" not in text_of(as_cat, "/benchmarks/bread/board/")
    assert "judged_by" not in text_of(as_cat, "/benchmarks/bread/board/?format=csv").splitlines()[0]
    assert as_cat.get("/api/v1/tracks/bread/leaderboard").json()["judged_by"] is None


def test_a_board_by_a_machine_names_it_everywhere(by_machine, run, as_cat):
    said = f"judged by {MACHINE}"
    for page in ("board/", "topics/", "topic/?number=1", "judgments/", "feed.xml", "badge.svg"):
        assert said in text_of(as_cat, f"/benchmarks/bread/{page}"), page
    for format in ("csv", "tsv", "json", "md"):
        assert said in text_of(as_cat, f"/benchmarks/bread/board/?format={format}").replace(
            "\\", ""
        ), format
    assert said in text_of(as_cat, "/benchmarks/bread/board/?format=tex")
    assert said in text_of(as_cat, f"/runs/{run.pk}/")
    assert as_cat.get("/api/v1/tracks/bread/leaderboard").json()["judged_by"] == said


def test_a_snapshot_names_who_judged(by_machine, run, as_ada, as_cat):
    as_ada.post("/benchmarks/bread/manage/freeze/", {"name": "As published"})
    assert f"judged by {MACHINE}" in text_of(as_cat, "/benchmarks/bread/snapshots/as-published/")


def test_a_board_by_both_counts_who_judged_the_first_ten(collection, run, as_cat):
    fill_unjudged(collection)
    sight = sight_of(Track.objects.get(), run.submitted_by)
    counted = find_visible_board(sight).who_judged.first_ten
    docnos = {(row.split()[0], row.split()[2]) for row in read_run(run)}
    assert counted.people == sum(topic == "1" and docno in "d1 d2 d3" for topic, docno in docnos)
    assert counted.people + counted.machine + counted.nobody == len(docnos)
    assert f"by people and by {MACHINE}: {counted.text}" in text_of(
        as_cat, "/benchmarks/bread/board/?format=csv"
    )


def read_run(run: Run) -> list[str]:
    return run.file.open().read().decode().splitlines()


def test_shares_are_read_once_per_run(collection, run, as_cat, django_assert_max_num_queries):
    fill_unjudged(collection)
    text_of(as_cat, "/benchmarks/bread/board/")
    with django_assert_max_num_queries(60) as asked:
        text_of(as_cat, "/benchmarks/bread/board/")
    assert not any('"leaderboard_judgment"' in each["sql"] for each in asked.captured_queries)


def test_rounded_means_come_without_shares(collection, ben, as_cat):
    track = make_track(collection, "slow", disclosure="leaderboard", primary_measure="nDCG@10")
    make_run(track, ben)
    fill_unjudged(collection)
    page = text_of(as_cat, "/benchmarks/slow/board/")
    assert MACHINE in page and "first ten" not in page


def test_a_blind_track_does_not_say_who_judged(collection, by_machine, ben, as_cat):
    make_run(make_track(collection, "night", disclosure="blind"), ben)
    assert "GPT-4o" not in text_of(as_cat, "/benchmarks/night/board/")


def test_organisers_state_once_that_people_judged(run, collection, as_ada, as_cat):
    address = f"/benchmarks/bread/judgments/{collection.judgment_sets.get()}/"
    assert "State that people judged" in text_of(as_ada, f"{address}impact/")
    as_ada.post(f"{address}people/")
    assert collection.judgment_sets.get().made_by == "people"
    assert "judged by people" in text_of(as_cat, "/benchmarks/bread/board/")
    page = as_ada.post(f"{address}people/", follow=True).content.decode()
    assert "is already stated" in page


def test_both_are_named_in_one_sentence():
    assert WhoJudged("both", "Judge").text == "judged by people and by Judge"
