"""What a machine said is kept beside its grades, and shown as far as these are."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from leaderboard.models import MachineReplies, Track
from tests.builders import make_track
from tests.machines.answers import import_answers
from tests.pages.reading import page_at, rows, words

PAGE = "/collections/bread/judgments/machine/machine/replies/"
FILE = "/api/v1/collections/bread/judgments/machine/replies"
ASKED = {"model": "gpt-x", "version": "2026-11", "temperature": 0.7, "cost": "0.002"}
SAID = [
    {"id": "1 d1", "grade": 2, "prediction": "<b>Quite</b> so: 2", "prompt": "Is it?", **ASKED},
    {"id": "1 d2", "grade": None, "prediction": "Sorry."},
    {"id": "2 d4", "grade": 1, "prediction": "One."},
    {"id": "2 d5", "grade": 0},
]
LINES = "".join(json.dumps(line) + "\n" for line in SAID)


@pytest.fixture
def judged(collection):
    return import_answers(collection, text=LINES)


@pytest.fixture
def board(judged, collection) -> Track:
    """An open board by the machine, without the check by people that opening it asks for."""
    track = make_track(
        collection, slug="oat", judgment_set=judged, is_draft=True, shares_judgments=True
    )
    Track.objects.filter(pk=track.pk).update(is_draft=False)
    return track


def text_at(client: Client, address: str) -> str:
    return b"".join(client.get(address).streaming_content).decode()


def test_replies_are_kept_by_topic(judged):
    assert [row.num_replies for row in MachineReplies.objects.order_by("topic__position")] == [2, 1]


def test_the_page_shows_a_reply_with_how_it_was_asked(judged, as_ada):
    page = page_at(as_ada, PAGE)
    assert "&lt;b&gt;Quite&lt;/b&gt; so: 2" in page and "<b>Quite" not in page
    first, second = rows(page)
    assert "Is it?" in first and all(each in first for each in ("gpt-x", "2026-11", "0.7", "0.002"))
    assert second.startswith("d2 – Sorry.")
    assert rows(page_at(as_ada, f"{PAGE}?number=2&item=d4")) == ["d4 1 One. – – –"]


def test_the_card_leads_to_what_the_machine_said(judged, as_ada):
    assert PAGE in page_at(as_ada, "/collections/bread/judgments/machine/machine/")


def test_replies_come_back_as_json_lines(judged, as_ada):
    lines = [json.loads(line) for line in text_at(as_ada, FILE).splitlines()]
    assert [line["item"] for line in lines] == ["d1", "d2", "d4"]
    assert (lines[0]["prompt"], lines[0]["temperature"], lines[0]["cost"]) == ("Is it?", 0.7, 0.002)
    assert text_at(as_ada, f"{PAGE}?format=jsonl") == text_at(as_ada, FILE)


def test_readers_of_the_board_read_replies_and_no_prompts(board, as_ben):
    page = words(page_at(as_ben, PAGE))
    assert "Quite" in page and "Is it?" not in page
    assert "Is it?" not in text_at(as_ben, FILE)


def test_prompts_are_for_readers_of_the_documents(board, collection, as_ben):
    type(collection).objects.update(shares_documents=True)
    assert "Is it?" in page_at(as_ben, PAGE) and "Is it?" in text_at(as_ben, FILE)


@pytest.mark.parametrize("hidden", [{"disclosure": "blind"}, {"disclosure": "leaderboard"}])
def test_replies_are_hidden_with_the_scores(board, as_ben, hidden):
    Track.objects.filter(pk=board.pk).update(**hidden)
    assert (as_ben.get(PAGE).status_code, as_ben.get(FILE).status_code) == (404, 404)


def test_the_file_needs_judgments_that_are_shared(board, as_ben):
    Track.objects.filter(pk=board.pk).update(shares_judgments=False)
    assert as_ben.get(PAGE).status_code == 200
    assert as_ben.get(FILE).status_code == as_ben.get(f"{PAGE}?format=jsonl").status_code == 404


def test_a_machine_that_said_nothing_has_no_page(collection, as_ada):
    import_answers(collection)
    MachineReplies.objects.all().delete()
    assert as_ada.get(PAGE).status_code == 404
    assert "Its replies" not in page_at(as_ada, "/collections/bread/judgments/machine/machine/")
