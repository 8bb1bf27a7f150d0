"""Nuggets and marks of a track of answers: imported, and scored as measures of the track."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from typing import Any

import pytest

from evaluation.answers.assignment_files import read_assignments
from evaluation.answers.marks import bank_of_marks
from evaluation.answers.nugget_writing import NuggetWriter
from leaderboard.actions import uploads, versions
from leaderboard.actions.track_settings import check
from leaderboard.actions.tracks import change_track
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.models import (
    Collection,
    MarkLayer,
    NuggetVersion,
    Run,
    Score,
    ScoreSet,
    Track,
)
from tests.builders import make_run, make_track, upload, work
from tests.recording import recorded
from tests.scoring.test_answer_runs import ANSWERS, answer

VITAL, OKAY = {"importance": "vital"}, {"importance": "okay"}
NUGGETS = "".join(
    json.dumps({"qid": topic, "nuggets": nuggets}) + "\n"
    for topic, nuggets in {
        "1": [{"text": "yeast", **VITAL}, {"text": "a day", **VITAL}, {"text": "salt", **OKAY}],
        "2": [{"text": "rye", **OKAY}],
    }.items()
)
ASSIGNMENTS = """ben-rag 1 1 support
ben-rag 1 2 partial_support
ben-rag 1 3 not_support
ben-rag 2 1 support
"""
# The second answer has one sentence with two citations.
SUPPORT = """ben-rag 1 1 d1 FS
ben-rag 1 1 d9 NS
ben-rag 1 2 d2 PS
ben-rag 1 2 d1 NS
ben-rag 2 1 d5 FS
"""


@recorded
def make_nuggets(track: Track, text: str = NUGGETS, **fields: Any) -> NuggetVersion:
    fields = {"version": "v1", "asks_first": False} | fields
    version = NuggetVersion(track=track, created_by=track.benchmark.owner, **fields)
    versions.accept_version(version, upload("nuggets.jsonl", text))
    work()
    version.refresh_from_db()
    return version


@recorded
def make_layer(track: Track, text: str = ASSIGNMENTS, **fields: Any) -> MarkLayer:
    fields = {"version": "people", "made_by": "people", "asks_first": False} | fields
    nuggets = track.nugget_versions.first()
    about = {"about": "nuggets", "nuggets": nuggets} if "about" not in fields else {}
    layer = MarkLayer(track=track, created_by=track.benchmark.owner, **fields, **about)
    versions.accept_version(layer, upload("marks.txt", text))
    work()
    layer.refresh_from_db()
    return layer


@recorded
def use(track: Track, measures: list[str], **layers: str) -> None:
    """Score a track by these measures and layers."""
    change_track(track, track.benchmark.owner, {"measures": ["AP", *measures], **layers})
    work()
    track.refresh_from_db()


def values_of(measure: str) -> list[float]:
    values: list[float] = Score.objects.get(measure=measure).values.tolist()
    return values


@pytest.fixture
def track(collection) -> Track:
    return make_track(collection, run_kind="answers")


@pytest.fixture
def run(track, ben) -> Run:
    return make_run(track, ben, ANSWERS)


def test_nuggets_become_a_version_of_the_track(track):
    version = make_nuggets(track)
    assert (version.state, version.format) == ("ready", "nuggetizer")
    assert (version.num_nuggets, version.num_vital, version.num_topics) == (4, 2, 2)


def test_nuggets_are_previewed_before_they_are_imported(track):
    version = make_nuggets(track, asks_first=True)
    assert version.state == "preview" and not version.topics.exists()
    assert version.preview["vital"] == 2 and version.preview["without"] == ["3"]
    versions.confirm_version(version, track.benchmark.owner)
    work()
    version.refresh_from_db()
    assert version.state == "ready" and version.topics.count() == 2


def test_nuggets_of_no_known_format_are_rejected_with_the_reason(track):
    version = make_nuggets(track, '{"a": 1}\n')
    assert version.state == "refused" and version.problem_totals == {"E_FORMAT": 1}


def test_a_measure_of_nuggets_is_a_measure_of_the_track(track, run):
    make_nuggets(track)
    make_layer(track)
    use(track, ["strict_vital", "all"], assignments="people")
    assert values_of("strict_vital") == pytest.approx([0.5, 0, float("nan")], nan_ok=True)
    assert values_of("all") == pytest.approx([0.5, 1, float("nan")], nan_ok=True)
    assert Score.objects.get(measure="all").mean == 0.75


def test_support_is_scored_with_bounds_where_pairs_are_unjudged(track, run):
    make_layer(track, SUPPORT, version="support", about="support")
    use(track, ["SupportP", "CitationP"], support="support")
    assert values_of("SupportP") == pytest.approx([0.75, 1, 0])
    assert ScoreSet.objects.latest("pk").bounds["CitationP"][0] == pytest.approx(5 / 6)


def test_layers_make_boards_of_their_own(track, run):
    make_nuggets(track)
    make_layer(track)
    machine = ASSIGNMENTS.replace("not_support", "support")
    make_layer(track, machine, version="gpt", made_by="machine", machine="gpt-x/p3")
    use(track, ["all"], assignments="people")
    first = track.edition
    use(track, ["all"], assignments="gpt")
    assert track.edition != first and track.edition.settings["assignments"] == "gpt"


def test_a_machine_is_no_layer_of_people(track, run):
    make_nuggets(track)
    mark = {"topic": "1", "run": "ben-rag", "nugget": "1-1", "assessor": "gpt-x/p3"}
    layer = make_layer(track, json.dumps({**mark, "label": "support"}) + "\n")
    assert layer.state == "refused" and layer.problem_totals == {"E_LAYER": 1}


def test_marks_of_unknown_runs_and_nuggets_are_counted(track, run):
    make_nuggets(track)
    layer = make_layer(track, ASSIGNMENTS + "oak 1 1 support\nben-rag 1 x support\n")
    assert layer.state == "ready" and layer.num_marks == 4
    assert layer.problem_totals == {"W_RUN": 1, "W_NUGGET": 1}


@pytest.mark.data
def test_the_preview_counts_the_labels_of_published_marks(ada, data):
    file = gzip.decompress(
        (data / "data/answers/dragun/auto_report_assessments.csv.gz").read_bytes()
    )
    rows = list(csv.DictReader(io.StringIO(file.decode())))
    topics = dict.fromkeys(row["topic_id"] for row in rows)
    collection = Collection(
        slug="dragun", name="DRAGUN", owner=ada, asks_first=False, grouping="none"
    )
    listed = "".join(f"<top>\n<num> {t}\n<title> news {t}\n</top>\n" for t in topics)
    uploads.accept_collection(collection, CollectionFiles(upload("topics.trec", listed)))
    work()
    collection.refresh_from_db()
    assert collection.state == "ready"
    track = make_track(collection, "dragun", judgment_set=None, run_kind="answers")
    said = answer(rows[0]["topic_id"], ("News.", [])).replace("ben-rag", "03_01_Baseline")
    run = make_run(track, ada, said)
    assert (run.state, run.tag) == ("valid", "03_01_Baseline"), run.problems
    marks = read_assignments(io.BytesIO(file))
    make_nuggets(track, b"".join(NuggetWriter(bank_of_marks(marks), "nuggetizer").lines()))
    layer = make_layer(track, file, made_by="machine", machine="published/1", asks_first=True)
    assert (layer.state, layer.preview["topics"]) == ("preview", 30), layer.problems
    of_run = Counter(row["auto_assessment"] for row in rows if row["run_tag"] == "03_01_Baseline")
    of_run["support"] = of_run.pop("supports")
    assert layer.preview["labels"] == of_run


def test_a_measure_needs_its_layer(track):
    (problem,) = check(track, {"measures": ["AP", "strict_vital"]})
    assert problem.message.startswith("Nuggets needs marks of nuggets")


@pytest.mark.parametrize("measure", ["Words", "Nuggets(over=pairs)", "ArgueP", "CalibrationError"])
def test_what_compares_no_runs_is_no_measure_of_a_track(track, measure):
    assert check(track, {"measures": ["AP", measure]})


def test_runs_of_rankings_have_no_measure_of_answers(collection):
    (problem,) = check(make_track(collection, "lists"), {"measures": ["AP", "all"]})
    assert "runs of this track are rankings" in problem.message
