"""Cranfield by command and by API, on SQLite alone and on PostgreSQL with Redis and two workers."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.scoring.test_cranfield import MEASURES, RUNS, recorded
from tests.services.conftest import servers_by_day
from tests.services.machines import Site, until

pytestmark = [pytest.mark.data, pytest.mark.services, pytest.mark.xdist_group("services")]


def load(site: Site, cranfield: Path, slug: str, *more: str) -> str:
    return site.manage(
        *("load_collection", slug, "--topics", str(cranfield / "clean/topics.trec")),
        *("--documents", str(cranfield / "cran.all.1400.xml")),
        *("--judgments", str(cranfield / "clean/qrels.binary.txt"), "--version", "v1", "--yes"),
        *more,
    )


def submit(site: Site, token: str, cranfield: Path, name: str) -> str:
    file = cranfield / "runs" / f"{name}.run.gz"
    upload = SimpleUploadedFile(file.name, file.read_bytes())
    return site.ask("/tracks/cranfield/runs", token, file=upload)["id"]


@servers_by_day
@pytest.mark.night
def test_cranfield_is_scored_as_trec_eval_does(site: Site, data: Path):
    cranfield = data / "data" / "cranfield"
    token = site.manage("create_token", "ada", "--organiser").strip()
    load(site, cranfield, "cranfield", "--owner", "ada")
    track = {
        "slug": "cranfield",
        "name": "Cranfield",
        "collection": "cranfield",
        "judgments": "v1",
        "measures": list(MEASURES),
        "primary_measure": "AP",
        "disclosure": "open",
    }
    site.ask("/tracks", token, track)
    runs = {name: submit(site, token, cranfield, name) for name in RUNS}
    for name, run in runs.items():
        until(lambda run=run: site.ask(f"/runs/{run}", token)["done"], f"{name} is scored", 120)
        assert scores_shown(site, token, run) == scores_recorded(cranfield, name)


def scores_shown(site: Site, token: str, run: str) -> dict[tuple[str, str], str]:
    means = site.ask(f"/runs/{run}", token)["scores"]
    shown = {(theirs, "all"): f"{means[ours]:.4f}" for ours, theirs in MEASURES.items()}
    for ours, theirs in MEASURES.items():
        topics = site.ask(f"/runs/{run}/topics?measure={ours}", token)["topics"]
        shown |= {(theirs, topic["number"]): f"{topic['score']:.4f}" for topic in topics}
    return shown


def scores_recorded(cranfield: Path, name: str) -> dict[tuple[str, str], str]:
    kept = set(MEASURES.values())
    return {key: value for key, value in recorded(cranfield, name).items() if key[0] in kept}
