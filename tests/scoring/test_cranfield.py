"""The Cranfield collection as people find it, from the web form to the board."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import BoardChoice, find_board
from leaderboard.models import Collection, Score, Track
from tests.builders import make_run, make_track, work

pytestmark = pytest.mark.data

RUNS = [
    "bm25-porter",
    "coord",
    "lm-dirichlet",
    "minilm",
    "random",
    "rrf",
    "tfidf-cos",
    "title-bm25",
]
MEASURES = {
    "AP": "map",
    "nDCG@10": "ndcg_cut_10",
    "P@10": "P_10",
    "R@1000": "recall_1000",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "RR": "recip_rank",
}


@pytest.fixture
def cranfield(data: Path) -> Path:
    return data / "data" / "cranfield"


def send_form(client, cranfield: Path, **files: str):
    parts = {
        name: SimpleUploadedFile(Path(path).name, (cranfield / path).read_bytes())
        for name, path in files.items()
    }
    answer = client.post("/collections/new/", {"name": "Cranfield", "slug": "cranfield", **parts})
    assert answer.status_code == 302, answer.content
    work()
    return Collection.objects.get(slug="cranfield")


@pytest.fixture
def imported(as_ada, cranfield: Path) -> Collection:
    collection = send_form(
        as_ada,
        cranfield,
        documents="cran.all.1400.xml",
        topics="clean/topics.trec",
        judgments="clean/qrels.binary.txt",
    )
    assert collection.state == "preview"
    as_ada.post("/collections/cranfield/confirm/")
    work()
    collection.refresh_from_db()
    return collection


def test_the_collection_is_imported_through_the_form(imported):
    assert imported.state == "ready"
    assert (imported.num_documents, imported.num_topics) == (1400, 225)
    judgments = imported.judgment_sets.get()
    assert judgments.num_judgments == 1837
    assert imported.preview["documents"]["empty"] == ["471", "995"]


def test_every_score_is_trec_evals_to_the_last_shown_digit(imported, ben, cranfield):
    track = make_track(imported, slug="cranfield", measures=list(MEASURES))
    for name in RUNS:
        run = make_run(track, ben, (cranfield / "runs" / f"{name}.run.gz").read_bytes())
        assert run.state == "scored", run.problems
        expected = recorded(cranfield, name)
        for measure, theirs in MEASURES.items():
            score = Score.objects.get(score_set__run=run, measure=measure)
            assert f"{score.mean:.4f}" == expected[theirs, "all"], (name, measure)
            numbers = [str(n) for n in range(1, 226)]
            ours = [f"{value:.4f}" for value in score.values]
            assert ours == [expected[theirs, number] for number in numbers], (name, measure)


def recorded(cranfield: Path, run: str) -> dict[tuple[str, str], str]:
    path = cranfield / "expected" / "binary" / "v10.0-c" / f"{run}.run.txt.gz"
    rows = [line.split() for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    return {(measure, topic): value for measure, topic, value in rows}


def test_the_board_says_which_differences_are_real(imported, ada, ben, cranfield):
    track = make_track(imported, slug="cranfield", measures=["AP"])
    runs = {
        name: make_run(track, ben, (cranfield / "runs" / f"{name}.run.gz").read_bytes())
        for name in RUNS
    }
    Track.objects.filter(pk=track.pk).update(baseline=runs["bm25-porter"])
    track.refresh_from_db()
    board = find_board(sight_of(track, ben))
    together = find_board(sight_of(track, ben), BoardChoice(family="all"))
    assert [each.run.tag for each in board.standings][:3] == ["rrf", "minilm", "bm25-porter"]
    assert together.standings[0].interval == (1, 1)
    assert all(
        low <= each.rank <= high for each in together.standings for low, high in [each.interval]
    )
    same = [each.run.tag for each in board.standings if each.verdict == "not significant"]
    assert same == ["minilm", "tfidf-cos"]
    assert np.isclose(board.detectable.effect, 0.2335, atol=5e-5)


def test_topics_numbered_with_gaps_stop_the_import_with_an_offer(as_ada, cranfield):
    collection = send_form(as_ada, cranfield, topics="cran.qry.xml", judgments="cranqrel.trec.txt")
    assert collection.state == "preview"
    page = as_ada.get("/collections/cranfield/").content.decode()
    assert "73 of 225 judged topics" in page
    as_ada.post("/collections/cranfield/confirm/", {"renumber_topics": "yes"})
    work()
    collection.refresh_from_db()
    assert collection.state == "ready", collection.problems
    assert collection.topics.get(number="225").title.startswith("what design factors")
