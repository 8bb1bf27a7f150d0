"""Runs as submitted are packed after a year, and come back to the byte."""

from __future__ import annotations

import gzip
import os
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from leaderboard.analysis.health_checks import find_changed_files
from leaderboard.analysis.storage_use import PACKED_RUNS, measure_storage
from leaderboard.archives.zip_files import read_chunks
from leaderboard.infrastructure import packed_files
from leaderboard.jobs import cleanup
from leaderboard.models import Job, Overview, Run, Track
from leaderboard.scoring.files import check_unchanged, read_ranked_run
from tests.builders import RUN, make_run, work
from tests.pages.test_organised_runs import read_zip

OLD = timezone.now() - timedelta(days=366)


def stored_names(run: Run) -> set[str]:
    """The files as submitted; the ranking file has a name of its own."""
    names = default_storage.listdir(f"runs/{run.pk}")[1]
    return {name for name in names if not name.startswith("ranking-")}


def a_year_later(*runs: Run) -> None:
    """The sweep comes by, and workers do what it asks for."""
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(received_at=OLD)
    cleanup.sweep()
    work()
    for run in runs:
        run.refresh_from_db()


def let_an_hour_pass(run: Run) -> None:
    for name in default_storage.listdir(f"runs/{run.pk}")[1]:
        path = default_storage.path(f"runs/{run.pk}/{name}")
        os.utime(path, (OLD.timestamp(), OLD.timestamp()))
    cleanup.sweep()


@pytest.fixture
def run(track, ben) -> Run:
    return make_run(track, ben)


def test_a_run_of_a_year_ago_is_packed_and_downloaded_as_it_was(run, as_ben):
    before = run.file.name
    a_year_later(run)
    assert run.file.name == f"{before}.packed"
    assert default_storage.size(run.file.name) < len(RUN)
    answer = as_ben.get(f"/runs/{run.pk}/file/")
    assert b"".join(answer.streaming_content).decode() == RUN
    assert answer["Content-Length"] == str(len(RUN))


def test_the_file_before_is_deleted_once_no_row_names_it(run):
    a_year_later(run)
    assert len(stored_names(run)) == 2
    let_an_hour_pass(run)
    assert stored_names(run) == {run.file.name.rsplit("/")[-1]}


def test_a_packed_run_is_read_again_as_it_was(run):
    rankings = read_ranked_run(run).rankings
    a_year_later(run)
    check_unchanged(run)
    assert list(read_ranked_run(run).rankings) == list(rankings)
    assert list(find_changed_files()) == []
    assert b"".join(read_chunks(run.file)).decode() == RUN


def test_packed_runs_that_organisers_choose_are_downloaded_as_they_were(run, as_ada):
    a_year_later(run)
    chosen = {"run": [run.pk], "act": "download"}
    files = read_zip(as_ada.post("/benchmarks/bread/manage/runs/act/", chosen))
    assert files[f"ben-bm25-{run.pk}.run"] == RUN.encode()


def test_a_packed_baseline_is_handed_out_as_it_was(track, ada, client):
    baseline = make_run(track, ada)
    a_year_later(baseline)
    Track.objects.update(baseline=baseline)
    Overview.objects.create(track=track)
    address = "/benchmarks/bread/data/baseline.run"
    assert client.get(address).getvalue() == RUN.encode()
    part = client.get(address, headers={"Range": "bytes=2-5"})
    assert (part.status_code, part.getvalue()) == (206, RUN.encode()[2:6])


def test_a_run_of_this_year_stays(run):
    before = run.file.name
    cleanup.sweep()
    assert not Job.objects.filter(kind="pack_runs").exists()
    assert Run.objects.get().file.name == before


def test_a_run_that_was_submitted_packed_stays(track, ben):
    run = make_run(track, ben, gzip.compress(RUN.encode()))
    before = run.file.name
    a_year_later(run)
    assert run.file.name == before and len(stored_names(run)) == 1


def test_a_copy_that_does_not_come_back_is_not_kept(run, caplog):
    before = run.file.name
    Run.objects.update(sha256="0" * 64)
    a_year_later(run)
    assert run.file.name == before and len(stored_names(run)) == 1
    assert f"the file of run {run.pk} is not packed" in caplog.text


def test_a_file_that_would_stay_as_large_is_left_alone(run, monkeypatch):
    monkeypatch.setattr(packed_files, "WORTH", 0.1)
    before = run.file.name
    a_year_later(run)
    assert run.file.name == before and len(stored_names(run)) == 1


def test_what_is_packed_already_is_not_packed_again(run, track, ben):
    """So a job that is killed goes on with the next run."""
    a_year_later(run)
    Job.objects.filter(kind="pack_runs").delete()
    other = make_run(track, ben, RUN.replace("9.0", "9.5"))
    before = run.file.name
    a_year_later(run, other)
    assert run.file.name == before and other.file.name.endswith(".packed")


def test_old_runs_are_looked_at_once_a_month(run):
    a_year_later(run)
    Run.objects.update(file=run.file.name.removesuffix(".packed"))
    cleanup.sweep()
    assert Job.objects.filter(kind="pack_runs").count() == 1


def test_the_page_of_storage_names_what_is_packed(run):
    size = len(RUN)
    a_year_later(run)
    let_an_hour_pass(run)
    [use] = measure_storage().benchmarks
    [packed] = [each for each in use.kinds if each.kind == PACKED_RUNS]
    assert packed.count == 1 and packed.size < size == use.counted
