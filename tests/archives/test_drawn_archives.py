"""Estimates from drawn pairs in an archive: the pool comes back before scores are computed."""

from __future__ import annotations

import pytest

from evaluation.answers import drawn_pairs
from leaderboard.actions import assessments, pools
from leaderboard.models import ScoreSet, Track
from tests.archives.test_archives import AWAY, command
from tests.assessments.marks import judge_everything
from tests.builders import make_assessment, make_run, make_track, make_user, work
from tests.scoring.test_answer_runs import answer
from tests.scoring.test_marks import use


@pytest.fixture
def track(collection, ada, dan, monkeypatch) -> Track:
    """Ten of twenty pairs are drawn, which are few for a run, and score five runs."""
    monkeypatch.setattr(drawn_pairs, "FEWEST_LABELS", 0)
    track = make_track(collection, run_kind="answers")
    for number in range(5):
        said = [(f"Fact {number} of {document}.", [document]) for document in ("d1", "d2")]
        text = answer("1", *said) + answer("2", *said)
        make_run(track, make_user(f"team{number}"), text.replace("ben-rag", f"run{number}"))
    runs = list(track.runs.all())
    pool = pools.create_pool(track, ada, runs, "citations", 1, drawn=10)
    work()
    pools.approve_pool(pool, ada)
    pool.refresh_from_db()
    assessment = make_assessment(pool, ada, dan)
    judge_everything(assessment, lambda document: 2 if document.docno.endswith("d1") else 0)
    assessments.close_assessment(assessment, ada, "drawn")
    work()
    use(track, ["CitationP"], support="drawn")
    return Track.objects.get(pk=track.pk)


def estimates_of(track: Track) -> dict[str, list[object]]:
    """Of the runs that chance left pairs of unmarked: that of the others needs no estimate."""
    rows = ScoreSet.objects.filter(edition=track.edition).values_list("run__tag", "bounds")
    return {tag: bounds["CitationP"] for tag, bounds in rows if bounds}


def test_estimates_come_out_of_an_archive_as_they_were(track, tmp_path):
    command("export_benchmark", "bread", tmp_path / "drawn.zip")
    command("import_benchmark", tmp_path / "drawn.zip", *AWAY)
    here = estimates_of(track)
    assert estimates_of(Track.objects.get(slug="away")) == here
    assert {len(found) for found in here.values()} == {4}
