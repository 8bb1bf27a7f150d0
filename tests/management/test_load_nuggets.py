"""`manage.py load_nuggets`: nuggets and marks of a track from the command line."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.models import MarkLayer, NuggetVersion, Track
from tests.builders import make_run, make_track
from tests.scoring.test_answer_runs import ANSWERS
from tests.scoring.test_marks import ASSIGNMENTS, NUGGETS


@pytest.fixture
def track(collection, ben) -> Track:
    track = make_track(collection, run_kind="answers")
    make_run(track, ben, ANSWERS)
    return track


def load(path: Path, text: str, *options: str) -> str:
    path.write_text(text)
    out = StringIO()
    call_command("load_nuggets", "bread", path, *options, stdout=out, stderr=out)
    return out.getvalue()


def test_nuggets_and_marks_are_loaded(track, tmp_path):
    assert load(tmp_path / "n", NUGGETS) == "bread now has 4 nuggets as v1.\n"
    said = load(tmp_path / "m", ASSIGNMENTS, "--marks", "nuggets", "--version", "people")
    assert said == "bread now has 4 marks in layer people, by people.\n"
    assert MarkLayer.objects.get().nuggets == NuggetVersion.objects.get()


def test_a_rejected_file_leaves_nothing(track, tmp_path):
    with pytest.raises(CommandError, match="Its nuggets are refused"):
        load(tmp_path / "n", "{}\n")
    assert not NuggetVersion.objects.exists()


def test_marks_need_nuggets(track, tmp_path):
    with pytest.raises(CommandError, match="bread has no nuggets"):
        load(tmp_path / "m", ASSIGNMENTS, "--marks", "nuggets")
