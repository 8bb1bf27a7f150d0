"""A site that runs is backed up, and comes back elsewhere with every row and every file."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator

import pytest

from tests.builders import RUN, upload
from tests.services.conftest import servers_by_day
from tests.services.machines import Postgres, ServerSite, Site, SqliteSite, folder, until
from tests.services.scene import scored_run

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

TABLES = {
    "runs": "select id, tag, state, sha256, file, ranking_file from leaderboard_run",
    "scores": "select measure, mean, by_topic from leaderboard_score",
    "judgments": "select topic_id, docno, grade from leaderboard_judgment",
    "people": "select username, password from leaderboard_user",
    "tokens": "select digest, scopes from leaderboard_apitoken",
    "record": "select act, target_kind, target_id from leaderboard_auditevent",
    "history": "select app, name from django_migrations",
}


@pytest.fixture
def elsewhere(site: Site) -> Iterator[Site]:
    """Another host: an empty folder, and where the site has PostgreSQL an empty database."""
    with folder() as home:
        if isinstance(site, ServerSite):
            url = other_database(site.postgres)
            yield Site(home, environment={"DATABASE_URL": url, "REDIS_URL": site.redis.url})
        else:
            yield SqliteSite(home)


def other_database(postgres: Postgres) -> str:
    postgres.run("createdb", "-h", str(postgres.folder), "-U", "rankfield", "restored")
    return postgres.url.replace("/rankfield?", "/restored?")


@servers_by_day
def test_a_site_comes_back_elsewhere(site: Site, elsewhere: Site) -> None:
    token = site.manage("create_token", "keeper", "--organiser")
    run = scored_run(site, token, "kept")
    copy = elsewhere.home / "backup"
    assert f"{copy}: " in site.manage("backup", str(copy))
    assert "Restored the backup of" in elsewhere.manage("restore", str(copy))
    for name, sql in TABLES.items():
        assert rows_of(elsewhere, sql) >= rows_of(site, sql), name
    assert "BAD" not in elsewhere.manage("doctor", "--hash")
    if isinstance(elsewhere, SqliteSite):
        lives_on(elsewhere, token, run)


def rows_of(site: Site, sql: str) -> set[str]:
    return {repr(row) for row in site.rows(sql)}


def lives_on(site: SqliteSite, token: str, run: str) -> None:
    """Tokens count, files come, and new runs are scored."""
    try:
        site.open()
        request = site.request(f"/runs/{run}/file", token)
        assert urllib.request.urlopen(request).read().decode() == RUN
        other = upload("run", RUN.replace("9.0", "9.5"))
        new = site.ask("/tracks/kept/runs", token, file=other)["id"]
        until(lambda: site.ask(f"/runs/{new}", token)["state"] == "scored", "a new run is scored")
    finally:
        site.close()
