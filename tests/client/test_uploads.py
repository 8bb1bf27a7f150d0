"""Large files go to a site in pieces, and continue where a connection broke."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from leaderboard.models import Benchmark, PartialUpload, Run
from rankfield import RejectedError, UnreachableError, uploads
from rankfield.__main__ import main
from tests.benchmark_scene import ROLLS_RUN, make_benchmark
from tests.builders import OTHER_RUN, RUN
from tests.client.conftest import InProcess

PIECE = 40


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch) -> None:
    """Every file is large; `my.run` goes in several pieces."""
    monkeypatch.setattr(uploads, "PIECE", PIECE)
    monkeypatch.setattr(uploads, "FIRST_PAUSE", 0)
    monkeypatch.setattr("rankfield.site.LARGE", 0)


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "my.run"
    path.write_text(RUN)
    return path


def pieces_of(network: InProcess) -> int:
    return sum(call.startswith("PATCH") for call in network.calls)


def test_a_large_run_arrives_in_pieces(track, bens_site, network, run_file):
    run = bens_site.wait(bens_site.submit("bread", run_file))
    assert run.state == "scored"
    assert pieces_of(network) == -(-len(RUN) // PIECE)


def test_after_a_cut_it_continues_with_what_arrived(track, bens_site, network, run_file):
    network.cuts = [10, 0, 25]
    bens_site.submit("bread", run_file)
    assert Run.objects.get().size == len(RUN)
    assert network.calls.count("POST /api/v1/tracks/bread/runs") == 1


def test_a_lost_answer_sends_no_piece_twice(track, bens_site, network, run_file):
    network.cuts = [PIECE]
    bens_site.submit("bread", run_file)
    assert pieces_of(network) == -(-len(RUN) // PIECE)


def test_another_process_continues_where_the_first_ended(track, bens_site, network, run_file):
    network.cuts = [PIECE, *[0] * 5]
    with pytest.raises(UnreachableError):
        bens_site.submit("bread", run_file)
    assert PartialUpload.objects.get().received == PIECE
    network.calls.clear()
    bens_site.submit("bread", run_file)
    assert pieces_of(network) == -(-len(RUN) // PIECE) - 1
    assert Run.objects.count() == 1


def test_a_limit_is_no_reason_to_try_again(track, bens_site, network, run_file, settings):
    settings.RUN_UPLOAD_LIMIT = 10
    with pytest.raises(RejectedError) as rejected:
        bens_site.submit("bread", run_file)
    assert (rejected.value.code, len(network.calls)) == ("E_SIZE", 1)


def test_a_site_without_uploads_in_pieces_gets_a_form(track, bens_site, monkeypatch, run_file):
    monkeypatch.setattr("rankfield.uploads.UNKNOWN", (403,))
    Benchmark.objects.update(joining="invitation")
    with pytest.raises(RejectedError, match="invitation"):
        bens_site.submit("bread", run_file)


def test_the_bar_shows_how_much_has_arrived(track, bens_site, run_file, capsys, monkeypatch):
    monkeypatch.setattr(uploads, "MIB", 100)
    bens_site.submit("bread", run_file, progress=True)
    shown = capsys.readouterr().err.split("\r")
    assert "[........................] 0 of 2 MiB, my.run" in shown
    assert any(bar.startswith(f"[{'#' * 24}] 2 of 2 MiB, my.run") for bar in shown)


def test_large_files_of_a_system_arrive_in_pieces(ada, ben, bens_site, tmp_path):
    make_benchmark(ada, ben)
    (tmp_path / "oven").mkdir()
    for name, text in {"bread.run.gz": OTHER_RUN, "rolls.run.gz": ROLLS_RUN}.items():
        (tmp_path / "oven" / name).write_bytes(gzip.compress(text.encode()))
    bens_site.submit_system("baking", tmp_path / "oven", "oven")
    assert {run.track.slug for run in Run.objects.all()} == {"bread", "rolls"}


def test_the_command_sends_a_large_file_in_pieces(track, bens_site, network, run_file, monkeypatch):
    monkeypatch.setenv("RANKFIELD_URL", bens_site.connection.url)
    monkeypatch.setenv("RANKFIELD_TOKEN", bens_site.connection.token)
    network.cuts = [10]
    assert main(["submit", "bread", str(run_file)]) == 0
    assert pieces_of(network) > 3
