"""The hostile files once more, over HTTP to real processes, on both kinds of site."""

from __future__ import annotations

from itertools import cycle

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.actions.test_bad_inputs import FOLDER, PARTS, cases, file_of, judge
from tests.services.conftest import servers_by_day
from tests.services.machines import Site, until

pytestmark = [pytest.mark.data, pytest.mark.services, pytest.mark.xdist_group("services")]

GOOD = {"topics": "topics.tsv", "documents": "docs.jsonl", "judgments": "qrels.txt"}
# One token may change so many things a minute; three of them get through the files in one.
TOKENS = 3


def good(*parts: str) -> dict[str, SimpleUploadedFile]:
    files = {part: FOLDER / "fixtures" / GOOD[part] for part in parts}
    return {part: SimpleUploadedFile(path.name, path.read_bytes()) for part, path in files.items()}


def bring(site: Site, token: str, slug: str, **parts: SimpleUploadedFile) -> dict:
    site.ask("/collections", token, slug=slug, name=slug, **parts)
    states = ("ready", "refused", "preview", "failed")
    until(lambda: site.ask(f"/collections/{slug}", token)["state"] in states, f"{slug} is read")
    return site.ask(f"/collections/{slug}", token)


def open_track(site: Site, token: str) -> None:
    assert bring(site, token, "hostile", **good(*GOOD))["state"] == "ready"
    track = {"slug": "hostile", "name": "Hostile", "collection": "hostile", "judgments": "v1"}
    measures = {"measures": ["AP"], "primary_measure": "AP"}
    site.ask("/tracks", token, {**track, **measures})


@pytest.mark.night
@servers_by_day
def test_every_hostile_run_is_answered_as_its_manifest_says(site: Site):
    tokens = [site.manage("create_token", "hostess", "--organiser") for _ in range(TOKENS)]
    open_track(site, tokens[0])
    sent = {}
    for case, token in zip(cases("run", "archive"), cycle(tokens), strict=False):
        sent[case["id"]] = site.ask("/tracks/hostile/runs", token, file=file_of(case))["id"]
    for case in cases("run", "archive"):
        path = f"/runs/{sent[case['id']]}"
        until(lambda path=path: site.ask(path, tokens[0])["done"], f"{case['id']} is read", 120)
        run = site.ask(path, tokens[0])
        assert run["state"] in ("refused", "scored"), (case["id"], run["state"])
        # All are of one team, and some differ little.
        own = [each for each in run["problems"] if each["code"] not in ("W_SAME_RUN", "W_TAG")]
        judge(case, run["state"] == "refused", own)


@pytest.mark.night
@servers_by_day
def test_every_hostile_part_of_a_collection_is_answered_as_its_manifest_says(site: Site):
    tokens = [site.manage("create_token", "hostess", "--organiser") for _ in range(TOKENS)]
    for case, token in zip(cases("qrels", "topics", "docs"), cycle(tokens), strict=False):
        part = PARTS[case["kind"]]
        # Other topics than those that were judged come without judgments.
        others = [name for name in GOOD if name != part and (name, part) != ("judgments", "topics")]
        found = bring(site, token, f"bad-{case['id']}", **{part: file_of(case)}, **good(*others))
        assert found["state"] in ("refused", "ready"), (case["id"], found["state"])
        judge(case, found["state"] == "refused", found["problems"])
