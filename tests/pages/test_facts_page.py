"""The facts of a run, asked on the submit form, stated on a page of their own, shown to others."""

from __future__ import annotations

import pytest
from django.utils import timezone

from leaderboard.models import AuditEvent, Run, Track
from tests.builders import OTHER_RUN, RUN, make_run, make_track, upload, work
from tests.pages.reading import page_at, rows, words
from tests.pages.test_other_saves import OpenForm


def send(client, **fields: object):
    return client.post(
        "/benchmarks/bread/submit/", {"file": upload("a.run", RUN), "kind": "automatic", **fields}
    )


def change(client, run: Run, **fields: object):
    return client.post(f"/runs/{run.pk}/facts/", {"kind": "automatic", **fields})


def test_facts_are_stated_with_the_upload(track, as_ben):
    send(as_ben, topic_fields=["title"], llm="no", code="https://example.org/code")
    facts = {"topic_fields": ["title"], "llm": False, "code": "https://example.org/code"}
    assert Run.objects.get().facts == facts


def test_a_figure_is_stated_with_its_unit_and_origin(track, as_ben):
    figure = {"seconds_per_topic-value": "250", "seconds_per_topic-unit": "ms"}
    send(as_ben, **figure, **{"seconds_per_topic-origin": "tool"})
    kept = {"what": "seconds_per_topic", "value": 0.25, "unit": "s", "origin": "tool"}
    assert Run.objects.get().facts == {"efficiency": [kept]}


def test_what_a_track_asks_for_is_asked_before_all_else(collection, as_ben):
    make_track(collection, required_facts=["hardware"])
    before, _, further = page_at(as_ben, "/benchmarks/bread/submit/").partition("More facts")
    assert 'name="hardware"' in before and 'name="models"' in further


def test_without_what_a_track_asks_for_nothing_is_taken(collection, as_ben):
    make_track(collection, required_facts=["hardware"])
    assert send(as_ben).status_code == 422
    assert not Run.objects.exists()


def test_a_figure_that_is_asked_for_may_be_any(collection, as_ben):
    make_track(collection, required_facts=["efficiency"])
    refused = send(as_ben)
    assert refused.status_code == 422 and b"Enter at least one figure." in refused.content
    assert send(as_ben, **{"memory-value": "2", "memory-unit": "GB"}).status_code == 302


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"code": "http://example.org"}, "must be a URL starting with https://"),
        ({"kind": "magic"}, "Select a valid choice."),
        ({"priority": "0"}, "greater than or equal to 1"),
        ({"memory-value": "-1"}, "memory: the value must be above 0"),
        ({"memory-value": "nan"}, "Enter a number."),
    ],
)
def test_a_wrong_fact_is_said_on_the_form(track, as_ben, fields, said):
    answer = send(as_ben, **fields)
    assert answer.status_code == 422
    assert said in words(answer.content.decode())


def test_its_team_changes_a_fact_and_sees_what_was_before(track, ben, as_ben):
    run = make_run(track, ben)
    assert change(as_ben, run, stage="rerank").url == f"/runs/{run.pk}/"
    page = words(page_at(as_ben, f"/runs/{run.pk}/file-and-facts/"))
    assert "1 change to description and facts" in page and "Stage: not stated → rerank" in page


def test_its_team_corrects_a_description_and_sees_what_was_before(track, ben, as_ben):
    run = make_run(track, ben)
    change(as_ben, run, description="BM25, k1 = 1.2")
    change(as_ben, run, description="BM25, k1 = 0.9")
    page = words(page_at(as_ben, f"/runs/{run.pk}/file-and-facts/"))
    assert "Description: BM25, k1 = 1.2 → BM25, k1 = 0.9" in page
    assert "BM25, k1 = 0.9</textarea>" in page_at(as_ben, f"/runs/{run.pk}/facts/")


def test_strangers_see_the_facts_and_not_their_history(track, ben, as_ben, as_cat):
    run = make_run(track, ben)
    change(as_ben, run, stage="rerank")
    page = words(page_at(as_cat, f"/runs/{run.pk}/file-and-facts/"))
    assert "Stagererank" in page
    assert "change to description" not in page and "Edit description" not in page


def test_the_form_holds_what_is_stated(track, ben, as_ben):
    run = make_run(track, ben)
    change(as_ben, run, llm="yes", **{"memory-value": "2", "memory-unit": "GB"})
    change(as_ben, run, stage="fusion", llm="yes")
    run.refresh_from_db()
    assert run.facts == {"stage": "fusion", "llm": True}


def test_after_the_release_only_organisers_correct_facts(blind_track, ben, as_ben, as_ada):
    run = make_run(blind_track, ben)
    Track.objects.update(released_at=timezone.now())
    assert change(as_ben, run, stage="rerank").status_code == 403
    assert change(as_ada, run, stage="rerank").status_code == 302
    assert AuditEvent.objects.get(act="state facts").actor.username == "ada"


def test_links_of_strangers_earn_nothing(track, as_ben, client):
    send(as_ben, paper="https://example.org/p?a=1&b=2")
    work()
    page = page_at(client, f"/runs/{Run.objects.get().pk}/")
    assert '<a href="https://example.org/p?a=1&amp;b=2" rel="nofollow noopener">' in page


def test_facts_are_taken_home_as_ir_metadata(track, as_ben, client):
    send(as_ben, code="https://example.org/code", topic_fields=["title"])
    work()
    text = client.get(f"/runs/{Run.objects.get().pk}/metadata.yml").content.decode()
    assert text.startswith('tag: "ben-bm25"\nactor:\n  team: "ben"\nmethod:\n  automatic: true\n')
    assert '    repository: "https://example.org/code"\n' in text
    assert '  topic_fields:\n    - "title"\n' in text


def test_a_board_is_filtered_by_a_fact_and_ranks_stay(track, ben, cat, as_ben, client):
    change(as_ben, make_run(track, ben), stage="rerank", topic_fields=["title", "narrative"])
    make_run(track, cat, OTHER_RUN)
    for query in ("?stage=rerank", "?topic_fields=narrative"):
        assert len(rows(page_at(client, f"/benchmarks/bread/board/{query}"))) == 1
    assert "Ranks and tests cover the whole board." in page_at(
        client, "/benchmarks/bread/board/?stage=rerank"
    )


def test_a_filter_that_no_fact_knows_filters_nothing(track, ben, cat, client):
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    assert len(rows(page_at(client, "/benchmarks/bread/board/?stage=x&llm=%00"))) == 2


def test_facts_in_which_no_runs_differ_are_no_filters(track, ben, cat, client):
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    assert 'name="stage"' not in page_at(client, "/benchmarks/bread/board/")


def test_a_track_says_which_runs_and_facts_it_wants(collection, client):
    make_track(collection, selection="primary", required_facts=["topic_fields", "hardware"])
    said = words(page_at(client, "/benchmarks/bread/"))
    assert "the primary run of each team, or its first run if none is named" in said
    assert "Required factstopic fields, hardware" in said


def test_the_board_says_that_it_holds_primary_runs(collection, ben, client):
    make_run(make_track(collection, selection="primary"), ben)
    assert "the primary run of each team" in words(page_at(client, "/benchmarks/bread/board/"))


def test_an_organiser_chooses_the_facts_to_ask_for(track, as_ada):
    page = page_at(as_ada, "/benchmarks/bread/manage/section/runs/")
    assert 'name="required_facts" value="hardware"' in page


def test_code_and_paper_stand_beside_a_run_on_the_board(track, as_ben, client):
    send(as_ben, code="https://example.org/code?a=1&b=2")
    work()
    board = page_at(client, "/benchmarks/bread/board/")
    link = '<a href="https://example.org/code?a=1&amp;b=2" rel="nofollow noopener">code</a>'
    assert link in board and ">paper</a>" not in board


def test_the_team_corrects_the_description_of_a_run(track, ben, as_ben):
    run = make_run(track, ben, description="BM52, titles")
    assert "BM52, titles" in page_at(as_ben, f"/runs/{run.pk}/facts/")
    change(as_ben, run, description="BM25, titles")
    run.refresh_from_db()
    assert run.description == "BM25, titles"
    page = words(page_at(as_ben, f"/runs/{run.pk}/file-and-facts/"))
    assert "Description: BM52, titles → BM25, titles" in page


def test_runs_sent_together_get_the_new_description_together(track, ben, cat, as_ben):
    runs = [make_run(track, ben, text, description="same") for text in (RUN, OTHER_RUN)]
    other = make_run(track, cat, RUN.replace("9.0", "9.4"), description="same")
    assert "Also change 1 other run" in page_at(as_ben, f"/runs/{runs[0].pk}/facts/")
    change(as_ben, runs[0], description="better", of_all="on")
    assert set(Run.objects.exclude(pk=other.pk).values_list("description", flat=True)) == {"better"}
    other.refresh_from_db()
    assert other.description == "same"


def test_one_of_several_runs_can_be_described_alone(track, ben, as_ben):
    runs = [make_run(track, ben, text, description="same") for text in (RUN, OTHER_RUN)]
    change(as_ben, runs[0], description="mine")
    assert set(Run.objects.values_list("description", flat=True)) == {"mine", "same"}


def test_a_form_without_a_description_leaves_it(track, ben, as_ben):
    run = make_run(track, ben, description="kept")
    change(as_ben, run, llm="no")
    run.refresh_from_db()
    assert (run.description, run.facts) == ("kept", {"llm": False})


def test_a_stranger_describes_nothing(track, ben, as_cat):
    run = make_run(track, ben, description="mine")
    assert change(as_cat, run, description="yours").status_code == 403
    run.refresh_from_db()
    assert run.description == "mine"


def test_the_form_of_a_replacement_says_what_happens_to_the_description(track, ben, as_ben):
    run = make_run(track, ben, description="first")
    page = page_at(as_ben, f"/benchmarks/bread/submit/?replaces={run.pk}")
    assert "the old one keeps its own" in words(page)
    sent = {"file": upload("a.run", RUN), "kind": "automatic", "replaces": run.pk}
    refused = as_ben.post("/benchmarks/bread/submit/", {**sent, "description": "second"})
    assert "description and facts of this form are not saved" in words(refused.text)


def test_a_tag_is_corrected_and_the_earlier_one_is_kept(track, ben, as_ben):
    run = make_run(track, ben)
    assert change(as_ben, run, tag="ben-bm25-k1", description="").status_code == 302
    run.refresh_from_db()
    assert run.tag == "ben-bm25-k1" and run.file.read() == RUN.encode()
    assert "ben-bm25-k1" in words(page_at(as_ben, f"/runs/{run.pk}/file-and-facts/"))
    event = AuditEvent.objects.filter(act="state facts").latest("pk")
    assert (event.before, event.after) == ({"tag": "ben-bm25"}, {"tag": "ben-bm25-k1"})


@pytest.mark.parametrize("tag", ["", "two words", "x" * 200])
def test_a_tag_that_no_file_could_have_is_refused(track, ben, as_ben, tag):
    run = make_run(track, ben)
    assert change(as_ben, run, tag=tag, description="").status_code == 422
    run.refresh_from_db()
    assert run.tag == "ben-bm25"


def test_a_tag_of_another_run_is_refused_where_tags_differ(collection, ben, as_ben):
    track = make_track(collection, repeated_tags="refuse")
    run = make_run(track, ben)
    make_run(track, ben, OTHER_RUN)
    answer = change(as_ben, run, tag="other", description="")
    assert answer.status_code == 422 and "already has a run other" in answer.text


def test_a_snapshot_keeps_the_earlier_tag(track, ben, ada, as_ada, as_ben):
    run = make_run(track, ben)
    as_ada.post("/benchmarks/bread/manage/freeze/", {"name": "First"})
    change(as_ben, run, tag="renamed", description="")
    assert "ben-bm25" in as_ada.get("/benchmarks/bread/snapshots/first/").text
    assert "renamed" in as_ada.get("/benchmarks/bread/board/").text


def test_the_second_who_describes_a_run_is_told_what_changed(track, ben, as_ada, as_ben):
    run = make_run(track, ben)
    page = f"/runs/{run.pk}/facts/"
    mine, hers = OpenForm(as_ben, page), OpenForm(as_ada, page)
    assert hers.save(description="BM25 by Ada").status_code == 302
    answer = mine.save(description="BM25 by Ben")
    assert answer.status_code == 422 and ">BM25 by Ada</span>" in answer.text
    run.refresh_from_db()
    assert run.description == "BM25 by Ada"
