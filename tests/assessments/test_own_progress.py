"""An assessor takes along what was judged, and nothing of others."""

from __future__ import annotations

from datetime import UTC, datetime

from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.assessments.own_progress import own_progress
from leaderboard.display.csv_tables import render_table
from leaderboard.models import Assessment, Mark
from tests.builders import make_assessment

HEAD = "track,assessment,topic,documents,judged,cannot_judge,seconds,hours,first_mark,last_mark"


def test_each_topic_is_a_line_with_its_documents_and_time(assignment, dan):
    draw_documents(assignment)
    first, second, *_ = assignment.documents.all()
    slip = record_mark(assignment, SentMark(first.pk, grade=1, seconds=1800))
    record_mark(assignment, SentMark(first.pk, grade=2, seconds=600, replaces=slip.key))
    record_mark(assignment, SentMark(second.pk, kind="cannot", reason="topic", seconds=1200.5))
    Mark.objects.update(at=datetime(2026, 11, 30, 12, tzinfo=UTC))
    lines = render_table(own_progress(dan)).splitlines()
    when = "2026-11-30T12:00:00+00:00"
    assert lines[:2] == [HEAD, f"bread,judging-1,1,4,1,1,3600.5,1.0,{when},{when}"]


def test_a_topic_that_waits_has_no_times(assessment, dan):
    assert render_table(own_progress(dan)).splitlines()[1] == "bread,judging-1,1,4,0,0,0.0,0.0,,"


def test_nobody_reads_the_progress_of_others(assessment, eve):
    assert render_table(own_progress(eve)).splitlines() == [HEAD]


def test_a_plan_has_no_lines_yet(pool, ada, dan):
    make_assessment(pool, ada, dan)
    Assessment.objects.update(state="draft")
    assert own_progress(dan).rows == []
