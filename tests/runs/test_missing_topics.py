"""Which topics a run has to answer: the judged ones, where everybody sees which they are."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from evaluation.__main__ import main
from leaderboard.models import Collection, Run, Track, User
from tests.builders import make_collection, make_run, make_track, signed_in

# Topic 3 is not judged.
QRELS = "1 0 d1 1\n2 0 d4 1\n"
ANSWERS = {number: f"{number} Q0 d1 1 9.0 ben\n" for number in "123"}
BOTH_JUDGED = ANSWERS["1"] + ANSWERS["2"]


@pytest.fixture
def collection(ada: User) -> Collection:
    return make_collection(ada, qrels=QRELS)


def said(run: Run) -> list[str]:
    return [each["message"] for each in run.problems]


@pytest.mark.parametrize("how", ["warn", "refuse"])
def test_a_topic_that_is_not_judged_is_not_missed_on_an_open_track(collection, ben, how):
    run = make_run(make_track(collection, missing_topics=how), ben, BOTH_JUDGED)
    assert (run.state, said(run)) == ("scored", [])


def test_judged_topics_alone_are_counted(track, ben):
    run = make_run(track, ben, ANSWERS["3"] + ANSWERS["1"])
    assert said(run) == ["no documents for 1 of the 2 judged topics: 2"]


def test_excluded_topics_are_not_missed(collection, ben):
    track = make_track(collection, excluded_topics=["2"], exclusion_reason="a slip")
    assert said(make_run(track, ben, ANSWERS["1"])) == []


@pytest.mark.parametrize("disclosure", ["blind", "leaderboard"])
@pytest.mark.parametrize(("how", "state"), [("warn", "valid"), ("refuse", "refused")])
def test_all_topics_count_where_nobody_may_know_which_are_judged(
    collection, ben, disclosure, how, state
):
    track = make_track(collection, disclosure=disclosure, missing_topics=how)
    run = make_run(track, ben, BOTH_JUDGED)
    assert said(run) == ["no documents for 1 of the 3 topics: 3"]
    assert run.state == ("scored" if state == "valid" else state)
    assert "They score 0" not in signed_in(ben).get(f"/runs/{run.pk}/").text


def test_before_there_are_judgments_all_topics_count(collection, ben):
    run = make_run(make_track(collection, judgment_set=None), ben, BOTH_JUDGED)
    assert said(run) == ["no documents for 1 of the 3 topics: 3"]


def test_after_the_release_judged_topics_alone_count(collection, ben):
    track = make_track(collection, disclosure="blind")
    Track.objects.update(released_at=track.created_at)
    assert said(make_run(track, ben, BOTH_JUDGED)) == []


def test_the_judged_topics_are_a_file_for_the_command(track, client, as_ben):
    assert b"".join(client.get("/benchmarks/bread/topics/judged.txt")) == b"1\n2\n"
    page = as_ben.get("/benchmarks/bread/submit/").text
    assert "--judged judged.txt" in page and 'href="/benchmarks/bread/topics/judged.txt"' in page


def test_the_check_that_the_page_prints_works_with_its_files(track, as_ben, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = as_ben.get("/benchmarks/bread/submit/").text.replace("\\\n", "")
    [words] = re.findall(r"python -m evaluation (check .*?)</pre>", page)
    for address in re.findall(r'href="(\S+/(?:topics|judged|docnos)\.txt)"', page):
        Path(address.rsplit("/", 1)[1]).write_bytes(b"".join(as_ben.get(address)))
    Path("my.run.gz").write_bytes(gzip.compress(BOTH_JUDGED.encode()))
    assert main(words.split()) == 0


def test_a_blind_track_has_no_such_file(collection, ada, ben):
    make_track(collection, disclosure="blind")
    for person in (ada, ben):
        assert signed_in(person).get("/benchmarks/bread/topics/judged.txt").status_code == 404
    assert "judged.txt" not in signed_in(ben).get("/benchmarks/bread/submit/").text
