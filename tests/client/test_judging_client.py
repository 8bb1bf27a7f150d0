"""`site.judging(track)`: pools and the judging of a track from a program."""

from __future__ import annotations

import pytest

from leaderboard.actions.assessments import add_assessor
from leaderboard.collections.nuggets import load_bank
from leaderboard.models import Assessment, NuggetVersion
from rankfield import RejectedError
from rankfield.judging import Judging
from tests.assessments.marks import judge_everything
from tests.builders import make_run, make_track, work
from tests.client.conftest import site_for
from tests.scoring.test_answer_runs import ANSWERS
from tests.scoring.test_marks import make_nuggets


@pytest.fixture
def judging(collection, ada, ben, network) -> Judging:
    track = make_track(collection, run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track)
    return site_for(ada, ["read", "organise"]).judging("bread")


def test_answers_are_pooled_planned_judged_and_closed(judging, dan):
    pool = judging.create_pool("answers")
    assert (pool.state, pool.about, pool.summary["documents"]) == ("proposed", "nuggets", 4)
    assert judging.approve_pool(pool).state == "kept"
    assert judging.prompts(pool).count(b"\n") == 2
    planned = judging.plan(pool, overlap="none")
    add_assessor(Assessment.objects.get(), dan)
    assert judging.open(planned).state == "open"
    judge_everything(Assessment.objects.get(), lambda document: 2)
    closed = judging.close(planned, "people-1")
    work()
    assert (closed.state, closed.layer, closed.counts["judged"]) == ("closed", "people-1", 4)
    assert judging.marks(planned).count(b"\n") == 4
    assert judging.layer("people-1").splitlines()[0] == b"ben-rag 1 1-1 support"


def test_a_pool_is_discarded(judging):
    judging.discard_pool(judging.create_pool("citations", 2))
    assert judging.pools() == []


def test_a_pool_that_waits_for_approval_is_not_judged(judging):
    with pytest.raises(RejectedError, match="Approve the pool first"):
        judging.plan(judging.create_pool("answers"))


def test_nuggets_are_written_and_frozen(judging, ada):
    draft = site_for(ada, ["read", "organise"]).nugget_draft("bread")
    draft.begin("v1")
    before = draft.nuggets("1")
    draft.propose("1", "an oven", importance="okay", documents=["d1"])
    draft.revise("1", before[0], "wild yeast")
    [oven] = [each for each in draft.nuggets("1") if each.text == "an oven"]
    draft.split("1", oven, ["a hot oven", "a baker"])
    draft.remove("1", draft.nuggets("1")[-1])
    assert draft.undo("1")[-1].text == "a baker"
    draft.merge("1", draft.nuggets("1")[-2:], "a baker with an oven")
    assert draft.count_nuggets()["1"] == len(before) + 1
    draft.freeze("v2")
    work()
    assert load_bank(NuggetVersion.objects.get(version="v2").pk).topics["1"][0].text == "wild yeast"


def test_a_nugget_that_changed_meanwhile_is_not_overwritten(judging, ada):
    draft = site_for(ada, ["read", "organise"]).nugget_draft("bread")
    draft.begin("v1")
    read = draft.nuggets("1")[0]
    draft.revise("1", read, "wild yeast")
    with pytest.raises(RejectedError, match="changed this nugget"):
        draft.revise("1", read, "tame yeast")
    draft.discard()
