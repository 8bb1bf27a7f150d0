"""manage.py import_folder: a folder of an old track becomes a track"""

from __future__ import annotations

import gzip
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.management.track_folders import FolderError, read_track_folder
from leaderboard.models import Collection, Run, Team, Track
from tests.builders import DOCUMENTS, OTHER_RUN, QRELS, RUN, TOPICS, make_collection, signed_in

PARTICIPANTS = """Team,Run tag,E-mail,Date,Priority,Description
Beavers,ours,ben@example.org,2019-08-02,2,BM25 as it comes
Beavers,tuned,,2019-08-09,1,
Kestrel,input.other,cat@example.org,2019-08-03T14:30,,
Latecomers,,eve@example.org,,,
"""
DATES = ("--opened", "2019-07-01", "--closed", "2019-08-07", "--released", "2019-10-01")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An old track: its collection, three runs of two teams, and a README."""
    (tmp_path / "topics.trec").write_text(TOPICS)
    (tmp_path / "docs.jsonl").write_text(DOCUMENTS)
    (tmp_path / "2019qrels.txt").write_text(QRELS)
    (tmp_path / "README.md").write_text("An old track.")
    (tmp_path / "participants.csv").write_text(PARTICIPANTS)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "ours.txt").write_text(retag(RUN, "ours"))
    (tmp_path / "runs" / "b.run").write_text(retag(RUN, "tuned"))
    (tmp_path / "runs" / "input.other.gz").write_bytes(gzip.compress(OTHER_RUN.encode()))
    return tmp_path


def retag(run: str, tag: str) -> str:
    return "".join(f"{line.rsplit(maxsplit=1)[0]} {tag}\n" for line in run.splitlines())


def bring(folder: Path, *words: str) -> str:
    out = StringIO()
    call_command("import_folder", "bread", str(folder), *words, stdout=out, stderr=out)
    return out.getvalue()


def explain(folder: Path, *words: str) -> str:
    """Return why a folder is not imported, after checking that nothing of it is left."""
    with pytest.raises(CommandError) as error:
        bring(folder, *words)
    assert not (Collection.objects.exists() or Track.objects.exists() or Run.objects.exists())
    return str(error.value)


@pytest.mark.django_db
def test_without_yes_it_only_says_what_it_understood(folder):
    text = bring(folder, *DATES)
    assert "judgments  2019qrels.txt" in text
    assert "not read   README.md" in text
    assert "closed     2019-08-07 23:59 UTC" in text
    assert "team       Latecomers: 0 runs" in text
    assert "run        b.run: Beavers, 2019-08-09 00:00, primary, late" in text
    assert not Collection.objects.exists()


@pytest.mark.long
def test_a_folder_becomes_a_released_track_with_teams_runs_and_dates(ada, folder):
    text = bring(folder, *DATES, "--yes")
    track = Track.objects.get()
    assert "bread is ready: 3 runs of 3 teams." in text
    assert (track.benchmark.owner, track.shows_scores, track.state()) == (ada, True, "closed")
    assert track.released_at.isoformat() == "2019-10-01T00:00:00+00:00"
    assert {run.state for run in track.runs.all()} == {"scored"}
    tuned = track.runs.get(tag="tuned")
    assert (tuned.team.name, tuned.is_primary, tuned.is_late) == ("Beavers", True, True)
    ours = track.runs.get(tag="ours")
    assert (ours.description, ours.is_primary, ours.is_late) == ("BM25 as it comes", False, False)
    assert track.collection.arrives_until is None


@pytest.mark.long
def test_people_of_the_file_get_a_link_to_their_team(ada, ben, folder):
    text = bring(folder, "--yes")
    line = next(line for line in text.splitlines() if line.startswith("ben@"))
    email, team, link = line.split("\t")
    signed_in(ben).post(link, {"team": link.partition("team=")[2]})
    assert (email, team) == ("ben@example.org", "Beavers")
    assert Track.objects.get().team_of(ben).name == "Beavers"


@pytest.mark.long
def test_a_second_import_is_refused_and_changes_nothing(ada, folder):
    bring(folder, "--yes")
    with pytest.raises(CommandError, match=r"There is a track bread already. Nothing was"):
        bring(folder, "--yes")
    assert (Track.objects.count(), Run.objects.count(), Team.objects.count()) == (1, 3, 3)


@pytest.mark.long
def test_one_bad_run_stops_everything(ada, folder):
    (folder / "runs" / "input.other.gz").write_bytes(b"1 Q0 d1 1 many other\n")
    text = explain(folder, "--yes")
    assert "input.other.gz: line 1: E_SCORE: the score is not a finite decimal number" in text
    assert "W_MISSING_TOPIC" not in text


@pytest.mark.long
def test_a_question_about_the_collection_names_the_option_that_answers_it(ada, folder):
    numbers = TOPICS.replace("Number: 2", "Number: 4").replace("Number: 3", "Number: 8")
    (folder / "topics.trec").write_text(numbers)
    text = explain(folder, "--yes")
    assert "The collection leaves a question open." in text
    assert "--renumber-topics: number them in the order of their file\nNothing was" in text
    assert "bread is ready" in bring(folder, "--renumber-topics", "--yes")


@pytest.mark.long
def test_a_track_without_a_release_stays_blind(ada, folder):
    bring(folder, "--closed", "2019-08-07", "--yes")
    assert not Track.objects.get().shows_means


@pytest.mark.long
def test_undated_runs_are_not_late(ada, folder):
    (folder / "participants.csv").unlink()
    bring(folder, "--closed", "2019-08-07", "--team", "Beavers", "--yes")
    assert [run.is_late for run in Run.objects.all()] == [False] * 3


@pytest.mark.django_db
def test_the_name_of_a_collection_is_not_taken_twice(ada, folder):
    make_collection(ada)
    with pytest.raises(CommandError, match="There is a collection bread already"):
        bring(folder)


@pytest.mark.django_db
def test_dates_in_the_wrong_order_are_refused(folder):
    text = explain(folder, "--closed", "2019-08-07", "--opened", "2019-09-01")
    assert "A track is closed after it is opened." in text


def test_all_that_is_wrong_with_a_folder_is_said_at_once(tmp_path):
    (tmp_path / "participants.csv").write_text("team;run;date\nA;gone;7 Aug\nB;lost\n;x\n")
    (tmp_path / "qrels.1").touch()
    (tmp_path / "qrels.2").touch()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine.run").write_text(RUN)
    with pytest.raises(FolderError) as error:
        read_track_folder(tmp_path)
    assert str(error.value).splitlines() == [
        "Several files could be the judgments: qrels.1, qrels.2. Leave one of them.",
        "participants.csv: line 2: “7 Aug” is not a date. "
        "Write it like 2019-08-07 or 2019-08-07T14:30",
        "participants.csv: line 4: the team is missing",
        "Line 3 of the participants: there is no run lost in runs/.",
        "mine.run has no team: no line of the participants names it.",
        "There are no topics: no name of a file contains “topics” or “queries”.",
    ]


def test_folders_in_runs_name_teams(folder):
    (folder / "participants.csv").unlink()
    for team, name in (("Beavers", "ours.txt"), ("Beavers", "b.run"), ("K", "input.other.gz")):
        (folder / "runs" / team).mkdir(exist_ok=True)
        (folder / "runs" / name).rename(folder / "runs" / team / name)
    assert read_track_folder(folder).count_runs() == {"Beavers": 2, "K": 1}


def test_two_spellings_of_a_team_are_refused(folder):
    (folder / "participants.csv").write_text("team,run\nBeavers,ours\nbeavers,b\nKestrel,other\n")
    with pytest.raises(FolderError, match="Beavers and beavers are one team"):
        read_track_folder(folder)
