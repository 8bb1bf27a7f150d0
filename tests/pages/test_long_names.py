"""Topic numbers in any script and docnos as long as web addresses, from upload to page."""

import pytest
from django.test import Client

from evaluation.reading import columns
from leaderboard.actions import uploads
from leaderboard.models import Collection, Run, User
from leaderboard.models.collections import LONGEST_IDENTIFIER
from tests.builders import make_run, make_track, signed_in, upload, work

ADDRESS = "https://canal.example/" + "lock-and-weir/" * 20 + "é.html"
QRELS = f"água-1 0 {ADDRESS} 1\nágua-2 0 d2 1\n"
RUN = f"água-1 Q0 d2 1 3 barge\nágua-1 Q0 {ADDRESS} 2 2 barge\nágua-2 Q0 d2 1 1 barge\n"


@pytest.fixture
def run(ada: User, ben: User) -> Run:
    files = uploads.CollectionFiles(
        upload("topics.tsv", "água-1\tlocks\nágua-2\tferries\n"),
        upload("documents.txt", f"{ADDRESS}\nd2\n"),
        upload("judgments.txt", QRELS),
        None,
    )
    collection = Collection(slug="canal", name="Canal", owner=ada, asks_first=False)
    uploads.accept_collection(collection, files)
    work()
    collection.refresh_from_db()
    return make_run(make_track(collection, "canal"), ben, RUN)


def test_tables_keep_what_the_readers_accept():
    assert LONGEST_IDENTIFIER == columns.LONGEST_IDENTIFIER


def test_a_run_with_long_names_is_scored(run):
    assert run.score_sets.get().scores.get(measure="AP").mean == 0.75


@pytest.mark.parametrize(
    "page",
    [
        "/benchmarks/canal/topic/?number=água-1",
        "/runs/{run}/ranking/?number=água-1",
        "/benchmarks/canal/document/?docno={docno}",
    ],
)
def test_pages_show_long_names(run, page, ada):
    shown: Client = signed_in(ada)
    answer = shown.get(page.format(run=run.pk, docno=ADDRESS))
    assert answer.status_code == 200
    assert "água-1" in answer.content.decode()
