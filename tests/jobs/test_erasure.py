"""What no click can do: a run, a track or a collection goes for good."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from leaderboard.actions import snapshots
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.jobs import erasure
from leaderboard.models import (
    Assessment,
    Assignment,
    AuditEvent,
    Benchmark,
    Collection,
    Pool,
    Run,
    Score,
    System,
    Track,
)
from tests.benchmark_scene import BOTH, make_benchmark, send
from tests.builders import (
    OTHER_RUN,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    signed_in,
)


def test_without_a_yes_nothing_goes(track, ben):
    make_run(track, ben)
    with pytest.raises(CommandError, match="permanently erases the track bread with 1 run"):
        call_command("erase", "track", "bread")
    assert Track.objects.exists() and Run.objects.exists()


def test_what_is_not_there_is_said(db):
    with pytest.raises(CommandError, match="No such run: abc"):
        call_command("erase", "run", "abc", "--yes")


def test_a_track_goes_with_its_runs_and_the_collection_stays(track, ben):
    make_run(track, ben)
    call_command("erase", "track", "bread", "--yes")
    assert not Track.objects.exists() and not Run.objects.exists() and not Score.objects.exists()
    assert Collection.objects.exists()


def test_a_collection_goes_with_all_that_stands_on_it(track, ben):
    make_run(track, ben)
    call_command("erase", "collection", "bread", "--yes")
    assert not Collection.objects.exists() and not Track.objects.exists()


def test_a_collection_that_is_judged_here_goes_whatever_its_state(track, ada, ben, cat):
    make_assessment(make_pool(track, ada, [make_run(track, ben)]), ada, cat)
    call_command("erase", "collection", "bread", "--yes")
    assert not any(model.objects.exists() for model in (Collection, Pool, Assessment, Assignment))


def test_an_abandoned_import_that_cannot_be_erased_keeps_no_other(ada, monkeypatch, caplog):
    for slug in ("bread", "rolls"):
        make_collection(ada, slug)
    Collection.objects.update(arrives_until=timezone.now() - timedelta(seconds=1))
    erase = erasure.erase_collection
    monkeypatch.setattr(
        erasure, "erase_collection", lambda each: 1 / 0 if each.slug == "bread" else erase(each)
    )
    erasure.erase_abandoned_imports()
    assert [each.slug for each in Collection.objects.all()] == ["bread"]
    assert "erasing collection bread failed" in caplog.text


def test_a_run_goes_and_what_was_published_stays_printed(track, ada, ben, cat):
    erased, kept = make_run(track, ben), make_run(track, cat, OTHER_RUN)
    track.refresh_from_db()
    snapshots.freeze_board(find_board(sight_of(track, ada)), ada, "final")
    call_command("erase", "run", erased.pk, "--yes")
    assert [each.run for each in find_board(sight_of(track, cat)).standings] == [kept]
    page = signed_in(cat).get("/benchmarks/bread/snapshots/final/").text
    assert "ben-bm25" in page and f"/runs/{erased.pk}/" not in page


def test_that_something_was_erased_is_written_down(track, ben):
    run = make_run(track, ben)
    call_command("erase", "run", run.pk, "--yes")
    event = AuditEvent.objects.get(act="erase")
    assert (event.target_id, event.track) == (run.pk, track)


def test_a_benchmark_goes_with_its_systems_and_its_tracks_stand_alone(ada, ben):
    send(make_benchmark(ada, ben), ben, BOTH)
    call_command("erase", "benchmark", "baking", "--yes")
    assert not System.objects.exists()
    assert {one.slug for one in Benchmark.objects.all()} == {"bread", "rolls"}
    assert {track.slug for track in Track.objects.all()} == {"bread", "rolls"}
    assert set(Run.objects.on_the_board().values_list("version", flat=True)) == {None}


def test_of_equal_runs_of_two_versions_one_stays_on_a_board(ada, ben):
    benchmark = make_benchmark(ada, ben)
    for version in ("1", "2"):
        send(benchmark, ben, BOTH, version=version, configuration=version)
    assert Run.objects.on_the_board().count() == 4
    call_command("erase", "benchmark", "baking", "--yes")
    assert sorted(run.track.slug for run in Run.objects.on_the_board()) == ["bread", "rolls"]
    assert Run.objects.exclude(withdrawn_reason="").count() == 2


def test_a_benchmark_outlives_a_track_of_it(ada, ben):
    benchmark = make_benchmark(ada, ben)
    send(benchmark, ben, BOTH)
    call_command("erase", "track", "rolls", "--yes")
    assert [track.slug for track in benchmark.tracks.in_order()] == ["bread"]
    assert System.objects.get().versions.get().runs.count() == 1
    assert signed_in(ben).get("/benchmarks/baking/board/").status_code == 200
