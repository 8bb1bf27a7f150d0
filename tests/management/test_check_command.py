"""`python -m evaluation check` says offline what the server says, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluation.__main__ import main
from leaderboard.models import ApiToken
from tests.builders import work

pytestmark = pytest.mark.data

TRACK = {
    "slug": "same",
    "name": "Same",
    "collection": "same",
    "judgments": "v1",
    "measures": ["nDCG@10"],
    "primary_measure": "nDCG@10",
}


@pytest.fixture
def api(ada, settings) -> Client:
    settings.API_WRITES_PER_MINUTE = 1000
    _, secret = ApiToken.objects.issue(ada, ["read", "submit", "organise"])
    return Client(headers={"Authorization": f"Bearer {secret}"})


def sent(path: Path) -> SimpleUploadedFile:
    return SimpleUploadedFile(path.name, path.read_bytes())


def open_track(api: Client, topics: Path, documents: Path, judgments: Path) -> None:
    parts = {"topics": sent(topics), "documents": sent(documents), "judgments": sent(judgments)}
    api.post("/api/v1/collections", {"slug": "same", "name": "Same", **parts})
    work()
    assert api.post("/api/v1/tracks", TRACK, content_type="application/json").status_code == 201


def by_server(api: Client, run: Path) -> str:
    answer = api.post("/api/v1/tracks/same/runs", {"file": sent(run)})
    work()
    url = answer.json()["url"]
    problems = b"".join(api.get(f"{url}/problems").streaming_content).decode()
    # What the server knows of a team's earlier runs the command cannot know.
    api.delete(url)
    return problems


def by_command(capsys: pytest.CaptureFixture, run: Path, topics: Path, documents: Path) -> str:
    known = ["--topics", str(topics), "--docnos", str(documents)]
    main(["check", str(run), *known, "--cutoff", "10", "--format", "json"])
    return capsys.readouterr().out


def bad_runs(folder: Path) -> list[Path]:
    cases = json.loads((folder / "manifest.json").read_text())["cases"]
    files = [folder / case["file"] for case in cases if case["kind"] in ("run", "archive")]
    return [file for file in files if file.exists()]


def test_of_hostile_runs(api, data, capsys):
    good = data / "badinputs" / "fixtures"
    topics, documents = good / "topics.tsv", good / "docs.jsonl"
    open_track(api, topics, documents, good / "qrels.txt")
    for run in bad_runs(data / "badinputs"):
        said = by_server(api, run)
        assert by_command(capsys, run, topics, documents) == said, run.name


def test_of_the_faulty_cranfield_runs(api, data, capsys):
    clean = data / "data" / "cranfield" / "clean"
    topics, documents = clean / "topics.trec", clean / "docs.trec"
    open_track(api, topics, documents, clean / "qrels.graded.txt")
    for run in sorted(clean.parent.glob("faulty/*.run.gz")):
        said = by_server(api, run)
        assert said, run.name
        assert by_command(capsys, run, topics, documents) == said, run.name
