"""One run on one topic: documents with their grades."""

from __future__ import annotations

from tests.builders import make_run


def test_documents_stand_in_scoring_order_with_their_grades(track, ben, client):
    run = make_run(track, ben)
    page = client.get(f"/runs/{run.pk}/ranking/?number=1").content.decode()
    assert page.index("Document 1<") < page.index("Document 2<") < page.index("Document 9<")
    assert "Loaf 9 of twelve" in page
    assert "unjudged" in page


def test_a_blind_track_shows_ones_documents_without_grades(blind_track, ben, as_ben):
    run = make_run(blind_track, ben)
    page = as_ben.get(f"/runs/{run.pk}/ranking/?number=1").content.decode()
    assert "Document 1<" in page and "grades are not shown" in page
    assert "unjudged" not in page and 'class="grade' not in page


def test_a_topic_that_the_run_leaves_out_is_said_to_be_empty(track, ben, client):
    run = make_run(track, ben, "1 Q0 d1 1 9.0 t\n")
    page = client.get(f"/runs/{run.pk}/ranking/?number=2").content.decode()
    assert "Nothing retrieved" in page


def test_unknown_topics_are_not_found(track, ben, client):
    run = make_run(track, ben)
    for number in ("99", "", "%00", "1' or 1=1"):
        assert client.get(f"/runs/{run.pk}/ranking/?number={number}").status_code == 404


def test_long_rankings_have_pages(track, ben, client):
    lines = "".join(f"1 Q0 d{n} {n} {100 - n} t\n" for n in range(1, 13))
    run = make_run(track, ben, lines)
    page = client.get(f"/runs/{run.pk}/ranking/?number=1&page=999").content.decode()
    assert "Document 12<" in page
