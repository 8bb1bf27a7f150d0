"""One answer: its sentences, what they cite, and the cited passage of the collection."""

from __future__ import annotations

import re
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.test import Client

from leaderboard.actions.refusals import ActionError
from leaderboard.actions.tracks import make_baseline
from leaderboard.models import Run, Track
from tests.builders import make_run, make_track, upload, work
from tests.pages.reading import page_at, words
from tests.scoring.test_answer_runs import ANSWERS, answer

HOSTILE = "<script>alert(1)</script> **bold** ![x](https://example.org/x.png) \u202eright"


@pytest.fixture
def run(collection, ben) -> Run:
    return make_run(make_track(collection, run_kind="answers"), ben, ANSWERS)


def answer_at(client: Client, run: Run, **query: object) -> str:
    asked = "".join(f"&{name}={value}" for name, value in query.items())
    return page_at(client, f"/runs/{run.pk}/answer/?number=1{asked}")


def test_an_answer_has_its_sentences_and_numbers_what_they_cite(run, client):
    page = words(answer_at(client, run))
    assert "Wild yeast makes bread rise. 1 2 It takes a day. 3 1" in page
    assert "2 sentences, 4 citations 9 words" in page


def test_sources_have_their_grades(run, client):
    page = words(answer_at(client, run))
    assert "d1 Document 1 grade 2" in page and "d9 Document 9 unjudged" in page


def test_a_citation_opens_a_passage_of_the_collection(run, client):
    page = words(answer_at(client, run, sentence=2, docno="d2"))
    assert "Source 3 of sentence 2" in page and "Loaf 2 of twelve, baked slowly." in page


def test_a_passage_is_never_a_text_of_the_file(collection, ben, client):
    track = make_track(collection, run_kind="answers")
    said = ("Bread rises.", ["d1"])
    run = make_run(track, ben, answer("1", said, documents={"d1": {"text": "forged"}}))
    page = answer_at(client, run, sentence=1, docno="d1")
    assert "Loaf 1 of twelve" in page and "forged" not in page


@pytest.mark.parametrize("asked", [{"sentence": 1, "docno": "d4"}, {"sentence": "x"}, {}])
def test_nothing_is_opened_that_is_not_cited(run, client, asked):
    assert "Cited passage" not in answer_at(client, run, **asked)


def test_a_text_is_shown_as_text(collection, ben, client):
    track = make_track(collection, run_kind="answers")
    page = answer_at(client, make_run(track, ben, answer("1", (HOSTILE, ["d1"]))))
    assert "&lt;script&gt;alert(1)&lt;/script&gt; **bold** ![x]" in page
    assert "<script>alert" not in page and "<img" not in page


def test_a_topic_without_an_answer_says_so(run, client):
    assert "No answer" in page_at(client, f"/runs/{run.pk}/answer/?number=3")


def test_the_length_is_shown_beside_its_limit(collection, ben, client):
    track = make_track(collection, run_kind="answers", answer_limit=50)
    page = words(answer_at(client, make_run(track, ben, ANSWERS)))
    assert "9 of 50 words" in page


def test_a_ranking_leads_to_its_answer_and_back(run, client):
    assert f"/runs/{run.pk}/ranking/?number=1" in answer_at(client, run)
    assert f"/runs/{run.pk}/answer/?number=1" in page_at(
        client, f"/runs/{run.pk}/ranking/?number=1"
    )


def test_a_run_of_rankings_has_no_answer(track, ben, client):
    assert client.get(f"/runs/{make_run(track, ben).pk}/answer/?number=1").status_code == 404


@pytest.mark.parametrize("disclosure", ["blind", "leaderboard"])
def test_answers_of_others_appear_when_their_scores_by_topic_do(
    collection, ben, as_ben, as_cat, disclosure
):
    track = make_track(collection, run_kind="answers", disclosure=disclosure)
    address = f"/runs/{make_run(track, ben, ANSWERS).pk}/answer/?number=1"
    assert [each.get(address).status_code for each in (as_ben, as_cat)] == [200, 404]
    Track.objects.update(disclosure="open")
    assert as_cat.get(address).status_code == 200


def test_a_team_sees_no_grades_of_a_blind_track_in_its_answer(collection, ben, as_ben):
    track = make_track(collection, run_kind="answers", disclosure="blind")
    page = words(answer_at(as_ben, make_run(track, ben, ANSWERS)))
    assert "grades hidden" in page and "grade 2" not in page


def test_problems_name_topic_and_sentence(collection, ben, as_ben):
    track = make_track(collection, run_kind="answers")
    run = make_run(track, ben, answer("1", ("Bread rises.", ["d1", 7])))
    page = words(page_at(as_ben, f"/runs/{run.pk}/"))
    assert "topic 1, sentence 1: citation 7, but there are no references" in page


def test_the_form_of_a_track_says_its_kind_of_runs_and_does_not_change_it(run, as_ada):
    page = page_at(as_ada, "/benchmarks/bread/manage/section/runs/")
    chosen = '<option value="answers" selected>Generated answers with citations</option>'
    assert chosen in page and re.search(r'<select name="run_kind"[^>]* disabled', page)


def test_what_was_scored_is_downloaded_as_commands_read_it(run, as_ben, as_cat):
    address = f"/runs/{run.pk}/ranking.run"
    sent = as_ben.get(address)
    lines = sent.getvalue().decode().splitlines()
    assert lines[:2] == ["1 Q0 d1 1 3.0 ben-rag", "1 Q0 d9 2 2.0 ben-rag"]
    assert 'filename="ben-rag.run"' in sent["Content-Disposition"]
    assert as_cat.get(address).status_code == 404


def test_an_archive_of_a_file_for_each_topic_is_one_run(run, as_cat):
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for number, line in enumerate(ANSWERS.splitlines()):
            archive.writestr(f"{number}.json", line)
    form = {"file": upload("mine.zip", packed.getvalue()), "kind": "automatic"}
    as_cat.post("/benchmarks/bread/submit/", form)
    work()
    assert [(r.state, r.num_answered) for r in Run.objects.exclude(pk=run.pk)] == [("scored", 2)]


def test_the_printed_command_reads_the_ranking(run, client):
    page = words(page_at(client, f"/benchmarks/bread/computed/?run={run.pk}"))
    assert "score qrels.v1.txt ben-rag.run -m" in page and "--takes" not in page


def test_a_new_track_of_answers_begins_with_its_measures(collection, as_ada):
    page = page_at(as_ada, "/collections/bread/tracks/new/?preset=answers")
    assert "nDCG@10, Grade, Judged, P@5" in page
    assert '<option value="answers" selected>' in page
    assert '<option value="common" selected>' in page


def test_a_track_of_answers_asks_for_answers(collection, client):
    make_track(collection, run_kind="answers", answer_rules="rag26")
    page = words(page_at(client, "/benchmarks/bread/"))
    assert "Answer every topic in sentences that cite documents." in page
    assert "Up to 1,024 words per topic, as RAG 2025 and 2026" in page
    assert "Sample run" not in page and "sample run" not in page


def test_a_track_of_answers_prints_how_to_check_them(collection, as_ben):
    make_track(collection, run_kind="answers", answer_limit=300)
    page = words(page_at(as_ben, "/benchmarks/bread/submit/"))
    assert "answers check my.answers.jsonl.gz \\ --preset common \\ --topics topics.txt" in page
    assert "--limit 300" in page


def test_bm25_makes_no_run_of_answers(collection, ada):
    track = make_track(collection, run_kind="answers")
    with pytest.raises(ActionError, match="Upload a run"):
        make_baseline(track, ada)


@pytest.mark.parametrize("page", ["/runs/{run}/topics/", "/benchmarks/bread/topic/?number=1"])
def test_topics_of_a_run_of_answers_lead_to_its_answers(run, client, page):
    assert f"/runs/{run.pk}/answer/?number=1" in page_at(client, page.format(run=run.pk))


def test_a_topic_has_answers_side_by_side_own_runs_first(run, ada, as_ben):
    make_run(run.track, ada, ANSWERS.replace("ben-rag", "ada-rag").replace("day", "night"))
    page = words(page_at(as_ben, "/benchmarks/bread/topic/?number=1"))
    assert page.index("It takes a day.") < page.index("It takes a night.")


def test_a_reader_chooses_the_answers_to_read_side_by_side(run, ada, cat, as_ben):
    others = [
        make_run(run.track, user, ANSWERS.replace("ben-rag", name).replace("day", name))
        for user, name in ((ada, "week"), (cat, "year"))
    ]
    left, right = (other.pk for other in others)
    page = words(page_at(as_ben, f"/benchmarks/bread/topic/?number=1&left={left}&right={right}"))
    assert "It takes a week." in page and "It takes a year." in page
    assert "It takes a day." not in page


def test_a_topic_of_rankings_has_no_answers(track, ben, client):
    make_run(track, ben)
    assert "side by side" not in page_at(client, "/benchmarks/bread/topic/?number=1")


def test_references_that_nothing_cites_come_last(collection, ben, client):
    track = make_track(collection, run_kind="answers")
    said = answer("1", ("Bread rises.", ["d2"]), references=["d9", "d2"])
    page = words(answer_at(client, make_run(track, ben, said)))
    assert page.index("Document 2") < page.index("Document 9") < page.index("not cited")


def test_a_cited_document_that_the_collection_lacks_has_no_link(collection, ben, client):
    track = make_track(collection, run_kind="answers", unknown_documents="drop")
    run = make_run(track, ben, answer("1", ("Bread rises.", ["d99"])))
    page = answer_at(client, run, sentence=1, docno="d99")
    assert "The collection has no text of this document." in page
    assert "docno=d99&amp;run=" not in page
