"""A crawl of a track with pseudonyms: no page tells what its runs share with another track."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest
from django.http import HttpResponse
from django.test import Client

from leaderboard.models import Run, Track
from tests.builders import OTHER_RUN, RUN, make_run, make_track, signed_in

ADDRESS = re.compile(r'href="(/[^"#]*)|"(/api/v1/[^"]*)"')
ARRIVED = datetime(2026, 3, 4, 13, 37, 41, 271828, tzinfo=UTC)
LEFT_OUT = re.compile(
    r"^/(tracks/)?$|^/(account|static|appearance|collections)|/(submit|join|plain)"
)
# A page with other rows or another order tells no more.
MOST_OF_A_PAGE = 2


@pytest.fixture
def masked(collection, ben, cat) -> Track:
    """An open track with pseudonyms and three runs, of which Ben's file is on another track too."""
    track = make_track(collection, slug="masked", pseudonyms=True)
    for user, text in ((ben, RUN), (cat, OTHER_RUN), (ben, RUN.replace("9.0", "9.5"))):
        make_run(track, user, text)
    Run.objects.update(received_at=ARRIVED, checked_at=ARRIVED, scored_at=ARRIVED)
    make_run(make_track(collection, slug="plain"), ben)
    return track


def crawl(reader: Client, *addresses: str) -> dict[str, str]:
    """Read all pages that links lead to, with tables, feeds and the API."""
    waiting, read, times = list(addresses), {}, Counter[str]()
    while waiting:
        address = html.unescape(waiting.pop())
        path = address.partition("?")[0]
        if address in read or times[path] == MOST_OF_A_PAGE or LEFT_OUT.search(path):
            continue
        times[path] += 1
        read[address] = read_text(reader.get(address))
        waiting += (one or other for one, other in ADDRESS.findall(read[address]))
    return read


def read_text(answer: HttpResponse) -> str:
    content = answer.getvalue() if answer.streaming else answer.content
    return content.decode(errors="replace")


def addresses_of(runs: Iterable[Run]) -> list[str]:
    pages = (
        "board/",
        "history/",
        "history/?format=csv",
        "board/?format=csv",
        "feed.xml",
        "topics/",
        "runs/",
    )
    found = [f"/benchmarks/masked/{page}" for page in pages]
    found += [f"/api/v1/tracks/masked{page}" for page in ("", "/runs", "/board")]
    return found + [at for run in runs for at in (f"/runs/{run.pk}/", f"/api/v1/runs/{run.pk}")]


def test_no_page_tells_a_stranger_hash_time_or_team(masked, client):
    runs = list(Run.objects.filter(track=masked))
    pages = crawl(client, *addresses_of(runs))
    secrets = {"13:37", "271828", *(run.sha256 for run in runs), "ben-bm25"}
    assert len(pages) > 40
    assert not {(at, secret) for at, text in pages.items() for secret in secrets if secret in text}


def test_a_team_reads_its_own_hash_and_no_other(masked, ben, cat):
    [own] = Run.objects.filter(track=masked, team__name="cat")
    others = Run.objects.filter(track=masked, team__name="ben")
    pages = crawl(signed_in(cat), *addresses_of([own, *others]))
    assert own.sha256 in pages[f"/api/v1/runs/{own.pk}"]
    hashes = {run.sha256 for run in others}
    assert not {(at, sha256) for at, text in pages.items() for sha256 in hashes if sha256 in text}


def test_runs_of_a_day_have_no_order(masked, client):
    for second, run in enumerate(Run.objects.filter(track=masked).order_by("-pk")):
        Run.objects.filter(pk=run.pk).update(received_at=ARRIVED + timedelta(seconds=second))
    first = client.get("/api/v1/tracks/masked/runs?limit=2").json()
    rest = client.get(f"/api/v1/tracks/masked/runs?limit=2&after={first['next']}").json()
    listed = [run["id"] for run in first["items"] + rest["items"]]
    assert listed == sorted(listed) and len(listed) == 3
    assert {run["received_at"] for run in first["items"]} == {"2026-03-04T00:00:00Z"}


def test_a_late_run_stays_late_under_its_pseudonym(masked, client):
    Track.objects.filter(pk=masked.pk).update(closes_at=ARRIVED - timedelta(hours=1))
    runs = client.get("/api/v1/tracks/masked/runs").json()["items"]
    assert [run["late"] for run in runs] == [True] * 3
