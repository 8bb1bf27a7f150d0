"""The judgments of a track: which version, how many, by grade and by topic; the file for few."""

from __future__ import annotations

from csv import DictReader
from io import StringIO

from leaderboard.actions import tracks
from leaderboard.models import Judgment, JudgmentSet, Track
from tests.builders import QRELS, make_collection, make_track, work
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import send, ten_track, with_baseline

ADDRESS = "/benchmarks/bread/judgments/"
TEN = "/benchmarks/ten/judgments/"


def test_version_and_counts(track, client):
    said = words(page_at(client, ADDRESS))
    assert "Judgments v1" in said
    assert "8 judged documents for 3 topics; 5 are relevant (grade 1 or higher" in said
    assert "All 3 topics count in this track’s means." in said


def test_grades_from_the_top_of_the_scale_down(track, client):
    grades = rows(page_at(client, ADDRESS), 0)
    assert [row.split()[1] for row in grades] == ["3", "2", "1", "0"]
    assert grades[2].endswith("relevant 3 3") and grades[3].endswith("not relevant 3 3")


def test_every_topic_with_its_judgments(track, client):
    page = page_at(client, ADDRESS)
    assert rows(page, 1) == [
        "1 sourdough bread 1 of grade 2, 1 of grade 1, 1 of grade 0 0 1 1 1 3 2",
        "2 rye flour 1 of grade 1, 1 of grade 0 0 0 1 1 2 1",
        "3 oven temperature 1 of grade 3, 1 of grade 1, 1 of grade 0 1 0 1 1 3 2",
    ]
    assert 'href="/benchmarks/bread/topic/?number=2"' in page


def test_the_threshold_of_the_track_decides_what_is_relevant(track, ada, client):
    tracks.change_track(track, ada, {"relevance_threshold": 2})
    work()
    page = page_at(client, ADDRESS)
    assert "2 are relevant (grade 2 or higher" in words(page)
    assert rows(page, 1)[0].endswith(" 3 1")


def test_negative_grades_are_documents_that_were_passed_over(track, client):
    Judgment.objects.filter(docno="d3").update(grade=-1)
    JudgmentSet.objects.update(grade_counts={"-1": 1, "0": 2, "1": 3, "2": 1, "3": 1})
    said = words(page_at(client, ADDRESS))
    assert "7 judged documents for 3 topics" in said
    assert "1 document more was pooled but not judged." in said


def test_pool_and_note_where_they_are_known(track, client):
    assert "Pool" not in words(page_at(client, ADDRESS))
    JudgmentSet.objects.update(pool_depth=10, note="by <b>two bakers")
    page = page_at(client, ADDRESS)
    assert "the first 10 documents of each pooled run" in words(page)
    assert "by &lt;b&gt;two bakers" in page


def test_organisers_alone_are_offered_the_file(track, as_ada, as_ben):
    address = "/benchmarks/bread/judgments/v1/qrels.txt"
    assert address in page_at(as_ada, ADDRESS) and address not in page_at(as_ben, ADDRESS)
    sent = as_ada.get(address)
    assert sent.getvalue().decode() == QRELS
    assert sent["Content-Disposition"] == 'attachment; filename="qrels.v1.txt"'
    assert sent["Content-Type"] == "text/plain; charset=utf-8"


def test_a_blind_track_does_not_tell_whether_there_are_any(collection, ada, as_ben):
    make_track(collection, slug="judged", disclosure="blind")
    make_track(collection, slug="bare", disclosure="blind", judgment_set=None)
    judged, bare = (
        words(page_at(as_ben, f"/benchmarks/{slug}/judgments/").partition("<main")[2])
        for slug in ("judged", "bare")
    )
    assert "Not shown yet" in judged
    assert (
        judged.partition("answered")[0].replace("Judged", "Bare") == bare.partition("answered")[0]
    )


def test_without_judgments_it_says_so(ada, client, as_ada):
    make_track(make_collection(ada, slug="bare", qrels=None), slug="bare", judgment_set=None)
    assert "No judgments yet" in words(page_at(client, "/benchmarks/bare/judgments/"))
    assert "Add judgments" in page_at(as_ada, "/benchmarks/bare/judgments/")


def test_the_topics_as_csv(track, client):
    lines = client.get(f"{ADDRESS}?format=csv&table=topics").content.decode().splitlines()
    assert lines[0] == "topic,title,judged,relevant,grade 3,grade 2,grade 1,grade 0"
    assert lines[2] == "2,rye flour,2,1,0,0,1,1"


# What nobody judged: every document of these runs but the relevant one of each topic


def test_what_was_judged_of_each_run_and_what_it_could_become(ada, ben, client):
    track = ten_track(ada)
    send(track, ben, "first", 1)
    send(track, ben, "third", 3)
    page = page_at(client, TEN)
    assert "could raise third by up to +.400 P@5; no other run could change." in words(page)
    first, third = rows(page, 1)
    assert first.split()[:6] == ["first", "1.00", "1.00", "1.00", "1.00", ".2000"]
    assert third.split()[:6] == ["third", ".60", ".80", ".90", ".98", ".2000"]
    assert ".2000, from .2000 to .6000" in third


def test_which_verdicts_could_flip(ada, ben, client):
    """All have P@5 .2; base and third share one unjudged document, third has one more."""
    track = ten_track(ada)
    with_baseline(track, ada, 2)
    send(track, ben, "first", 1)
    send(track, ben, "third", 3)
    page = page_at(client, TEN)
    said = "2 of 2 verdicts by P@5 against the baseline base could change: first and third."
    assert said in words(page)
    lines = {line.split()[0]: line for line in rows(page, 1)}
    flips = "not significant , could become better could become better –"
    assert lines["third"].endswith(f"from .0000 to .2000 {flips}")
    flips = "not significant , could become worse could become worse –"
    assert lines["first"].endswith(f"from −.2000 to .0000 {flips}")


def judge_others(track: Track) -> None:
    """Nobody's first five documents stay unjudged; none of them is relevant."""
    Judgment.objects.bulk_create(
        Judgment(judgment_set=track.judgment_set, topic=topic, docno=docno, grade=0)
        for topic in track.collection.topics.all()
        for docno in (f"other{place}-{topic.number}" for place in range(1, 6))
    )


def test_a_verdict_that_nothing_flips_stands(ada, ben, client):
    track = ten_track(ada)
    judge_others(track)
    with_baseline(track, ada, 6)
    send(track, ben, "first", 1)
    page = page_at(client, TEN)
    assert "Every document that counts for P@5 is judged" in words(page)
    safe = "base; mixtures were not tried. The run that is ahead stays ahead with any"
    found = "Both extremes of the missing grades give the verdict by P@5 against the baseline"
    assert f"{found} {safe}" in words(page)
    same = "the same at both extremes"
    assert rows(page, 1)[0].endswith(f"better , {same} {same} impossible")


def test_a_gap_says_how_many_documents_would_close_it(ada, ben, client):
    track = ten_track(ada)
    with_baseline(track, ada, 6)
    send(track, ben, "first", 1)
    line = rows(page_at(client, TEN), 1)[0]
    assert line.endswith(
        "better , could become any other could become any other to close the gap: 10 of 50 10 of 50"
    )


def test_who_reads_of_one_measure_hears_that_the_board_ranks_by_another(ada, ben, client):
    track = ten_track(ada)
    with_baseline(track, ada, 2)
    send(track, ben, "third", 3)
    assert "Verdicts by AP, the ranking measure, are separate" in words(page_at(client, TEN))
    by_ap = words(page_at(client, f"{TEN}?measure=AP"))
    assert "AP has no bound here" in by_ap


def test_a_measure_whose_scenarios_are_no_bounds_says_so(ada, ben, client):
    track = ten_track(ada)
    send(track, ben, "third", 3)
    page = page_at(client, f"{TEN}?measure=AP")
    assert "Two scenarios" in words(page) and "all relevant" in words(page)
    assert "could raise" not in words(page)


def test_the_runs_as_csv(ada, ben, client):
    track = ten_track(ada)
    with_baseline(track, ada, 2)
    send(track, ben, "third", 3)
    text = client.get(f"{TEN}?format=csv&table=runs").content.decode()
    base, third = sorted(DictReader(StringIO(text)), key=lambda each: each["tag"])
    assert (third["judged_at_10"], third["P@5"]) == ("0.8", "0.2")
    assert (third["verdict"], third["verdict_high"]) == ("not significant", "better")
    assert base["verdict"] == ""


def test_queries_do_not_grow_with_runs(ada, ben, client):
    track = ten_track(ada)
    with_baseline(track, ada, 2)
    send(track, ben, "first", 1)
    asked = num_queries(client, TEN)
    send(track, ben, "third", 3)
    assert num_queries(client, TEN) == asked
