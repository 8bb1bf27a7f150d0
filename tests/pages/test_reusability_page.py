"""One team left out at a time: each with and without the documents that only it found."""

from __future__ import annotations

import pytest

from leaderboard.actions import tracks
from leaderboard.analysis import rescoring
from leaderboard.models import Track, User
from tests.builders import make_run, make_track, work
from tests.pages.commands import commands, printed_by
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import QRELS, send, ten_track

ADDRESS = "/benchmarks/ten/reusability/"
# Topics one to three: only `ours` finds what is relevant, only `best` what is judged not to be.
RUNS = {
    "best": [["bad"]] * 3 + [["good"]] * 7,
    "ours": [["good"]] * 3 + [["other", "good"]] * 7,
    "base": [["other"]] * 3 + [["good"]] * 5 + [["other"]] * 2,
}


def text_of(tag: str) -> str:
    return "".join(
        f"{topic} Q0 {name}{topic} {rank} {9 - rank} {tag}\n"
        for topic, names in enumerate(RUNS[tag], 1)
        for rank, name in enumerate(names, 1)
    )


MOVED = "rank 2 with its own documents, 3 without"


def make_scene(ada: User, ben: User, cat: User) -> None:
    """AP .7 for Cat's best, .65 for Ben's ours and .5 for the organisers' base."""
    track = ten_track(ada)
    for user, tag in ((cat, "best"), (ben, "ours"), (ada, "base")):
        make_run(track, user, text_of(tag))


@pytest.fixture
def ten(scene) -> Track:
    return Track.objects.get(slug="ten")


def test_a_team_loses_what_only_it_found(ten, client):
    assert rows(page_at(client, ADDRESS))[0] == f"ben 3 3 ours .650 .350 −.300 {MOVED} 2 3 .333"


def test_teams_without_relevant_documents_of_their_own_do_not_move(ten, client):
    cat, ada = sorted(rows(page_at(client, ADDRESS))[1:], key=lambda row: "base" in row)
    assert cat == "cat 3 0 best .700 .700 .000 rank 1 with and without its own documents 1 1 1.000"
    assert ada.endswith("base .500 .500 .000 rank 3 with and without its own documents 3 3 1.000")


def test_the_largest_change_is_said_in_a_sentence(ten, client):
    said = words(page_at(client, ADDRESS))
    assert "changes by at most .300 AP: ours −.300, rank 2 to 3." in said
    assert ".778 on average and .333 at the lowest" in said


def test_teams_that_share_all_documents_keep_their_scores(ten, ben, cat, client):
    track = make_track(ten.collection, slug="two")
    send(track, ben, "one", 1)
    send(track, cat, "two", 2)
    said = words(page_at(client, "/benchmarks/two/reusability/"))
    assert "No team’s best run changes its AP" in said


def test_documents_that_two_runs_of_a_team_share_are_its_own(ten, ben, client):
    make_run(ten, ben, text_of("ours").replace("ours", "ours2"))
    assert rows(page_at(client, ADDRESS))[0].startswith(
        f"ben 3 3 ours .650 .350 −.300 {MOVED} 2 3 .200"
    )


def test_the_table_goes_to_other_programs_with_every_digit(ten, client):
    lines = client.get(f"{ADDRESS}?format=csv").content.decode().splitlines()
    run = ten.runs.get(tag="ours").pk
    assert lines[0].startswith("team,unique,relevant,run,tag,with,without,change,rank_with")
    assert lines[1].startswith(f"ben,3,3,{run},ours,0.65,0.35,-0.3")


def test_the_printed_command_gives_the_same_numbers(ten, ben, client, tmp_path):
    make_run(ten, ben, text_of("ours").replace("ours", "ours2"))
    (tmp_path / "qrels.v1.txt").write_text(QRELS)
    for tag in RUNS:
        (tmp_path / f"{tag}.run").write_text(text_of(tag))
    (tmp_path / "ours2.run").write_text(text_of("ours").replace("ours", "ours2"))
    [command] = commands(page_at(client, "/benchmarks/ten/computed/reusability/"))
    printed = printed_by(command, tmp_path, "--format", "tsv").splitlines()
    ours = next(line.split("\t") for line in printed if line.startswith("ben\tours\t"))
    assert ours[2:6] == ["3", "3", "0.6500", "0.3500"] and ours[7:9] == ["2", "3"]


def test_the_threshold_of_the_track_goes_into_the_command(ten, ada, client):
    tracks.change_track(ten, ada, {"relevance_threshold": 2})
    work()
    [command] = commands(page_at(client, "/benchmarks/ten/computed/reusability/"))
    assert "-m 'AP(rel=2)'" in command and "-l 2" in command


def test_any_measure_of_the_track_can_be_asked_for(ten, client):
    first = rows(page_at(client, f"{ADDRESS}?measure=P@5"))[0]
    assert first.startswith("ben 3 3 ours .200 .140 −.060")


def test_one_team_alone_shows_nothing(ten, ben, client):
    send(make_track(ten.collection, slug="two"), ben, "one", 1)
    assert "Two teams needed" in page_at(client, "/benchmarks/two/reusability/")


def test_runs_that_are_too_large_are_left_to_the_command(ten, client, monkeypatch):
    monkeypatch.setattr(rescoring, "MOST_DOCUMENTS", 10)
    page = page_at(client, ADDRESS)
    assert "Too large for this page" in page and "computed/reusability/" in page


def test_the_judgments_lead_here(ten, client):
    assert f'href="{ADDRESS}"' in page_at(client, "/benchmarks/ten/judgments/")


def test_queries_do_not_grow_with_the_board(ten, ben, client):
    asked = num_queries(client, ADDRESS)
    for rank in (2, 4):
        send(ten, ben, f"r{rank}", rank)
    assert num_queries(client, ADDRESS) == asked


def test_a_rank_that_changes_is_drawn_by_two_dots(ten, client):
    page = page_at(client, ADDRESS)
    assert "rank 2 with its own documents, 3 without" in page
    assert page.count('<circle class="dot moved worse" cx="') == 1


def test_every_measure_is_rated_by_how_little_it_moves(ten, client):
    """AP: ours loses .3 and a place; P@5 loses .06, and nobody a place."""
    trusted = rows(page_at(client, ADDRESS), 1)
    assert {row.split()[0] for row in trusted} == {"AP", "RR", "P@5"}
    assert "AP .778 −.300" in trusted


def test_a_sentence_can_be_quoted(ten, client):
    said = words(page_at(client, ADDRESS))
    assert "the score of that team’s best run by at most .300 AP (3 teams; mean τ .78)." in said
