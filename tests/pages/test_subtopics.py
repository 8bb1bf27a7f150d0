"""Pages on judgments with strata or subtopics."""

from __future__ import annotations

import pytest

from leaderboard.models import Collection, Run, Track
from tests.builders import (
    DOCUMENTS,
    INTENTS,
    OTHER_RUN,
    QRELS,
    RUN,
    STRATA,
    SUBTOPICS,
    TOPICS,
    make_collection,
    make_run,
    make_track,
    upload,
    work,
)
from tests.pages.commands import commands, printed_by
from tests.pages.reading import page_at, rows, words
from tests.pages.test_track_pages import form_of

DIVERSE = ["alpha-nDCG@5", "strec@5", "AP"]


@pytest.fixture
def diverse(ada) -> Track:
    collection = make_collection(ada, qrels=SUBTOPICS, intents=INTENTS)
    return make_track(collection, measures=DIVERSE, primary_measure="alpha-nDCG@5")


@pytest.fixture
def sampled(ada) -> Track:
    collection = make_collection(ada, qrels=STRATA)
    return make_track(collection, measures=["xinfAP", "AP"], primary_measure="xinfAP")


def ranking_of(run: Run, number: int = 1, more: str = "") -> str:
    return f"/runs/{run.pk}/ranking/?number={number}{more}"


def test_a_ranking_says_at_which_ranks_it_covers_each_subtopic(diverse, ben, client):
    page = page_at(client, ranking_of(make_run(diverse, ben)))
    assert rows(page, -1) == [
        "1 .5000 2 of 2 1 , 3 .8333",
        "2 .2500 2 of 2 1 , 2 1.0000",
        "3 .2500 0 of 1 not covered .0000",
    ]
    assert "cover 2 of 3 subtopics with a relevant document" in words(page)
    assert "relevant for subtopics 1, 2" in words(page)


def test_a_subtopic_without_a_relevant_document_has_no_value(ada, ben, client):
    collection = make_collection(ada, qrels=SUBTOPICS + "2 3 d5 0\n")
    track = make_track(collection, measures=DIVERSE, primary_measure="strec@5")
    run = make_run(track, ben)
    assert rows(page_at(client, ranking_of(run, 2)), -1)[2] == "3 0 of 0 – –"


def test_the_coverage_is_a_table_for_other_programs(diverse, ben, client):
    run = make_run(diverse, ben, OTHER_RUN)
    answer = client.get(ranking_of(run, 1, "&format=csv&table=subtopics")).content.decode()
    head, first, *_ = answer.splitlines()
    assert head == "subtopic,probability,relevant,retrieved,first_rank,AP"
    assert first.startswith("1,0.5,2,2,2,")


def test_the_page_of_a_topic_counts_the_runs_that_cover_each_subtopic(diverse, ben, cat, client):
    make_run(diverse, ben)
    make_run(diverse, cat, OTHER_RUN)
    page = page_at(client, "/benchmarks/bread/topic/?number=1")
    table = page[page.index('id="subtopics"') :]
    assert rows(table) == ["1 .5000 2 2", "2 .2500 2 2", "3 .2500 1 1"]


def test_ordinary_judgments_have_no_table_of_subtopics(track, ben, client):
    run = make_run(track, ben)
    assert "Subtopics" not in page_at(client, ranking_of(run))
    assert "Subtopics" not in page_at(client, "/benchmarks/bread/topic/?number=1")
    assert client.get(ranking_of(run, 1, "&format=csv&table=subtopics")).status_code == 404


@pytest.mark.parametrize("disclosure", ["blind", "leaderboard"])
def test_what_hides_judgments_hides_subtopics(ada, ben, as_ben, disclosure):
    collection = make_collection(ada, qrels=SUBTOPICS, intents=INTENTS)
    track = make_track(
        collection,
        measures=DIVERSE,
        primary_measure="alpha-nDCG@5",
        disclosure=disclosure,
        shares_judgments=True,
    )
    run = make_run(track, ben)
    page = page_at(as_ben, ranking_of(run))
    assert "ubtopic" not in page and "Loaf 9 of twelve" in page
    for address in (
        ranking_of(run, 1, "&format=csv&table=subtopics"),
        "/benchmarks/bread/topic/?number=1&format=csv&table=subtopics",
        "/benchmarks/bread/judgments/v1/intents.txt",
        "/benchmarks/bread/judgments/v1/qrels.txt",
    ):
        assert as_ben.get(address).status_code == 404
    assert "ubtopic" not in page_at(as_ben, "/benchmarks/bread/topic/?number=1")
    assert "ubtopic" not in page_at(as_ben, "/collections/bread/")


def test_the_printed_command_gives_the_number_of_the_page(diverse, ada, ben, as_ada, tmp_path):
    run = make_run(diverse, ben, OTHER_RUN)
    page = page_at(as_ada, f"/benchmarks/bread/computed/?run={run.pk}&measure=alpha-nDCG@5")
    for name in ("qrels", "intents"):
        file = as_ada.get(f"/benchmarks/bread/judgments/v1/{name}.txt").getvalue()
        (tmp_path / f"{name}.v1.txt").write_bytes(file)
    (tmp_path / "other.run").write_text(OTHER_RUN)
    (command,) = commands(page)
    value = printed_by(command, tmp_path, "--digits", "17").split()[-1]
    assert f"full value {float(value)!r}" in words(page)


def test_a_measure_that_a_sample_cannot_estimate_is_warned_of(sampled, ben, client):
    run = make_run(sampled, ben)
    warned = "The judgments are a stratified sample. AP cannot be estimated from it"
    for address in (
        "/benchmarks/bread/board/",
        f"/runs/{run.pk}/",
        "/benchmarks/bread/topic/?number=1",
        f"/benchmarks/bread/computed/?run={run.pk}&measure=AP",
    ):
        assert warned in words(page_at(client, address))
    page = page_at(client, f"/benchmarks/bread/computed/?run={run.pk}&measure=xinfAP")
    assert "stratified sample. " not in words(page).replace("from a stratified sample:", "")


def test_a_whole_sample_is_not_warned_of(ada, ben, client):
    collection = make_collection(ada, qrels=STRATA.replace(" -1\n", " 0\n"))
    make_run(make_track(collection, measures=["xinfAP", "AP"]), ben)
    assert "stratified sample" not in page_at(client, "/benchmarks/bread/board/")


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        (STRATA, "A stratified sample: 5 strata, 7 documents drawn and judged, 3 not drawn."),
        (SUBTOPICS, "Judgments of 7 subtopics, up to 3 per topic, of 9 documents."),
    ],
)
def test_the_review_says_what_the_file_is(as_ada, qrels, said):
    sent = {
        "name": "Rye",
        "topics": upload("topics", TOPICS),
        "documents": upload("documents", DOCUMENTS),
        "judgments": upload("qrels", qrels),
        "intents": upload("intents.txt", INTENTS),
    }
    assert as_ada.post("/collections/new/", sent).status_code == 302
    work()
    page = words(page_at(as_ada, "/collections/rye/"))
    assert said in page
    as_ada.post("/collections/rye/confirm/")
    work()
    assert Collection.objects.get(slug="rye").state == "ready"


def test_a_document_that_was_not_drawn_is_offered_no_grade(as_ada, collection):
    as_ada.post("/collections/bread/judgments/", {"version": "v2", "file": upload("qrels", STRATA)})
    work()
    page = page_at(as_ada, "/collections/bread/")
    choices = page[page.index('name="grade_-1"') :]
    choices = choices[: choices.index("</select>")]
    assert choices.count("<option") == 1 and "not drawn" in choices


def test_problems_of_probabilities_have_a_title_and_a_line(as_ada, collection):
    sent = {"version": "v2", "file": upload("q", SUBTOPICS), "intents": upload("i", "1 1 x\n")}
    as_ada.post("/collections/bread/judgments/", sent)
    work()
    page = page_at(as_ada, "/collections/bread/")
    assert "A probability is not between 0 and 1" in page
    assert '<span class="line">1</span>' in page


@pytest.mark.parametrize(
    ("qrels", "first"), [(SUBTOPICS, "alpha-nDCG@10"), (STRATA, "xinfAP"), (QRELS, "AP")]
)
def test_a_new_track_starts_with_measures_that_its_judgments_give(as_ada, ada, qrels, first):
    make_collection(ada, qrels=qrels)
    form = page_at(as_ada, "/collections/bread/tracks/new/")
    assert f">{first}," in form or f'value="{first},' in form
    as_ada.post("/collections/bread/tracks/new/internal/")
    assert Track.objects.get().primary_measure == first


def test_the_settings_refuse_a_measure_that_the_judgments_cannot_give(track, as_ada):
    sent = form_of(as_ada.get("/benchmarks/bread/manage/section/scores/"))
    page = as_ada.post(
        "/benchmarks/bread/manage/section/scores/", sent | {"measures": "AP, ERR-IA@5"}
    )
    assert page.status_code == 422
    assert "ERR-IA needs judgments of subtopics, and v1 has none." in words(page.content.decode())


def test_a_switch_to_judgments_that_cannot_give_a_measure_is_refused(diverse, ben, as_ada):
    make_run(diverse, ben, RUN)
    as_ada.post("/collections/bread/judgments/", {"version": "v2", "file": upload("q", QRELS)})
    work()
    as_ada.post("/collections/bread/judgments/v2/confirm/")
    work()
    answer = as_ada.post("/benchmarks/bread/judgments/v2/switch/", follow=True)
    assert "alpha-nDCG needs judgments of subtopics, and v2 has none" in words(
        answer.content.decode()
    )
    assert Track.objects.get().judgment_set.version == "v1"
