"""`from rankfield import Site`: what a program sees of a site."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderboard.models import Run
from rankfield import RejectedError, Site, SiteError, UnreachableError
from tests.builders import OTHER_RUN, RUN, make_run
from tests.client.conftest import URL, InProcess


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "my.run"
    path.write_text(RUN)
    return path


def test_a_run_is_submitted_and_comes_back_with_its_scores(track, bens_site, run_file):
    run = bens_site.wait(bens_site.submit("bread", run_file, description="First"))
    assert (run.tag, run.state, run.team) == ("ben-bm25", "scored", "ben")
    assert run.scores["AP"] == pytest.approx((1 + 1 / 2 + 7 / 12) / 3)


def test_a_rejected_run_prints_its_problems(track, bens_site, run_file):
    run_file.write_text("1 Q0 d1 1 nan ben\n1 Q0 d99 2 1 ben\n")
    with pytest.raises(RejectedError) as rejected:
        bens_site.wait(bens_site.submit("bread", run_file))
    assert (
        str(rejected.value)
        .splitlines()[1]
        .startswith('Line 1: the score is not a finite decimal number: "nan". Remove the document')
    )


def test_a_run_is_checked_without_being_submitted(track, bens_site, run_file):
    run_file.write_text("301 Q0 d1 1 9.0 ben\n")
    with pytest.raises(RejectedError, match="topic"):
        bens_site.check("bread", run_file)
    assert not Run.objects.exists()


def test_a_run_that_follows_the_rules_passes_the_check(track, bens_site, run_file):
    bens_site.check("bread", run_file)


def test_a_table_is_submitted_as_the_same_run(track, bens_site):
    pandas = pytest.importorskip("pandas")
    rows = [line.split() for line in RUN.splitlines()]
    table = pandas.DataFrame(
        {"qid": [row[0] for row in rows], "docno": [row[2] for row in rows]}
    ).assign(score=[float(row[4]) for row in rows])
    bens_site.submit("bread", table, tag="ben-bm25")
    assert Run.objects.get().tag == "ben-bm25"
    assert Run.objects.get().state == "scored"


def test_a_table_needs_a_tag(bens_site):
    with pytest.raises(ValueError, match="a table needs a tag"):
        bens_site.submit("bread", {"qid": [], "docno": [], "score": []})


def test_scores_are_given_by_topic(track, ben, bens_site):
    run = make_run(track, ben)
    assert bens_site.topic_scores(run.pk) == pytest.approx({"1": 1, "2": 1 / 2, "3": 7 / 12})


def test_scores_are_given_as_a_table_of_topics_and_measures(track, ben, bens_site):
    pytest.importorskip("pandas")
    frame = bens_site.topic_frame(make_run(track, ben).pk)
    assert list(frame.columns) == ["AP", "nDCG@10", "P@5"]
    assert frame.loc["2", "AP"] == 0.5


def test_a_board_has_its_runs_in_order(track, ada, ben, bens_site):
    make_run(track, ada, OTHER_RUN)
    make_run(track, ben)
    board = bens_site.board("bread", measure="map")
    assert [(row.rank, row.tag) for row in board.standings] == [(1, "ben-bm25"), (2, "other")]
    assert board.measure == "AP"


def test_a_board_is_a_table_and_a_file_too(track, ben, bens_site):
    pytest.importorskip("pandas")
    make_run(track, ben)
    frame = bens_site.board_frame("bread")
    assert frame.loc[1, "tag"] == "ben-bm25"
    assert "AP" in frame and "scores" not in frame
    assert bens_site.board_file("bread", "csv").startswith(b"rank,")


def test_two_runs_are_compared_topic_by_topic(track, ada, ben, bens_site):
    a, b = make_run(track, ada, OTHER_RUN), make_run(track, ben)
    found = bens_site.compare("bread", a.pk, b.pk)
    assert (found.wins, found.losses, found.verdict) == (2, 1, "not significant")
    assert [topic.number for topic in found.topics] == ["1", "2", "3"]


def test_every_problem_of_a_run_can_be_read(track, ben, bens_site):
    run = make_run(track, ben, "1 Q0 d1 1 nan ben\n")
    assert "E_SCORE" in {problem.code for problem in bens_site.problems(run.pk)}


def test_a_run_is_withdrawn(track, ben, bens_site):
    run = make_run(track, ben)
    bens_site.withdraw(run.pk, "the wrong index")
    run.refresh_from_db()
    assert run.withdrawn_reason == "the wrong index"


def test_an_answer_that_gets_lost_makes_no_second_run(track, bens_site, network, run_file):
    network.lost = 2
    bens_site.submit("bread", run_file)
    assert Run.objects.count() == 1
    assert len([call for call in network.calls if call.startswith("POST")]) == 3


def test_a_site_that_never_answers_is_not_reached(track, bens_site, network, run_file):
    network.lost = 100
    with pytest.raises(UnreachableError, match="the connection was closed"):
        bens_site.submit("bread", run_file)


def test_a_used_up_quota_is_not_waited_for(track, bens_site, network, run_file):
    type(track).objects.filter(pk=track.pk).update(quota_per_day=1)
    bens_site.submit("bread", run_file)
    run_file.write_text(OTHER_RUN)
    with pytest.raises(RejectedError) as rejected:
        bens_site.submit("bread", run_file)
    assert (rejected.value.code, rejected.value.status) == ("E_QUOTA", 429)


def test_a_wrong_token_is_rejected(db, network: InProcess):
    with pytest.raises(RejectedError, match="does not accept this token") as rejected:
        Site(URL, "rf_wrong").track("bread")
    assert rejected.value.status == 401


def test_a_redirect_is_named_and_not_followed(track, bens_site, settings):
    settings.SECURE_SSL_REDIRECT = True
    with pytest.raises(UnreachableError, match="redirects to https://testserver"):
        bens_site.track("bread")


def test_a_run_that_waits_too_long_ends_the_wait(track, ben, bens_site):
    run = make_run(track, ben)
    Run.objects.filter(pk=run.pk).update(state="scoring")
    with pytest.raises(UnreachableError, match="is scoring after 0 s"):
        bens_site.wait(run.pk, timeout=0)


@pytest.fixture
def configured(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("RANKFIELD_URL", "RANKFIELD_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "rankfield").mkdir()
    return tmp_path / "rankfield" / "config.toml"


def test_url_and_token_come_from_a_file(configured):
    configured.write_text('url = "https://site.test/"\ntoken = "rf_file"\n')
    site = Site()
    assert (site.connection.url, site.connection.token) == ("https://site.test", "rf_file")


def test_the_environment_comes_before_the_file(configured, monkeypatch):
    configured.write_text('url = "https://site.test"\ntoken = "rf_file"\n')
    monkeypatch.setenv("RANKFIELD_TOKEN", "rf_environment")
    assert Site().connection.token == "rf_environment"


def test_no_other_site_gets_the_token_of_the_file(configured):
    configured.write_text('url = "https://site.test"\ntoken = "rf_file"\n')
    assert Site("https://other.test").connection.token == ""


def test_a_token_of_the_environment_is_for_the_site_beside_it(configured, monkeypatch):
    monkeypatch.setenv("RANKFIELD_TOKEN", "rf_environment")
    assert Site("https://other.test").connection.token == "rf_environment"
    monkeypatch.setenv("RANKFIELD_URL", "https://site.test")
    assert Site("https://other.test").connection.token == ""


def test_a_site_that_is_named_nowhere_is_an_error_that_helps(configured):
    with pytest.raises(SiteError, match="Set RANKFIELD_URL"):
        Site()
