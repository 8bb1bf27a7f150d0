"""The organiser's pages of judging, from the plan to the version."""

from __future__ import annotations

import pytest

from leaderboard.actions.assessments import (
    close_assessment,
    finish_topic,
    plan_assessment,
    settle_document,
)
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments import flags
from leaderboard.assessments.progress import find_disputes
from leaderboard.models import (
    Assessment,
    Assignment,
    JudgmentSet,
    Mark,
    Notice,
    PracticeDocument,
    Settlement,
    Topic,
)
from tests.assessments.marks import judge_everything
from tests.builders import SCALE, make_assessment, signed_in, work
from tests.pages.test_other_saves import OpenForm, keep

JUDGING = "/benchmarks/bread/judging/judging-1/"
PLAN = {
    "seed": 7,
    "overlap": "sample",
    "overlap_size": 10,
    "topics_per_assessor": 8,
    "order": "random",
    "rule": "first",
    "num_grades": 2,
    "text": "Judge what is written.",
    "name_1": "Answers it",
    "name_0": "Not relevant",
}


@pytest.fixture
def draft(pool, ada):
    planned = Assessment(pool=pool, overlap="none")
    return plan_assessment(planned, ada, "Judge what is *written*.", SCALE)


@pytest.fixture
def twice(pool, ada, dan, eve):
    """Dan finds nothing relevant, Eve everything, so they differ on all eleven documents."""
    assessment = make_assessment(pool, ada, dan, eve, overlap="all", overlap_size=3)
    judge_everything(assessment, lambda document: 0, only="A1")
    judge_everything(assessment, lambda document: 2, only="A2")
    Mark.objects.filter(assessor__name="A1").update(rationale="about ovens", spans=[[0, 4]])
    return assessment


def read(client, address: str = "") -> str:
    answer = client.get(JUDGING + address)
    assert answer.status_code == 200, answer
    return answer.content.decode()


# The plan


def test_an_approved_pool_offers_to_judge_it_here(as_ada, pool):
    page = as_ada.get("/benchmarks/bread/pools/pool-1/").content.decode()
    assert 'href="/benchmarks/bread/pools/pool-1/judging/"' in page


def test_the_plan_begins_with_four_grades_and_a_price(as_ada, pool):
    page = as_ada.get("/benchmarks/bread/pools/pool-1/judging/").content.decode()
    assert all(f'name="name_{grade}"' in page for grade in range(4))
    assert "<dd>22, with second opinions</dd>" in page and "45 seconds" in page


def test_the_price_follows_the_answers_and_nothing_is_made(as_ada, pool):
    sent = {**PLAN, "overlap": "all", "overlap_size": 3, "num_grades": 5, "act": "look"}
    page = as_ada.post("/benchmarks/bread/pools/pool-1/judging/", sent).content.decode()
    assert "<dd>33, with second opinions</dd>" in page and 'name="name_4"' in page
    assert not Assessment.objects.exists()


def test_where_the_price_is_unknown_it_is_explained(as_ada, pool):
    sent = {**PLAN, "overlap": "all", "overlap_size": 1, "act": "look"}
    page = as_ada.post("/benchmarks/bread/pools/pool-1/judging/", sent).content.decode()
    price = page[page.index('id="price"') :]
    assert "Use 2 to 9 opinions per document." in price


def test_every_document_may_be_judged_by_two(as_ada, pool):
    sent = {**PLAN, "overlap": "all", "overlap_size": 2}
    assert as_ada.post("/benchmarks/bread/pools/pool-1/judging/", sent).status_code == 302
    assert Assessment.objects.get().overlap_size == 2


def test_six_answers_make_a_draft(as_ada, pool):
    answer = as_ada.post("/benchmarks/bread/pools/pool-1/judging/", PLAN)
    assert answer["Location"] == JUDGING + "assessors/"
    made = Assessment.objects.get()
    assert (made.state, made.overlap_size, made.seed) == ("draft", 10, 7)
    assert [grade.name for grade in made.guideline.scale] == ["Answers it", "Not relevant"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"overlap": "all", "overlap_size": 10}, "2 to 9 opinions"),
        ({"overlap": "topics", "overlap_size": 4}, "has 3 topics"),
        ({"overlap_size": 101}, "1 to 100 percent"),
        ({"name_1": ""}, "required"),
        ({"topics_per_assessor": 0}, "1 or more"),
    ],
)
def test_a_plan_that_cannot_be_is_rejected(as_ada, pool, wrong, words):
    answer = as_ada.post("/benchmarks/bread/pools/pool-1/judging/", {**PLAN, **wrong})
    assert answer.status_code == 422 and words in answer.content.decode()


def test_a_pool_is_not_judged_twice_at_once(as_ada, draft):
    answer = as_ada.post("/benchmarks/bread/pools/pool-1/judging/", PLAN)
    assert answer.status_code == 422 and "being judged already" in answer.content.decode()


# Opening, pausing, the desk


def test_judging_opens_once_somebody_judges(as_ada, draft, dan):
    answer = as_ada.post(JUDGING + "open/", follow=True)
    assert "Invite at least one assessor first." in answer.content.decode()
    signed_in(dan).post(f"/judging/join/{draft.invitation}/")
    as_ada.post(JUDGING + "open/")
    assert Assignment.objects.count() == 3
    assert Notice.objects.get(user=dan).text == "You have 3 new topics to judge in Bread track."


def test_judging_is_paused_and_goes_on(as_ada, assessment):
    for act, state in (("pause", "paused"), ("resume", "open")):
        as_ada.post(f"{JUDGING}{act}/")
        assert Assessment.objects.get().state == state


def test_the_desk_counts_documents_hours_and_pace(as_ada, assessment):
    judge_everything(assessment)
    page = read(as_ada)
    assert "Every document of the pool is judged." in page
    assert "<b>11</b> of 11" in page and "<b>40 s</b>" in page and "Close and make v1" in page


def test_the_desk_says_when_the_judging_ends(as_ada, assessment):
    judge_everything(assessment)
    last = Mark.objects.last()
    assessment.assessors.get().assignments.last().documents.filter(pk=last.document_id).update(
        state="waiting", mark=None
    )
    last.delete()
    page = read(as_ada)
    assert "<b>90 % of the pool is judged.</b> At the present pace it is finished on " in page


def test_the_table_is_a_file_too(as_ada, twice):
    lines = as_ada.get(JUDGING + "?format=csv").content.decode().splitlines()
    assert lines[0] == "topic,assessor,opinion,judged,later,documents,relevant,to settle"
    assert len(lines) == 7


def test_a_flag_leads_to_its_marks(as_ada, assessment, monkeypatch):
    monkeypatch.setattr(flags, "FEWEST_MARKS", 11)
    judge_everything(assessment, lambda document: int(document.docno[1:]) % 2, seconds=[4])
    assert "A1 takes 4 s per document" in read(as_ada)
    assert read(as_ada, "marks/?assessor=A1&below=5").count('class="document-name"') == 11


def test_marks_of_two_are_beside_each_other(as_ada, twice):
    page = read(as_ada, "marks/?assessor=A1&with=A2")
    assert "beside those of A2" in page and page.count('class="document-name"') == 11


# Assessors


def test_the_page_of_assessors_has_the_invitation_and_the_names(as_ada, assessment):
    page = read(as_ada, "assessors/")
    assert f"http://testserver/judging/join/{assessment.invitation}/" in page
    assert "A1" in page and "<bdi>dan</bdi>" in page


def test_what_is_without_an_assessor_is_shared_out(as_ada, pool, ada, dan, eve):
    assessment = make_assessment(pool, ada, dan, topics_per_assessor=2)
    assert "<b>1 opinion</b> has no assessor." in read(as_ada, "assessors/")
    signed_in(eve).post(f"/judging/join/{assessment.invitation}/")
    as_ada.post(JUDGING + "assessors/")
    assert Assignment.objects.get(topic__number="3").assessor.name == "A2"
    assert "Every topic has its assessors." in read(as_ada, "assessors/")


def test_a_topic_is_reassigned(as_ada, pool, ada, dan, eve):
    make_assessment(pool, ada, dan, eve, topics_per_assessor=3)
    assignment = Assignment.objects.get(topic__number="1")
    as_ada.post(f"{JUDGING}assignments/{assignment.pk}/", {"to": "A2"})
    assert Assignment.objects.get(topic__number="1").assessor.name == "A2"
    assert Notice.objects.filter(user=eve).count() == 2


def test_a_removed_assessor_leaves_topics_to_others(as_ada, assessment):
    as_ada.post(f"{JUDGING}assessors/{assessment.assessors.get().pk}/remove/")
    assert "<b>3 opinions</b> have no assessor." in read(as_ada, "assessors/")


def test_organisers_are_notified_when_an_assessor_has_finished(as_ada, assessment, ada):
    judge_everything(assessment)
    for assignment in Assignment.objects.all():
        assert not Notice.objects.filter(user=ada).exists()
        finish_topic(assignment)
    notice = Notice.objects.get(user=ada)
    assert (notice.text, notice.address) == (
        "A1 has judged every topic given in Bread track.",
        JUDGING,
    )


# Guideline and practice


def test_a_new_version_shows_what_changed(as_ada, draft):
    words = {f"name_{g.grade}": g.name for g in SCALE}
    as_ada.post(JUDGING + "guideline/", {"num_grades": 3, "text": "Judge the text.", **words})
    page = read(as_ada, "guideline/")
    assert draft.guideline.number == 2
    assert "+ Judge the text." in page and "- Judge what is *written*." in page


@pytest.mark.parametrize(("whose", "line"), [("theirs", "Her words"), ("mine", "My words")])
def test_two_who_write_a_guideline_choose_between_their_words(as_ada, draft, whose, line):
    mine, hers = (OpenForm(as_ada, JUDGING + "guideline/", "text") for _ in range(2))
    hers.save(line_1="Her words")
    mine.save(**keep(mine.save(line_1="My words"), whose))
    assert next(each.line for each in draft.guideline.scale if each.grade == 1) == line


def test_a_grade_that_another_added_is_not_lost(as_ada, draft):
    mine, hers = (OpenForm(as_ada, JUDGING + "guideline/", "text") for _ in range(2))
    hers.save(num_grades="4", name_3="Perfect")
    mine.save(text="Judge the text.")
    assert next(each.name for each in draft.guideline.scale) == "Perfect"


def test_the_grades_stay_once_they_are_used(as_ada, assessment):
    judge_everything(assessment)
    words = {f"name_{g.grade}": f"New {g.grade}" for g in SCALE}
    as_ada.post(JUDGING + "guideline/", {"num_grades": 5, "text": "", **words})
    assert [grade.name for grade in assessment.guideline.scale] == ["New 2", "New 1", "New 0"]


def test_a_practice_document_is_added_and_removed(as_ada, draft):
    sent = {"topic": "1", "docno": "d12", "grade": 2, "why": "It has a starter"}
    as_ada.post(JUDGING + "guideline/practice/", sent)
    assert "It has a starter" in read(as_ada, "guideline/")
    as_ada.post(f"{JUDGING}guideline/practice/{PracticeDocument.objects.get().pk}/remove/")
    assert not PracticeDocument.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"topic": "99"}, "no such topic"),
        ({"docno": "d99"}, "no such document"),
        ({"grade": 9}, "9"),
    ],
)
def test_practice_needs_a_topic_and_a_document_of_the_collection(as_ada, draft, wrong, words):
    sent = {"topic": "1", "docno": "d12", "grade": 2, **wrong}
    answer = as_ada.post(JUDGING + "guideline/practice/", sent)
    assert answer.status_code == 422 and words in answer.content.decode()


# Disagreements


def test_disagreements_are_listed_with_grades_and_remarks(as_ada, twice):
    page = read(as_ada, "disagreements/")
    assert "<b>11 disagreements</b> to settle" in page and "about ovens" in page


def test_one_disagreement_shows_both_grades_and_the_passage(as_ada, twice):
    page = read(as_ada, "disagreements/?topic=1&docno=d1")
    assert '<mark class="span">Loaf<sup>A1</sup></mark>' in page
    assert "A1" in page and "A2" in page and "How is bread leavened" in page


def test_settling_leads_to_the_next_one(as_ada, twice):
    sent = {"topic": "1", "docno": "d1", "grade": 1, "note": "in between"}
    answer = as_ada.post(JUDGING + "disagreements/", sent)
    assert answer["Location"] == JUDGING + "disagreements/?topic=1&docno=d2"
    assert Settlement.objects.get().grade == 1 and len(find_disputes(twice)) == 10


def test_what_is_settled_while_the_judging_closes_is_refused(twice, ada):
    """The version would not have it: closing has read the settlements already."""
    stale, topic = Assessment.objects.get(), Topic.objects.earliest("pk")
    close_assessment(twice, ada, "closed", is_early=True)
    with pytest.raises(ActionError, match="closed"):
        settle_document(stale, ada, topic, "d1", 1)
    assert not Settlement.objects.exists()


@pytest.mark.parametrize("grade", ["7", "", "x", "²", "-1", "9" * 5000])
def test_only_a_grade_of_the_scale_settles(as_ada, twice, grade):
    as_ada.post(JUDGING + "disagreements/", {"topic": "1", "docno": "d1", "grade": grade})
    assert not Settlement.objects.exists()


def test_an_organiser_who_judges_sees_no_grades_of_others(as_ada, pool, ada, dan, eve):
    assessment = make_assessment(pool, ada, ada, dan, eve, overlap="all", overlap_size=3)
    judge_everything(assessment, lambda document: 2, only="A2")
    judge_everything(assessment, lambda document: 0, only="A3")
    for address in ("", "disagreements/", "marks/"):
        page = read(as_ada, address)
        assert "You judge in this assessment." in page
        assert 'class="grade g' not in page and "organisers only" not in page
    assert as_ada.get(JUDGING + "?format=csv").status_code == 403
    assert as_ada.post(JUDGING + "try/").status_code == 403
    settled = {"topic": "1", "docno": "d1", "grade": 1}
    assert as_ada.post(JUDGING + "disagreements/", settled).status_code == 403


@pytest.mark.parametrize("number", ["²", "٣", "-1", "9" * 5000])
def test_a_number_of_marks_that_is_none_is_ignored(as_ada, twice, number):
    rows = read(as_ada, "marks/").count("<tr")
    for name in ("below", "page"):
        assert read(as_ada, f"marks/?{name}={number}").count("<tr") == rows > 1


# The end


def test_closing_makes_a_version_that_leads_to_its_impact(as_ada, assessment):
    judge_everything(assessment)
    as_ada.post(JUDGING + "close/", {"version": "v1"})
    work()
    assert JudgmentSet.objects.get().state == "ready"
    assert 'href="/benchmarks/bread/judgments/v1/impact/"' in read(as_ada)


def test_closing_early_asks_once_more(as_ada, assessment):
    judge_everything(assessment)
    Mark.objects.last().document.__class__.objects.filter(mark=Mark.objects.last()).update(
        state="waiting", mark=None
    )
    Mark.objects.last().delete()
    assert "<b>1 document has no grade.</b>" in read(as_ada, "close/")
    assert as_ada.post(JUDGING + "close/", {"version": "v1"}).status_code == 422
    as_ada.post(JUDGING + "close/", {"version": "v1", "is_early": "on"})
    assert Assessment.objects.get().state == "closed"


def test_what_is_judged_so_far_is_tried_by_organisers(as_ada, assessment):
    judge_everything(assessment)
    as_ada.post(JUDGING + "try/")
    work()
    assert Assessment.objects.get().state == "open"
    assert "as judged so far" in read(as_ada)
    page = as_ada.get("/benchmarks/bread/judgments/v1/impact/").content.decode()
    assert "Ready for the board" in page and assessment.track.edition is None


def test_the_judgments_name_who_judged(as_ada, pool, ada, ben, dan):
    assessment = make_assessment(pool, ada, ben, dan, allows_participants=True)
    judge_everything(assessment)
    as_ada.post(JUDGING + "close/", {"version": "v1"})
    work()
    as_ada.post("/benchmarks/bread/judgments/v1/switch/")
    work()
    page = as_ada.get("/benchmarks/bread/judgments/").content.decode()
    assert "2 assessors on this site; 1 of them is in teams of this track" in page
    assert (
        "2 assessors on this site" in as_ada.get("/benchmarks/bread/pools/pool-1/").content.decode()
    )


# Settings, and what others see


def test_a_draft_is_discarded(as_ada, draft):
    as_ada.post(JUDGING + "settings/", {"act": "discard"})
    assert not Assessment.objects.exists()


def test_the_due_date_changes_and_the_overlap_stays_once_open(as_ada, assessment):
    sent = {**PLAN, "due_on": "2027-01-18", "overlap": "all", "overlap_size": 3}
    as_ada.post(JUDGING + "settings/", sent)
    stored = Assessment.objects.get()
    assert (str(stored.due_on), stored.overlap) == ("2027-01-18", "none")


@pytest.mark.parametrize("address", ["/benchmarks/bread/board/", "/benchmarks/bread/"])
def test_everyone_sees_the_share_only_where_organisers_show_it(as_cat, assessment, address):
    judge_everything(assessment)
    assert "Judging: " not in as_cat.get(address).content.decode()
    Assessment.objects.update(shows_progress=True)
    assert "Judging: 100 % of the pool" in as_cat.get(address).content.decode()


def test_the_organisers_desk_lists_what_judging_needs(as_ada, twice):
    page = as_ada.get("/benchmarks/bread/desk/").content.decode()
    assert "11 disagreements to settle" in page and "every document is judged" in page


# Designs by name

PLANNED = "/benchmarks/bread/pools/pool-1/judging/"


def test_each_design_has_its_price_beside_it(as_ada, pool):
    page = as_ada.get(PLANNED).text
    prices = [line for line in page.split('class="price-beside">')[1:]]
    assert ["22 grades" in prices[1], "22 grades" in prices[2], "33 grades" in prices[4]] == [1] * 3
    assert "11 grades" in prices[0]


@pytest.mark.parametrize(
    ("sent", "made"),
    [
        ({"design": "one"}, ("none", "first")),
        ({"design": "sample", "percent": 40}, ("sample", "first")),
        ({"design": "two", "percent": 40}, ("all", "single")),
        ({"design": "several", "opinions": 4}, ("all", "majority")),
        ({"design": "own", "overlap": "topics", "overlap_size": 2}, ("topics", "first")),
    ],
)
def test_a_design_sets_opinions_and_the_grade_that_counts(as_ada, pool, sent, made):
    assert as_ada.post(PLANNED, {**PLAN, **sent}).status_code == 302
    assessment = Assessment.objects.get()
    assert (assessment.overlap, assessment.rule) == made
    sizes = {"sample": 40, "two": 2, "several": 4, "own": 2}
    assert assessment.overlap_size == sizes.get(sent["design"], 1)


def test_a_number_of_opinions_that_cannot_be_is_said_beside_its_design(as_ada, pool):
    answer = as_ada.post(PLANNED, {**PLAN, "design": "several", "opinions": 12})
    assert answer.status_code == 422 and "less than or equal to 9" in answer.text
    assert not Assessment.objects.exists()
