"""Runs in the formats that a track takes, and in those that it does not."""

from __future__ import annotations

import json

import pytest

from tests.builders import RUN, make_run, make_track

ROWS = [line.split() for line in RUN.splitlines()]
IN_FORMAT = {
    "trec5": "".join(" ".join(row[:5]) + "\n" for row in ROWS),
    "msmarco": "".join(f"{row[0]}\t{row[2]}\t{row[3]}\n" for row in ROWS),
    "scores": "".join(f"{row[0]}\t{row[2]}\t{float(row[4]) / 7}\n" for row in ROWS),
    "json": json.dumps(
        {number: {row[2]: float(row[4]) for row in ROWS if row[0] == number} for number in "123"}
    ),
    "jsonl": "".join(
        json.dumps({"qid": row[0], "docid": row[2], "score": float(row[4])}) + "\n" for row in ROWS
    ),
    "ntcir": f"<SYSDESC>Bread, slowly</SYSDESC>\n{RUN}",
}
METADATA = """# ir_metadata.start
# tag: ben-bm25
# platform:
#   software:
#     libraries:
#       - pyserini
# ir_metadata.end
"""


@pytest.mark.parametrize("format", IN_FORMAT)
def test_a_run_in_a_format_that_the_track_takes_scores_the_same(collection, ben, format):
    track = make_track(collection, run_formats=["trec", format])
    run = make_run(track, ben, IN_FORMAT[format], tag="ben-bm25")
    assert (run.state, run.format, run.tag) == ("scored", format, "ben-bm25")
    assert run.score_sets.get().scores.get(measure="AP").mean == pytest.approx(25 / 36)


@pytest.mark.parametrize("format", ["json", "jsonl", "ntcir"])
def test_a_run_in_another_format_is_refused_by_its_name(track, ben, format):
    run = make_run(track, ben, IN_FORMAT[format], tag="ben-bm25")
    problem = run.problems[0]
    assert (run.state, problem["code"]) == ("refused", "E_FORMAT")
    assert "this track does not accept this format" in problem["message"]
    assert "topic Q0 docno rank score tag" in problem["hint"]


def test_columns_that_may_be_ranks_or_scores_are_asked_for(collection, ben):
    track = make_track(collection, run_formats=["msmarco", "scores"])
    text = "1\td1\t9\n1\td2\t7\n1\td3\t3\n"
    assert "matches two formats" in make_run(track, ben, text, tag="t").problems[0]["message"]
    assert make_run(track, ben, text, tag="t", format="scores").state == "scored"


def test_a_format_without_tag_asks_for_one(collection, ben):
    run = make_run(make_track(collection, run_formats=["json"]), ben, IN_FORMAT["json"])
    assert [problem["code"] for problem in run.problems] == ["E_TAG"]


def test_what_a_system_says_of_itself_becomes_its_description(collection, ben):
    track = make_track(collection, run_formats=["ntcir"])
    assert make_run(track, ben, IN_FORMAT["ntcir"]).description == "Bread, slowly"


def test_the_metadata_of_a_run_are_kept_and_shown(track, ben, as_ben):
    run = make_run(track, ben, METADATA + RUN)
    assert run.metadata == {"tag": "ben-bm25", "platform.software.libraries.1": "pyserini"}
    assert "pyserini" in as_ben.get(f"/runs/{run.pk}/file-and-facts/").content.decode()
