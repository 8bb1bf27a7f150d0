"""The page that puts the board by people beside the board by a machine."""

from __future__ import annotations

import pytest

from leaderboard.actions import uploads
from leaderboard.actions.machine_judgments import fill_unjudged
from leaderboard.analysis.people_and_machine import find_family, states_family
from leaderboard.models import Calculation, Edition, JudgmentSet, MachineCard, Run, Track
from tests.builders import (
    OTHER_RUN,
    make_assessment,
    make_pool,
    make_run,
    upload,
    work,
)

PAGE = "/benchmarks/bread/people-and-machine/"
# The machine likes what the other run found.
BY_MACHINE = """1 0 d1 0
1 0 d2 3
1 0 d3 3
2 0 d4 3
2 0 d5 0
3 0 d6 0
3 0 d10 3
"""


def add_machine(collection, user, text: str = BY_MACHINE, name: str = "m1") -> JudgmentSet:
    """A version that a machine made, with its card."""
    uploads.accept_judgments(collection, upload(name, text), name, user, asks_first=False)
    work()
    found = collection.judgment_sets.get(version=name)
    found.made_by = JudgmentSet.MadeBy.MACHINE
    found.save()
    MachineCard.objects.create(
        judgment_set=found, model="GPT-4o", prompt="Grade this.", prompt_name="umbrela"
    )
    return found


@pytest.fixture
def beside(track, ada, ben, cat):
    """Two runs, judged by people (v1) and by a machine (m1)."""
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN, facts={"models": "reranked by gpt-4o-mini"})
    add_machine(track.collection, ada)
    return track


def read(client, address: str = PAGE) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer
    return answer.content.decode()


def boards_of(client, address: str = PAGE) -> str:
    """The page after the job that it asks for."""
    read(client, address)
    work()
    return read(client, address)


def test_the_page_waits_for_its_job(as_ada, beside):
    page = read(as_ada)
    assert "The two boards are being computed." in page and "Checked by people" in page
    assert "being computed" not in boards_of(as_ada)


def test_the_sentence_begins_with_the_orders(as_ada, beside):
    verdict = boards_of(as_ada).partition('class="verdict"')[2]
    assert "The order by the machine has" in verdict
    assert verdict.index("τ ") < verdict.index("scores are") < verdict.index("its grades")


def test_both_boards_are_tables_of_their_own(as_ada, beside):
    page = boards_of(as_ada)
    people = page.partition('aria-label="Board by people"')[2].partition("</table>")[0]
    machine = page.partition('aria-label="Board by machine"')[2].partition("</table>")[0]
    assert people.count("<tr") == machine.count("<tr") == 3
    assert page.count('class="slope') >= 2 and "GPT-4o (umbrela, prompt" in page


def test_a_machine_mean_has_no_grade_of_people(as_ada, beside, ada):
    add_machine(beside.collection, ada, "1 0 d2 3\n1 0 d1 0\n", "m2")
    page = boards_of(as_ada, PAGE + "?machine=m2")
    made = Calculation.objects.latest("computed_at")
    assert (made.kind, made.results["topics"]) == ("judges", 1)
    assert "1 topic that both judged" in page


def test_a_run_of_the_judges_family_is_flagged(as_ada, beside):
    page = boards_of(as_ada)
    assert page.count("judge’s family</span>") == 1
    assert "<b><bdi>other</bdi></b> states a model of the judge’s family." in page


def test_ranks_gained_raise_no_notice(as_ada, beside):
    page = boards_of(as_ada)
    assert "five ranks" not in page and "more from the machine" not in page
    assert "/benchmarks/bread/corrected-means/?machine=m1" in page


@pytest.mark.parametrize(
    ("stated", "is_family"),
    [("GPT-4o", True), ("ChatGPT", True), ("gpt4 and bm25", True), ("egpts", False), ("", False)],
)
def test_a_family_is_matched_as_a_word(stated, is_family):
    card = MachineCard(model="gpt-4o-2024-11-20", prompt="x")
    assert states_family(Run(facts={"models": stated}), card) == is_family
    assert states_family(Run(description=stated), card) == is_family


@pytest.mark.parametrize(
    ("model", "family", "found"),
    [
        ("gpt-4o", "", "gpt"),
        ("meta-llama/Llama-3", "", "llama"),
        ("x1", "Qwen", "qwen"),
        ("", "", ""),
    ],
)
def test_the_family_is_stated_or_the_first_word_of_the_model(model, family, found):
    assert find_family(MachineCard(model=model, family=family, prompt="x")) == found


@pytest.mark.parametrize(
    ("table", "head"),
    [
        ("runs", "run,tag,rank_by_people,rank_by_machine,ranks_gained,judges_family"),
        ("turned", "first,second,by_people,by_machine,difference_by_people"),
    ],
)
def test_every_table_is_a_file(as_ada, beside, table, head):
    boards_of(as_ada)
    sheet = as_ada.get(f"{PAGE}?format=csv&table={table}").content.decode()
    assert sheet.startswith(head)


def test_a_pair_that_turns_is_named(as_ada, beside):
    boards_of(as_ada)
    row = Calculation.objects.get(kind="judges")
    row.results["pairs"] = {"count": 1, "turned": [[0, 1, 1, -1, 0.2, -0.3]]}
    row.save()
    page = read(as_ada)
    assert "1 of 1 pair of runs; 1 reversed" in page
    assert "first is better" in page and "first is worse" in page


@pytest.mark.parametrize("query", ["machine=v1", "people=m1", "machine=v9", "format=csv&table=x"])
def test_what_is_not_there_is_not_found(as_ada, beside, query):
    assert as_ada.get(f"{PAGE}?{query}").status_code == 404


def test_without_a_machine_version_the_page_says_so(as_ada, track):
    assert "No machine version yet." in read(as_ada)


def test_an_organiser_who_judges_sees_no_comparison(as_ada, beside, ada):
    pool = make_pool(beside, ada, list(beside.runs.all()), size=9)
    make_assessment(pool, ada, ada)
    page = read(as_ada)
    assert "You judge in this assessment." in page and "By machine" not in page


def test_others_compare_no_version_that_no_board_shows(as_ben, beside):
    page = read(as_ben)
    assert "Two versions needed" in page and "m1" not in page


@pytest.fixture
def filled(beside, ada):
    """The board has the grades of people, and those of the machine where people gave none."""
    people, machine = (beside.collection.judgment_sets.get(version=each) for each in ("v1", "m1"))
    both = fill_unjudged(people, machine, ada, "v2")
    work()
    edition = Edition.objects.get(track=beside, judgment_set=both)
    Track.objects.filter(pk=beside.pk).update(judgment_set=both, edition=edition)
    return beside


def test_readers_of_a_filled_board_see_both_boards(as_ben, filled):
    assert "The order by the machine has" in boards_of(as_ben)
    assert PAGE in read(as_ben, "/benchmarks/bread/judgments/")


@pytest.mark.parametrize("hidden", [{"disclosure": "blind"}, {"pseudonyms": True}])
def test_boards_by_both_are_hidden_with_scores_and_names(as_ben, filled, hidden):
    Track.objects.update(**hidden)
    assert as_ben.get(PAGE).status_code == 404


# Means by different judges


def test_the_impact_of_a_machine_shows_no_change_of_scores(as_ada, beside):
    as_ada.post("/benchmarks/bread/judgments/m1/try/")
    work()
    page = read(as_ada, "/benchmarks/bread/judgments/m1/impact/")
    assert "Different judges made these judgments." in page
    assert '<small class="phone">of AP</small>' not in page
    assert "Scores by different judges are not subtracted." in page


def test_the_impact_of_a_machine_has_no_file_of_changes(as_ada, beside):
    as_ada.post("/benchmarks/bread/judgments/m1/try/")
    work()
    address = "/benchmarks/bread/judgments/m1/impact/?format=csv"
    assert as_ada.get(address).status_code == 200
    assert as_ada.get(f"{address}&table=topics").status_code == 404


def test_history_and_board_have_one_judge(as_ada, beside):
    as_ada.post("/benchmarks/bread/judgments/m1/try/")
    work()
    as_ada.post("/benchmarks/bread/judgments/m1/switch/")
    for version in ("v1", "m1"):
        sheet = read(as_ada, f"/benchmarks/bread/history/?judgments={version}&format=csv")
        lines = sheet.splitlines()
        assert {line.rsplit(",", 1)[1] for line in lines[1:]} == {version}
