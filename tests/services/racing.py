"""Many programs that send runs at the same moment."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from tests.services.machines import Site, until
from tests.services.people import Person

AT_ONCE = 20
QUOTA = 3
# Of the quota so many come as a grant, while the uploads do.
GRANTED = 2
# Pairs of equal runs of a team.
PAIRS = 10
# The deadline lies so far ahead of the first upload, and the last one so far behind it.
AHEAD = timedelta(seconds=1.5)
BEHIND = timedelta(seconds=0.5)
TOPIC = b"1\tsourdough bread\n"


@dataclass(frozen=True)
class Sent:
    """One upload as its sender saw it."""

    began: datetime
    ended: datetime
    status: int
    code: str
    run: str

    @property
    def accepted(self) -> bool:
        return self.status == 201


@dataclass(frozen=True)
class Track:
    site: Site
    slug: str
    closes_at: datetime | None = None

    def sent(self, token: str, tag: str, at: datetime | None = None) -> Sent:
        """Send a run that no other is equal to; at that moment where one is given."""
        file = SimpleUploadedFile("run.txt", f"1 Q0 d1 1 1.0 {tag}\n".encode())
        request = self.site.request(f"/tracks/{self.slug}/runs", token, file=file)
        if at is not None:
            time.sleep(max(0.0, (at - datetime.now(UTC)).total_seconds()))
        began = datetime.now(UTC)
        status, said = answer_to(request)
        return Sent(began, datetime.now(UTC), status, said.get("code", ""), said.get("id", ""))

    def twins_sent(self, token: str) -> list[tuple[str, str]]:
        """Pairs of runs with the same ranking and other scores, by id; both wait for workers."""
        lines = [
            f"1 Q0 d{pair} 1 {score} p{pair}-{score}" for pair in range(PAIRS) for score in (1, 2)
        ]
        with ThreadPoolExecutor(2 * PAIRS) as threads:
            runs = list(threads.map(self.sent_line, [token] * len(lines), lines))
        return list(zip(runs[::2], runs[1::2], strict=True))

    def sent_line(self, token: str, line: str) -> str:
        file = SimpleUploadedFile("run.txt", f"{line}\n".encode())
        return str(self.site.ask(f"/tracks/{self.slug}/runs", token, file=file)["id"])

    def twins_named_by(self, token: str, run: str) -> list[str]:
        """Which runs the warnings of this one name."""
        until(lambda: self.site.ask(f"/runs/{run}", token)["done"], "the run is checked")
        told = self.site.ask(f"/runs/{run}", token)["problems"]
        return [each["found"] for each in told if each["code"] == "W_SAME_RUN"]

    def sent_at_once(self, token: str, name: str = "run") -> list[Sent]:
        return self._sent(token, [None] * AT_ONCE, name)

    def sent_around_the_deadline(self, token: str) -> list[Sent]:
        assert self.closes_at is not None
        first = self.closes_at - AHEAD
        step = (AHEAD + BEHIND) / (AT_ONCE - 1)
        return self._sent(token, [first + number * step for number in range(AT_ONCE)])

    def _sent(
        self, token: str, moments: Sequence[datetime | None], name: str = "run"
    ) -> list[Sent]:
        with ThreadPoolExecutor(len(moments)) as threads:
            tags = (f"{name}-{number}" for number in range(len(moments)))
            return list(threads.map(self.sent, [token] * len(moments), tags, moments))

    def received(self, token: str) -> dict[str, datetime]:
        """When the runs of the team arrived, as the site says."""
        runs = self.site.ask(f"/tracks/{self.slug}/runs?limit=200", token)["items"]
        return {run["id"]: datetime.fromisoformat(run["received_at"]) for run in runs}


def answer_to(request: urllib.request.Request) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def bring_collection(site: Site, organiser: str, slug: str = "races") -> None:
    """The collection of an organiser's races, unless it is there."""
    seen = site.ask("/collections", organiser)["items"]
    if not any(each["slug"] == slug for each in seen):
        topics = SimpleUploadedFile("topics.tsv", TOPIC)
        site.ask("/collections", organiser, slug=slug, name=slug, topics=topics)
    until(lambda: site.ask(f"/collections/{slug}", organiser)["state"] == "ready", "it is ready")


def open_track(site: Site, organiser: str, slug: str, **settings: Any) -> Track:
    measures = {"measures": ["AP"], "primary_measure": "AP", "judgments": None}
    told = {"slug": slug, "name": slug, "collection": "races", **measures}
    # Races are about other limits than that of a day.
    told |= {"quota_per_day": None, **settings}
    site.ask("/tracks", organiser, told)
    return Track(site, slug)


def track_with_quota(site: Site, organiser: str, slug: str, quota: int = QUOTA) -> Track:
    return open_track(site, organiser, slug, quota_total=quota)


def granted_in_between(
    track: Track, organiser: Person, token: str
) -> tuple[list[Sent], list[Sent]]:
    """Twenty uploads, a grant that the organiser gives meanwhile, and twenty more."""
    team = organiser.open(f"/benchmarks/{track.slug}/desk/")
    form = {"team": team_in(team.text), "runs": GRANTED, "today": "in all", "reason": "a race"}
    with ThreadPoolExecutor(1) as other:
        granting = other.submit(organiser.send, f"/benchmarks/{track.slug}/desk/grant/", **form)
        during = track.sent_at_once(token)
        assert granting.result().address.endswith("/desk/")
    return during, track.sent_at_once(token, "later")


def team_in(page: str) -> str:
    """The one team of the form by which runs are granted."""
    found = re.search(r'<select name="team"[^>]*>\s*<option value="(\d+)"', page)
    assert found is not None, page
    return found[1]


def track_that_closes(site: Site, organiser: str, slug: str) -> Track:
    open_track(site, organiser, slug)
    closes_at = datetime.now(UTC) + AHEAD
    site.ask(f"/tracks/{slug}", organiser, {"closes_at": closes_at.isoformat()}, method="PATCH")
    return Track(site, slug, closes_at)


def broken_promises(
    track: Track, sent: Sequence[Sent], received: dict[str, datetime]
) -> Iterator[Sent]:
    """Uploads on the wrong side of the deadline: what counts is when the last byte arrived."""
    assert track.closes_at is not None
    for each in sent:
        whole_in_time = each.ended < track.closes_at
        begun_too_late = each.began >= track.closes_at
        late = each.accepted and received[each.run] >= track.closes_at
        if late or (whole_in_time and not each.accepted) or (begun_too_late and each.accepted):
            yield each
