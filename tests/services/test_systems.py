"""A system is submitted with a real worker: on SQLite, and by Celery on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from rankfield import Site as Client
from tests.builders import DOCUMENTS, OTHER_RUN, QRELS, RUN, TOPICS
from tests.services.machines import Site, until

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

SLUGS = ("plums", "pears")
MAKE_BENCHMARK = """
from leaderboard.actions.default_tracks import build_internal_track
from leaderboard.actions.benchmark_setup import make_benchmark
from leaderboard.models import Collection, Benchmark, User
found = Collection.objects.filter(slug__in=("plums", "pears"))
tracks = [build_internal_track(collection) for collection in found]
make_benchmark(User.objects.get(username="ada"), Benchmark(slug="fruit", name="Fruit"), tracks)
"""


def make_benchmark(site: Site) -> str:
    """Ada's benchmark of two tracks; her token."""
    token = site.manage("create_token", "ada", "--organiser")
    parts = {"topics": TOPICS, "documents": DOCUMENTS, "judgments": QRELS}
    for slug in SLUGS:
        files = {name: SimpleUploadedFile(name, text.encode()) for name, text in parts.items()}
        site.ask("/collections", token, slug=slug, name=slug.capitalize(), **files)
        until(
            lambda slug=slug: site.ask(f"/collections/{slug}", token)["state"] == "ready",
            f"{slug} is ready",
        )
    site.manage("shell", "-c", MAKE_BENCHMARK)
    return token


def test_versions_of_a_folder_are_scored_and_compared(site: Site, tmp_path: Path):
    client = Client(site.url, make_benchmark(site))
    for text in (RUN, OTHER_RUN):
        for slug in SLUGS:
            (tmp_path / f"{slug}.run").write_text(text)
        receipt = client.submit_system("fruit", tmp_path, "press")
        version = client.wait_for_version(receipt, timeout=60)
        assert version.done and not version.is_rejected and version.missing == []
        assert all(run.state == "scored" and run.mean is not None for run in version.runs)
    board = client.connection.get("/api/v1/benchmarks/fruit/board", {"versions": "all"})
    assert [row["label"] for row in board["standings"]] == ["1", "2"]
