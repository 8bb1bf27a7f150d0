"""An order that judges first what could still change a verdict against the baseline."""

from __future__ import annotations

import pytest

from leaderboard.actions.assessments import close_assessment
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.tracks import change_track
from leaderboard.analysis.decisive import find_swings
from leaderboard.assessments.drawing import draw_documents
from leaderboard.models import Assignment
from tests.assessments.marks import judge_everything
from tests.builders import OTHER_RUN, make_assessment, make_pool, make_run, work


@pytest.fixture
def compared(track, ada, ben, cat):
    """A pool of a track whose board compares Cat's run with Ben's, the baseline."""
    runs = [make_run(track, ben), make_run(track, cat, OTHER_RUN)]
    change_track(track, ada, {"baseline": runs[0]})
    work()
    track.refresh_from_db()
    return make_pool(track, ada, runs, size=4)


def test_what_changes_most_is_judged_first(compared, ada, dan):
    make_assessment(compared, ada, dan, order="decides", seed=3)
    swings = find_swings(compared.track)
    assert swings
    for assignment in Assignment.objects.select_related("topic"):
        draw_documents(assignment)
        docnos = assignment.documents.values_list("docno", flat=True)
        sizes = [swings.get((assignment.topic.number, docno), 0) for docno in docnos]
        assert sizes == sorted(sizes, reverse=True)


def test_the_budget_keeps_what_decides(compared, ada, dan):
    assessment = make_assessment(compared, ada, dan, order="decides", budget=1)
    assert {each.num_documents for each in Assignment.objects.all()} == {1}
    judge_everything(assessment)
    made = close_assessment(assessment, ada, "v9", is_early=True)
    assert "Drawn by what could still change a verdict, 1 document per topic" in made.note


def test_without_a_board_nothing_decides(pool, ada, dan):
    with pytest.raises(ActionError, match="needs a board with a baseline"):
        make_assessment(pool, ada, dan, order="decides")
