"""`load_reported`: scores that others report become a version of their table."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.models import AuditEvent, ReportedScores, Track
from tests.builders import render_result

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "results" / "lab__one" / "r1"
    place.mkdir(parents=True)
    (place / "a.json").write_bytes(render_result("a", 0.5))
    (place / "b.json").write_bytes(b"[]")
    return tmp_path / "results"


def load(track: Track, folder: Path, **options: object) -> str:
    out = StringIO()
    options = {"source": "results.example.org", "stderr": StringIO(), **options}
    call_command("load_reported", track.benchmark.slug, str(folder), stdout=out, **options)
    return out.getvalue()


def test_results_are_stored_with_their_groups(track, folder, tmp_path):
    (tmp_path / "groups.csv").write_text("collection,group\na,Retrieval\n")
    told = load(track, folder, groups=tmp_path / "groups.csv")
    assert "reported scores v1: 1 of 1 system on 1 collection. 1 file ignored." in told
    assert ReportedScores.objects.get().collections == [["a", "Retrieval"]]
    assert AuditEvent.objects.filter(target_kind="reportedscores", act="upload").exists()


def test_a_second_import_is_the_next_version(track, folder):
    assert "v1" in load(track, folder) and "v2" in load(track, folder)


@pytest.mark.parametrize(
    ("table", "told"),
    [("name,group\na,b\n", "line 1"), ("collection,group\na\n", "line 2")],
)
def test_a_table_of_groups_that_cannot_be_read_is_refused(track, folder, tmp_path, table, told):
    (tmp_path / "groups.csv").write_text(table)
    with pytest.raises(CommandError, match=told):
        load(track, folder, groups=tmp_path / "groups.csv")
    assert not ReportedScores.objects.exists()


def test_a_folder_without_results_is_refused(track, tmp_path):
    with pytest.raises(CommandError, match="E_FORMAT"):
        load(track, tmp_path)
