"""A public board by a machine needs a sample that people judged blind."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from evaluation.agreement import cohen_kappa
from evaluation.reading.judging.qrels import read_qrels_leniently
from leaderboard.actions import assessments, pools, tracks
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments import samples
from leaderboard.assessments.pool_documents import topics_to_judge
from leaderboard.models import AssignedDocument, JudgmentSet, MachineCard, Pool, Track, User
from leaderboard.models.collections import load_grades
from leaderboard.scoring.editions import find_trial_judgments
from tests.assessments.marks import judge_everything
from tests.builders import make_assessment, make_run, make_track, work


@pytest.fixture
def by_machine(collection) -> JudgmentSet:
    made = collection.judgment_sets.get()
    made.made_by = JudgmentSet.MadeBy.MACHINE
    made.save()
    MachineCard.objects.create(judgment_set=made, model="GPT-4o", prompt="Grade it.")
    return made


@pytest.fixture
def hidden(by_machine, collection, ben) -> Track:
    """A blind track with judgments by a machine."""
    made = make_track(collection, disclosure="blind")
    make_run(made, ben)
    return made


@pytest.fixture
def sample(hidden: Track, by_machine: JudgmentSet, ada: User) -> Pool:
    return pools.draw_sample(by_machine, hidden, ada)


def grade_alike(machine: dict[bytes, dict[bytes, int]], document: AssignedDocument) -> int:
    """The machine's grade on a scale to 2; 0 where it gave none."""
    graded = machine[document.assignment.topic.number.encode()]
    return min(2, graded.get(document.docno.encode(), 0))


def judge_sample(sample: Pool, ada: User, dan: User, grade: int | None = None) -> None:
    """Dan judges every document as the machine did, or with one grade; Ada closes."""
    assessment = make_assessment(sample, ada, dan)
    machine = load_grades(sample.checks_id)
    judge_everything(
        assessment,
        lambda document: (
            min(
                2,
                machine[document.assignment.topic.number.encode()].get(document.docno.encode(), 0),
            )
            if grade is None
            else grade
        ),
    )
    assessments.close_assessment(assessment, ada, "sample")
    work()


def test_a_small_version_is_drawn_whole(sample, by_machine):
    drawn = {(n, d.docno) for n, of in topics_to_judge(sample).items() for d in of}
    # Besides what the machine judged, a document that it did not and that the run has.
    assert len(drawn) == by_machine.num_judgments + 1
    assert (sample.state, sample.method, sample.checks) == ("kept", "sample", by_machine)
    assert sample.summary["new"] == len(drawn)


def test_a_sample_is_even_over_grades_and_wide_over_topics():
    grades = {b"%d" % n: {b"d%d" % d: int(d > 90) for d in range(100)} for n in range(43)}
    drawn = samples.draw_documents(grades, 240, seed=1)
    chosen = [grades[topic][docno] for topic, docnos in drawn.items() for docno in docnos]
    assert len(drawn) == 43 and len(chosen) == 240 and sum(chosen) == 120
    assert drawn == samples.draw_documents(grades, 240, seed=1)
    assert drawn != samples.draw_documents(grades, 240, seed=2)


def test_a_public_board_by_an_unchecked_machine_is_refused(hidden, ada):
    with pytest.raises(ActionError, match="Draw a sample on the page of judgments v1"):
        tracks.release_track(hidden, ada)
    with pytest.raises(ActionError, match="8 documents of 3 topics; 0 documents of 0 topics"):
        make_track(hidden.collection, "other")


def test_a_draft_by_an_unchecked_machine_does_not_open(by_machine, collection, ada):
    made = make_track(collection, "later", disclosure="open", is_draft=True)
    with pytest.raises(ActionError, match="A machine made judgments v1"):
        tracks.open_draft(made, ada)


def test_a_public_board_does_not_switch_to_an_unchecked_machine(track, by_machine, ada):
    Track.objects.filter(pk=track.pk).update(judgment_set=None)
    track.refresh_from_db()
    with pytest.raises(ActionError, match="needs a sample that people judge"):
        tracks.change_track(track, ada, {"judgment_set": by_machine})


def test_a_board_of_members_needs_no_sample(by_machine, collection, ada):
    assert make_track(collection, "inside", visibility="members").edition is not None


def test_a_judged_sample_lets_the_board_be_released(sample, hidden, by_machine, ada, dan, as_cat):
    judge_sample(sample, ada, dan)
    tracks.release_track(hidden, ada)
    page = as_cat.get("/benchmarks/bread/board/").content.decode()
    assert "checked by people on 8 documents: same grade 88 %, kappa .82" in page


def test_an_open_assessment_does_not_count_yet(sample, by_machine, ada, dan):
    make_assessment(sample, ada, dan)
    assert not samples.check_machine(by_machine).is_enough


def test_people_who_differ_are_shown_as_such(sample, by_machine, ada, dan):
    judge_sample(sample, ada, dan, grade=0)
    check = samples.check_machine(by_machine)
    assert check.is_enough and check.share == 3 / 8


def test_closing_a_sample_proposes_no_new_board(sample, hidden, ada, dan):
    judge_sample(sample, ada, dan)
    made = JudgmentSet.objects.get(version="sample")
    assert made.made_by == "people" and not made.editions.exists()
    assert find_trial_judgments(hidden) is None


def test_a_second_sample_waits_for_the_first(sample, hidden, by_machine, ada):
    with pytest.raises(ActionError, match="Judge the sample pool-1 first"):
        pools.draw_sample(by_machine, hidden, ada)


def test_organisers_draw_a_sample_on_the_page_of_the_version(hidden, as_ada, as_ben):
    page = as_ada.get("/benchmarks/bread/judgments/v1/impact/").content.decode()
    assert "Draw a sample for people" in page and "No sample is judged yet" in page
    assert as_ben.post("/benchmarks/bread/judgments/v1/sample/").status_code == 403
    drawn = as_ada.post("/benchmarks/bread/judgments/v1/sample/", follow=True).content.decode()
    assert "Sample drawn" in drawn and "Judge it here" in drawn
    page = as_ada.get("/benchmarks/bread/judgments/v1/impact/").content.decode()
    assert "Judge sample pool-1" in page


def test_only_judgments_by_a_machine_have_samples(track, collection, ada):
    with pytest.raises(ActionError, match="checks judgments by a machine"):
        pools.draw_sample(collection.judgment_sets.get(), track, ada)


@pytest.mark.data
def test_dl19_is_sampled_over_all_its_topics_and_grades(data):
    """UMBRELA's 9,260 grades of 43 topics; NIST's kappa of them all is .3385."""
    folder = data / "data" / "dl19"
    machine = read_file(next(path for path in (folder / "machine").iterdir() if path.is_file()))
    drawn = samples.draw_documents(machine, samples.NUM_DRAWN, seed=19)
    chosen = Counter(machine[t][d] for t, docnos in drawn.items() for d in docnos)
    assert len(drawn) == 43 and chosen == {0: 60, 1: 60, 2: 60, 3: 60}
    nist = read_file(folder / "nist.qrels")
    both = [(nist[t][d], machine[t][d]) for t, of in drawn.items() for d in of if d in nist[t]]
    assert len(both) >= 200
    assert 0.1 < cohen_kappa(*np.array(both, dtype=float).T) < 0.5


def read_file(path: Path) -> dict[bytes, dict[bytes, int]]:
    with path.open("rb") as file:
        return read_qrels_leniently(file).grades
