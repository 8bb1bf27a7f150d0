"""Answers that marks alone score: no document is judged."""

from __future__ import annotations

import re
from html import unescape

import pytest

from leaderboard.actions import tracks, uploads
from leaderboard.actions.refusals import ActionError
from leaderboard.models import Collection, Run, Score, Track
from tests.archives.test_archives import command
from tests.builders import make_collection, make_run, make_track, signed_in, upload, work
from tests.scoring.test_answer_runs import ANSWERS
from tests.scoring.test_marks import make_layer, make_nuggets, values_of

LINK = re.compile(r'href="([^"#]+)')
BENEATH = ("/benchmarks/bread/", "/collections/bread/", "/runs/")
QRELS = "1 0 d1 1\n2 0 d5 1\n"


@pytest.fixture
def collection(ada) -> Collection:
    return make_collection(ada, qrels=None)


@pytest.fixture
def track(collection) -> Track:
    return make_track(collection, run_kind="answers")


@pytest.fixture
def run(track, ben) -> Run:
    return make_run(track, ben, ANSWERS)


@pytest.fixture
def marked(track, run) -> Track:
    make_nuggets(track)
    tracks.use_layer(track, track.benchmark.owner, make_layer(track))
    work()
    track.refresh_from_db()
    return track


def test_marks_of_nuggets_alone_make_a_board(marked):
    assert (marked.measures, marked.edition.state) == (["Nuggets"], "ready")
    assert values_of("Nuggets") == pytest.approx([0.5, 1, float("nan")], nan_ok=True)


def test_rankings_are_not_measured_where_no_document_is_judged(marked, ada):
    with pytest.raises(ActionError, match="AP needs judgments of documents"):
        tracks.change_track(marked, ada, {"measures": ["Nuggets", "AP"]})


def test_the_layers_of_two_tracks_need_one_such_version(marked, ada, ben):
    other = make_track(marked.collection, "toast", judgment_set=None, run_kind="answers")
    make_run(other, ben, ANSWERS)
    make_nuggets(other)
    tracks.use_layer(other, ada, make_layer(other))
    assert other.judgment_set == marked.judgment_set


def test_judgments_of_documents_can_come_later(marked, ada):
    judged = uploads.accept_judgments(
        marked.collection, upload("qrels.txt", QRELS), "v1", ada, asks_first=False
    )
    work()
    judged.refresh_from_db()
    tracks.change_track(marked, ada, {"judgment_set": judged, "measures": ["Nuggets", "AP"]})
    work()
    assert values_of("AP")[0] == 1


def test_new_judgments_are_not_joined_with_such_a_version(marked, ada):
    assert not marked.collection.judgment_sets.ready().exists()


def test_marks_are_not_tried_before_there_is_a_board(track, run):
    make_nuggets(track)
    with pytest.raises(ActionError, match="no board to compare"):
        tracks.try_layer(track, track.benchmark.owner, make_layer(track))


def test_what_a_layer_changes_leads_to_its_first_board(track, run, ada):
    make_nuggets(track)
    make_layer(track)
    as_ada = signed_in(ada)
    page = as_ada.get("/benchmarks/bread/marks/people/impact/").content.decode()
    assert "Make the board with people" in page and "/marks/people/use/" in page
    as_ada.post("/benchmarks/bread/marks/people/use/")
    work()
    assert "ben-rag" in as_ada.get("/benchmarks/bread/board/").content.decode()


def test_every_page_that_it_links_to_opens(marked, ada):
    client, waiting = signed_in(ada), ["/benchmarks/bread/board/"]
    seen: dict[str, int] = {}
    while waiting:
        address = waiting.pop()
        answer = client.get(address)
        seen[address] = answer.status_code
        if "html" in answer.get("Content-Type", ""):
            links = set(LINK.findall(unescape(answer.content.decode()))) - seen.keys()
            waiting += [each for each in links if each.startswith(BENEATH)]
    assert not [address for address, status in seen.items() if status >= 400]


def test_such_a_board_goes_through_an_archive(marked, ada, tmp_path):
    file = tmp_path / "bread.zip"
    command("export_benchmark", "bread", file)
    before = values_of("Nuggets")
    command("import_benchmark", file, "--track", "away", "--collection", "elsewhere")
    restored = Score.objects.get(score_set__edition=Track.objects.get(slug="away").edition)
    assert restored.values.tolist() == pytest.approx(before, nan_ok=True)
