"""What is taken home: a team's runs beside the others, and a board with every score."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.actions import tracks
from leaderboard.models import Run, Score, Track
from tests.builders import OTHER_RUN, QRELS, RUN, make_run, make_user, work
from tests.pages.commands import printed_by

pytestmark = pytest.mark.long


def zip_at(client: Client, address: str) -> zipfile.ZipFile:
    response = client.get(address)
    assert response.status_code == 200
    return zipfile.ZipFile(io.BytesIO(response.getvalue()))


def member(file: zipfile.ZipFile, ending: str) -> str:
    (name,) = [each for each in file.namelist() if each.endswith(ending)]
    return file.read(name).decode()


def rows(file: zipfile.ZipFile, ending: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(member(file, ending))))


@pytest.fixture
def run(track, ben) -> Run:
    return make_run(track, ben)


def make_others(track: Track, number: int) -> None:
    for place in range(number):
        text = OTHER_RUN.replace("other", f"secret-{place}")
        make_run(track, make_user(f"team-{place}"), text)


def test_every_topic_stands_beside_best_median_and_worst(run, as_ben):
    make_others(run.track, 3)
    found = rows(zip_at(as_ben, "/benchmarks/bread/pack.zip"), "topics.csv")
    second = next(row for row in found if (row["measure"], row["topic"]) == ("AP", "2"))
    assert (second["value"], second["title"]) == ("0.5", "rye flour")
    assert [second[each] for each in ("best", "median", "worst")] == ["1.0", "1.0", "0.5"]


def test_of_two_other_teams_nothing_is_told(run, as_ben):
    make_others(run.track, 2)
    pack = zip_at(as_ben, "/benchmarks/bread/pack.zip")
    tables = [name for name in pack.namelist() if name.endswith(".csv") and "curves" not in name]
    spread = {
        row[each] for name in tables for row in rows(pack, name) for each in ("best", "worst")
    }
    assert spread == {""} and len(tables) == 4
    assert "these three are not\ngiven for the type: automatic." in pack.read("README.txt").decode()


def test_no_other_run_is_named(run, as_ben):
    make_others(run.track, 3)
    pack = zip_at(as_ben, "/benchmarks/bread/pack.zip")
    assert not [name for name in pack.namelist() if b"secret" in pack.read(name)]


def test_runs_of_the_organisers_are_not_among_the_others(run, ada, as_ben):
    make_others(run.track, 2)
    make_run(run.track, ada, OTHER_RUN)
    found = rows(zip_at(as_ben, "/benchmarks/bread/pack.zip"), "summary.csv")
    assert {row["best"] for row in found} == {""}


def test_the_curve_and_the_averages_are_those_of_the_run(run, as_ben):
    pack = zip_at(as_ben, "/benchmarks/bread/pack.zip")
    assert rows(pack, "depth.csv")[0]["precision"] == "0.3333333333333333"
    assert [row["1.0"] for row in rows(pack, "curves.csv")] == ["1.0", "0.5", "0.6666666666666666"]
    assert rows(pack, "recall.csv")[0]["precision"] == "0.7222222222222222"


@pytest.mark.parametrize("left_out", [[], ["2"]])
def test_the_command_gives_the_numbers_again(run, ada, as_ben, tmp_path: Path, left_out):
    tracks.change_track(run.track, ada, {"excluded_topics": left_out})
    work()
    pack = zip_at(as_ben, "/benchmarks/bread/pack.zip")
    (tmp_path / "qrels.v1.txt").write_text(QRELS)
    (tmp_path / "ben-bm25.run").write_text(RUN)
    said = printed_by(member(pack, "command.txt"), tmp_path, "--digits", "17")
    means = {float(line.split()[-1]) for line in said.splitlines()}
    assert means == {float(row["value"]) for row in rows(pack, "summary.csv")}


def test_a_run_has_a_page_to_print(run, as_ben):
    page = member(zip_at(as_ben, "/benchmarks/bread/pack.zip"), "page.txt")
    assert page.startswith("ben-bm25\n====")
    assert "AP                                            0.6944" in page


def test_a_run_that_the_rule_leaves_out_is_in_the_pack(run, as_ben):
    Track.objects.update(selection="primary")
    left_out = make_run(run.track, run.submitted_by, RUN.replace("ben-bm25", "second"))
    pack = zip_at(as_ben, "/benchmarks/bread/pack.zip")
    assert {row["run"] for row in rows(pack, "summary.csv")} == {"ben-bm25", "second"}
    assert pack.read(f"second-{left_out.pk}/page.txt").startswith(b"second\n====")
    assert rows(zip_at(as_ben, "/benchmarks/bread/everything.zip"), "board.csv")[1:] == []


def test_the_same_runs_are_the_same_bytes(run, as_ben):
    first, second = (as_ben.get("/benchmarks/bread/pack.zip").getvalue() for _ in range(2))
    assert first == second


def test_a_pack_waits_for_the_release(blind_track, ada, ben, as_ben, as_ada):
    make_run(blind_track, ben)
    assert as_ben.get("/benchmarks/blind/pack.zip").status_code == 404
    assert as_ada.get("/benchmarks/blind/pack.zip?team=ben").status_code == 200
    tracks.release_track(blind_track, ada)
    assert as_ben.get("/benchmarks/blind/pack.zip").status_code == 200


def test_only_organisers_name_a_team(run, cat, as_cat, as_ada):
    make_run(run.track, cat, OTHER_RUN)
    own = zip_at(as_cat, "/benchmarks/bread/pack.zip?team=ben").read("README.txt")
    assert b"the runs of cat" in own
    assert as_ada.get("/benchmarks/bread/pack.zip?team=nobody%00").status_code == 404


def test_my_runs_and_the_run_lead_to_the_pack(run, as_ben, as_cat):
    assert b"/benchmarks/bread/pack.zip" in as_ben.get("/benchmarks/bread/runs/").content
    assert b"/benchmarks/bread/pack.zip" in as_ben.get(f"/runs/{run.pk}/").content
    assert b"pack.zip" not in as_cat.get(f"/runs/{run.pk}/").content


def test_everything_holds_every_score(run, client):
    found = rows(zip_at(client, "/benchmarks/bread/everything.zip"), "scores.csv")
    kept = Score.objects.get(score_set__run=run, measure="AP").values
    assert [float(row["AP"]) for row in found] == kept.tolist()
    assert {(row["run"], row["team"]) for row in found} == {(run.pk, "ben")}


def test_the_data_lead_to_everything(run, client):
    assert b"/benchmarks/bread/everything.zip" in client.get("/benchmarks/bread/data/").content


def test_organisers_take_the_whole_track_from_its_page(run, as_ada, as_ben):
    page = as_ada.get("/benchmarks/bread/manage/section/archive/")
    assert b"/benchmarks/bread/manage/archive.zip" in page.content
    whole = zip_at(as_ada, "/benchmarks/bread/manage/archive.zip?documents=1")
    archive = zipfile.ZipFile(io.BytesIO(whole.read("tracks/bread.zip")))
    assert archive.read(f"runs/{run.pk}").decode() == RUN
    assert {"judgments/v1.qrels", "documents.jsonl"} <= set(archive.namelist())
    assert as_ben.get("/benchmarks/bread/manage/archive.zip").status_code == 403


def test_a_release_without_names_names_nobody(run, as_ada):
    make_others(run.track, 1)
    release = zip_at(as_ada, "/benchmarks/bread/manage/anonymous.zip")
    key = as_ada.get("/benchmarks/bread/manage/aliases.csv").content.decode()
    alias = next(row["alias"] for row in csv.DictReader(io.StringIO(key)) if row["team"] == "ben")
    assert f" {alias}\n" in release.read(f"runs/{alias}.run").decode()
    whole = b"".join(release.read(name) for name in release.namelist()).decode()
    assert not any(name in whole for name in ("ben", "secret-0", "team-0,", run.pk))


def test_an_alias_is_the_same_in_each_release(run, as_ada):
    first = rows(zip_at(as_ada, "/benchmarks/bread/manage/anonymous.zip"), "board.csv")
    make_others(run.track, 1)
    second = rows(zip_at(as_ada, "/benchmarks/bread/manage/anonymous.zip"), "board.csv")
    assert first[0]["run"] in [row["run"] for row in second]
