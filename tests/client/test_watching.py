"""`rankfield watch` and what it makes of files that appear, change and disappear."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaderboard.models import ApiToken, Run
from rankfield.__main__ import main
from rankfield.watching import WatchedFolder
from tests.builders import OTHER_RUN, RUN
from tests.client.conftest import URL


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


@pytest.fixture
def watched(track, bens_site, folder) -> WatchedFolder:
    return WatchedFolder(bens_site, "bread", folder)


def test_a_file_is_submitted_once_it_stays_as_it_is(watched, folder):
    (folder / "my.run").write_text(RUN[:20])
    assert watched.look() == []
    (folder / "my.run").write_text(RUN)
    assert watched.look() == []
    submitted, scored = watched.look()
    assert submitted.startswith(f"my.run: submitted, {URL}/runs/")
    assert scored.startswith("my.run: scored, AP 0.6944")
    assert (watched.look(), watched.is_settled) == ([], True)


def test_a_file_that_changes_is_another_run(watched, folder):
    for content in (RUN, OTHER_RUN):
        (folder / "my.run").write_text(content)
        watched.look()
        watched.look()
    assert Run.objects.count() == 2


def test_a_rejected_file_is_said_once(watched, folder):
    (folder / "bad.run").write_text("1 Q0 d99 1 2.0 ben\n")
    said = [line for _ in range(4) for line in watched.look()]
    assert len(said) == 2 and said[1].startswith("bad.run: rejected: ")
    assert (watched.rejected, watched.is_settled) == (1, True)


def test_a_site_that_is_away_is_tried_again(watched, folder, network):
    (folder / "my.run").write_text(RUN)
    watched.look()
    network.lost = 5
    [line] = watched.look()
    assert "cannot be reached" in line and watched.is_stuck
    assert watched.look()[0].startswith("my.run: submitted")


def test_a_used_up_quota_is_waited_for(watched, folder, track):
    type(track).objects.update(quota_per_day=1)
    for name, content in (("a.run", RUN), ("b.run", OTHER_RUN)):
        (folder / name).write_text(content)
    said = [line for _ in range(4) for line in watched.look()]
    assert len([line for line in said if line.startswith("b.run: ")]) == 1
    assert (Run.objects.count(), watched.is_settled, watched.is_stuck) == (1, False, True)


@pytest.mark.parametrize("name", ["my.run.tmp", ".my.run", ".git/my.run", "my.run.part"])
def test_what_is_not_finished_or_hidden_is_left(watched, folder, name):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(RUN)
    watched.look()
    assert (watched.look(), watched.is_settled) == ([], True)


def test_once_ends_when_all_are_done(network, track, ben, folder, monkeypatch, capsys):
    _, token = ApiToken.objects.issue(ben, ["read", "submit"])
    monkeypatch.setenv("RANKFIELD_URL", URL)
    monkeypatch.setenv("RANKFIELD_TOKEN", token)
    words = ["watch", "bread", str(folder), "--once", "--interval", ".01"]
    (folder / "my.run").write_text(RUN)
    assert main(words) == 0
    (folder / "bad.run").write_text("1 Q0 d99 1 2.0 ben\n")
    assert main(words) == 2
    assert capsys.readouterr().out.count("my.run: submitted") == 2
    assert Run.objects.filter(tag="ben-bm25").count() == 1
    (folder / "bad.run").unlink()
    assert main([*words, "--json"]) == 0
    first, *_ = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["file"] == "my.run" and first["said"].startswith("submitted")


def test_once_ends_where_the_site_takes_nothing_more(network, track, ben, folder, monkeypatch):
    _, token = ApiToken.objects.issue(ben, ["read", "submit"])
    monkeypatch.setenv("RANKFIELD_URL", URL)
    monkeypatch.setenv("RANKFIELD_TOKEN", token)
    type(track).objects.update(quota_per_day=1)
    for name, content in (("a.run", RUN), ("b.run", OTHER_RUN)):
        (folder / name).write_text(content)
    assert main(["watch", "bread", str(folder), "--once", "--interval", ".01"]) == 3
