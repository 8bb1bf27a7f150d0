"""Whoever joins a team and the judging at the same moment gets into one of them."""

from __future__ import annotations

import urllib.error
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.services import judging_scene
from tests.services.browsers import Browser
from tests.services.machines import Site

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

NAMES = [f"racer-{number}" for number in range(12)]
SCENE = f"""{Path(judging_scene.__file__).read_text()}
make("judge", slug="strait")
for name in {NAMES}:
    user = User.objects.create(username=name)
    user.set_password(f"{{name}}-s-word")
    user.save()
"""
WHO = "select u.username from leaderboard_{} m join leaderboard_user u on u.id = m.user_id {}"


def join(browser: Browser, path: str) -> None:
    """Send the form of a page; a refusal is an answer too."""
    form = {"csrfmiddlewaretoken": browser.token_of(path), "team_name": path}
    with_form = urllib.parse.urlencode(form).encode()
    try:
        browser.opener.open(browser.url + path, with_form, 60).read()
    except urllib.error.HTTPError as error:
        assert error.code in (403, 404, 409, 422), error.code


@pytest.mark.night
def test_nobody_gets_into_both(site: Site) -> None:
    site.manage("shell", "-c", SCENE)
    ((code,),) = site.rows(
        "select a.invitation from leaderboard_assessment a "
        "join leaderboard_track t on t.id = a.track_id where t.slug = 'strait'"
    )
    paths = ["/benchmarks/strait/join/", f"/judging/join/{code}/"]
    tries = [(Browser(site.url, name), path) for name in NAMES for path in paths]
    with ThreadPoolExecutor(len(tries)) as threads:
        list(threads.map(lambda each: join(*each), tries))
    of_track = "join leaderboard_track t on t.benchmark_id = m.benchmark_id where t.slug = 'strait'"
    members = site.rows(WHO.format("membership", of_track))
    assessors = site.rows(WHO.format("assessor", "where u.username like 'racer-%'"))
    assert sorted(members + assessors) == sorted((name,) for name in NAMES)
