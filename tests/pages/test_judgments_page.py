"""The judgments of a track: which version, how many, by grade and by topic; never the file."""

from __future__ import annotations

from leaderboard import organising
from leaderboard.models import Judgment, JudgmentSet
from tests.builders import make_collection, make_track, work
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import ten_track

ADDRESS = "/tracks/bread/judgments/"


def test_version_and_counts(track, client):
    said = words(page_at(client, ADDRESS))
    assert "Judgments v1" in said
    assert "8 documents of 3 topics were judged; 5 are relevant, which is grade 1 or higher" in said
    assert "3 topics of 3 enter the means of this track." in said


def test_grades_from_the_top_of_the_scale_down(track, client):
    grades = rows(page_at(client, ADDRESS), 0)
    assert [row.split()[1] for row in grades] == ["3", "2", "1", "0"]
    assert grades[2].endswith("relevant 3 3") and grades[3].endswith("not relevant 3 3")


def test_every_topic_with_its_judgments(track, client):
    page = page_at(client, ADDRESS)
    assert rows(page, 1) == [
        "1 sourdough bread 3 2",
        "2 rye flour 2 1",
        "3 oven temperature 3 2",
    ]
    assert 'href="/tracks/bread/topic/?number=2"' in page


def test_the_threshold_of_the_track_decides_what_is_relevant(track, ada, client):
    organising.change_track(track, ada, {"relevance_threshold": 2})
    work()
    page = page_at(client, ADDRESS)
    assert "2 are relevant, which is grade 2 or higher" in words(page)
    assert rows(page, 1)[0] == "1 sourdough bread 3 1"


def test_negative_grades_are_documents_that_were_passed_over(track, client):
    Judgment.objects.filter(docno="d3").update(grade=-1)
    JudgmentSet.objects.update(grade_counts={"-1": 1, "0": 2, "1": 3, "2": 1, "3": 1})
    said = words(page_at(client, ADDRESS))
    assert "7 documents of 3 topics were judged" in said
    assert "1 document more was pooled and not judged." in said


def test_pool_and_note_where_they_are_known(track, client):
    assert "Pool" not in words(page_at(client, ADDRESS))
    JudgmentSet.objects.update(pool_depth=10, note="by <b>two bakers")
    page = page_at(client, ADDRESS)
    assert "the first 10 documents of each pooled run" in words(page)
    assert "by &lt;b&gt;two bakers" in page


def test_nobody_is_offered_the_file(track, as_ada, as_ben):
    name = JudgmentSet.objects.get().file.name
    for client in (as_ada, as_ben):
        page = page_at(client, ADDRESS)
        assert name not in page and "download" not in page


def test_a_blind_track_does_not_tell_whether_there_are_any(collection, ada, as_ben):
    make_track(collection, slug="judged", disclosure="blind")
    make_track(collection, slug="bare", disclosure="blind", judgment_set=None)
    judged, bare = (
        words(page_at(as_ben, f"/tracks/{slug}/judgments/").partition("<main")[2])
        for slug in ("judged", "bare")
    )
    assert "Not shown before the release" in judged
    assert (
        judged.partition("answered")[0].replace("Judged", "Bare") == bare.partition("answered")[0]
    )


def test_without_judgments_it_says_so(ada, client, as_ada):
    make_track(make_collection(ada, slug="bare", qrels=None), slug="bare", judgment_set=None)
    assert "No judgments yet" in words(page_at(client, "/tracks/bare/judgments/"))
    assert "Add judgments" in page_at(as_ada, "/tracks/bare/judgments/")


def test_queries_do_not_grow_with_topics(track, ada, client, django_assert_num_queries):
    page_at(client, ADDRESS)
    asked = num_queries(client, ADDRESS)
    ten_track(ada)
    with django_assert_num_queries(asked):
        page_at(client, "/tracks/ten/judgments/")
