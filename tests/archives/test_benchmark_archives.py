"""A benchmark goes into a file with tracks and systems, and comes out with the same board."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from leaderboard.actions import benchmark_setup, runs
from leaderboard.actions.benchmark_setup import PlacedTrack
from leaderboard.boards.benchmark_boards import EVERY_VERSION, BenchmarkChoice, find_benchmark_board
from leaderboard.boards.disclosure import benchmark_sight_of
from leaderboard.models import (
    Benchmark,
    Collection,
    Overview,
    Run,
    System,
    SystemVersion,
    Track,
    User,
)
from tests.archives.test_archives import command, export_alone, repacked
from tests.benchmark_scene import BOTH, ROLLS_OTHER, ROLLS_RUN, make_benchmark, send
from tests.builders import make_reported, make_run, make_track, work
from tests.recording import recorded

pytestmark = pytest.mark.long

AWAY = ("--benchmark", "away", "--prefix", "away-")


@pytest.fixture
def lived(ada: User, ben: User, cat: User) -> Benchmark:
    return make_lived_benchmark(ada, ben, cat)


@recorded
def make_lived_benchmark(ada: User, ben: User, cat: User) -> Benchmark:
    """Ben's system in two versions with equal runs on bread, and two of Cat's, one incomplete."""
    benchmark = make_benchmark(ada, ben, cat, main_branch="main", terms="Be fair.", quota_total=9)
    Track.objects.filter(slug="rolls").update(group="small")
    send(
        benchmark, ben, BOTH, version="1", branch="main", commit="c0ffee", facts={"kind": "manual"}
    )
    send(benchmark, ben, {**BOTH, "rolls.run": ROLLS_OTHER}, version="2", description="An oven.")
    send(benchmark, cat, {"bread.run": BOTH["bread.run"], "rolls.run": ROLLS_OTHER}, "stove")
    send(benchmark, cat, {"rolls.run": ROLLS_RUN}, "pan")
    runs.withdraw_run(Run.objects.get(version__system__name="pan"), cat, "a slip")
    send(benchmark, cat, {"rolls.run": ROLLS_RUN.replace("d9", "d12")}, "pan", version="1")
    make_run(benchmark.tracks.in_order()[0], cat, "1 Q0 d1 1\n")
    make_reported(benchmark)
    Overview.objects.create(track=benchmark.tracks.in_order()[0], contact="bread@example.org")
    Benchmark.objects.filter(pk=benchmark.pk).update(baseline=System.objects.get(name="stove"))
    return Benchmark.objects.get(pk=benchmark.pk)


def export(benchmark: Benchmark, folder: Path) -> Path:
    path = folder / f"{benchmark.slug}.zip"
    command("export_benchmark", benchmark.slug, path)
    return path


@pytest.fixture
def travelled(lived: Benchmark, tmp_path: Path) -> Benchmark:
    assert "2 tracks, 3 systems" in command("import_benchmark", export(lived, tmp_path), *AWAY)
    work()
    return Benchmark.objects.get(slug="away")


def board_of(benchmark: Benchmark, user: User, **choice: Any) -> list[tuple[Any, ...]]:
    board = find_benchmark_board(benchmark_sight_of(benchmark, user), BenchmarkChoice(**choice))
    return [
        (row.name, row.version.label, row.team, row.values, row.mean, row.borda, row.is_baseline)
        for row in board.rows + board.incomplete
    ]


def test_every_board_of_a_benchmark_is_the_same_elsewhere(lived, travelled, ada):
    for choice in ({}, {"versions": EVERY_VERSION}, {"measure": "P@5"}):
        assert board_of(travelled, ada, **choice) == board_of(lived, ada, **choice) != []
    assert any(row[-1] for row in board_of(travelled, ada))


def described(benchmark: Benchmark) -> list[Any]:
    versions = SystemVersion.objects.filter(system__benchmark=benchmark).order_by("pk")
    own = (
        benchmark.name,
        benchmark.main_branch,
        benchmark.terms,
        benchmark.quota_total,
        benchmark.joining,
        benchmark.created_at,
    )
    places = list(benchmark.tracks.in_order().values_list("position", "phase", "group"))
    return [own, places] + [
        (
            *(version.system.name, version.system.description, version.system.facts),
            *(version.label, version.commit, version.branch, version.configuration),
            *(version.created_at, version.system.team.created_at),
            {
                (run.team.name, run.sha256, run.state, run.received_at, run.withdrawn_at)
                for run in version.runs.all()
            },
        )
        for version in versions
    ]


def test_systems_keep_their_versions_and_runs(lived, travelled):
    assert described(travelled) == described(lived)
    assert travelled.slug != lived.slug and travelled.invitation != lived.invitation


def test_its_teams_have_their_names(lived, travelled):
    def names(benchmark: Benchmark) -> list[str]:
        rows = benchmark.teams.order_by("pk")
        return [team.name for team in rows]

    assert names(travelled) == names(lived) == ["ben", "cat"]


def test_reported_scores_go_along(lived, travelled):
    def told(benchmark: Benchmark) -> list[Any]:
        names = ("version", "source", "systems", "collections", "num_cells", "created_at")
        rows = benchmark.reported_scores.values_list(*names, "known", "values")
        return [(*row[:-2], *map(bytes, row[-2:])) for row in rows]

    assert told(travelled) == told(lived) and len(told(lived)) == 1


@pytest.mark.parametrize(
    "part", [{"values": "AAAA"}, {"known": "AAAA"}, {"known": "?"}], ids=["scores", "none", "text"]
)
def test_reported_scores_that_do_not_fit_together_are_refused(lived, tmp_path, part):
    path = export(lived, tmp_path)
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    manifest["reported"][0] |= part
    repacked(path, {"manifest.json": json.dumps(manifest).encode()})
    with pytest.raises(CommandError, match="reported scores do not fit together"):
        command("import_benchmark", path, *AWAY)
    assert not Benchmark.objects.filter(slug="away").exists()


ALONE = ("--track", "alone", "--collection", "alone")


def test_one_track_of_a_benchmark_goes_alone_with_its_systems(lived, tmp_path):
    command("export_benchmark", "baking", tmp_path / "bread.zip", "--track", "bread")
    assert "All scores match" in command("import_benchmark", tmp_path / "bread.zip", *ALONE)
    alone = Benchmark.objects.get(slug="alone")
    assert [track.slug for track in alone.tracks.all()] == ["alone"]
    # Ben's two versions have the same run there.
    assert Run.objects.filter(track__slug="alone", version__system__name="oven").count() == 2


def test_archives_of_tracks_alone_are_read(lived, tmp_path):
    export_alone("bread", tmp_path / "bread.zip")
    assert "All scores match" in command("import_benchmark", tmp_path / "bread.zip", *ALONE)
    track = Track.objects.get(slug="alone")
    assert (track.benchmark.name, track.benchmark.terms) == (track.name, "Be fair.")
    # Ben's two versions have the same run there.
    assert track.runs.on_the_board().count() == 2


def test_names_of_one_track_are_none_of_several(lived, tmp_path):
    with pytest.raises(CommandError, match="here are more"):
        command("import_benchmark", export(lived, tmp_path), *ALONE)


def test_people_of_this_site_get_no_rights_by_an_import(travelled, ada, ben, cat):
    assert travelled.owner == ada and not travelled.co_organisers.exists()
    assert not travelled.memberships.exists() and not travelled.join_requests.exists()


def test_tracks_of_one_collection_share_it_elsewhere(lived, ada, ben, tmp_path):
    test = make_track(Collection.objects.get(slug="bread"), "test")
    benchmark_setup.add_track(lived, ada, PlacedTrack(test, phase="test"))
    make_run(Track.objects.get(slug="test"), ben)
    command("import_benchmark", export(lived, tmp_path), *AWAY)
    first, _, last = Benchmark.objects.get(slug="away").tracks.in_order()
    assert first.collection == last.collection != test.collection
    assert last.runs.on_the_board().count() == 1


def test_an_import_that_fails_leaves_nothing(lived, tmp_path):
    path = repacked(export(lived, tmp_path), {"tracks/rolls.zip": b"no archive"})
    with pytest.raises(CommandError, match="damaged"):
        command("import_benchmark", path, *AWAY)
    assert Benchmark.objects.get() == lived and Collection.objects.count() == 2


def test_an_import_that_stops_in_the_middle_leaves_nothing(lived, tmp_path, monkeypatch):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    path = export(lived, tmp_path)
    monkeypatch.setattr("leaderboard.management.commands.import_benchmark.finish_benchmark", stop)
    with pytest.raises(KeyboardInterrupt):
        command("import_benchmark", path, *AWAY)
    assert Benchmark.objects.get() == lived and Collection.objects.count() == 2


def test_archives_with_the_names_of_before_are_read(lived, ada, tmp_path):
    path = export(lived, tmp_path)
    with zipfile.ZipFile(path) as file:
        manifest = file.read("manifest.json")
        track = file.read("tracks/bread.zip")
    (tmp_path / "bread.zip").write_bytes(track)
    with zipfile.ZipFile(tmp_path / "bread.zip") as file:
        of_track = file.read("manifest.json")
    former = {"manifest.json": of_track.replace(b'"overview"', b'"task_page"')}
    changed = {
        "manifest.json": manifest.replace(b'"benchmark_archive"', b'"task_archive"'),
        "tracks/bread.zip": repacked(tmp_path / "bread.zip", former).read_bytes(),
    }
    assert changed["manifest.json"] != manifest and former["manifest.json"] != of_track
    command("import_benchmark", repacked(path, changed), *AWAY)
    assert Overview.objects.get(track__slug="away-bread").contact == "bread@example.org"


def test_names_that_are_taken_are_said(lived, tmp_path):
    path = export(lived, tmp_path)
    with pytest.raises(CommandError, match="Rename with --benchmark"):
        command("import_benchmark", path)
    with pytest.raises(CommandError, match="Rename with --prefix"):
        command("import_benchmark", path, "--benchmark", "away")


def test_organisers_of_all_tracks_download_the_archive(lived, as_ada, as_ben, ada, ben, tmp_path):
    address = "/benchmarks/baking/manage/archive.zip"
    assert address in as_ada.get("/benchmarks/baking/manage/section/archive/").text
    path = tmp_path / "downloaded.zip"
    path.write_bytes(b"".join(as_ada.get(address).streaming_content))
    assert "All scores match" in command("import_benchmark", path, *AWAY)
    assert as_ben.get(address).status_code == 403
