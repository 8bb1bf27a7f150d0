"""A site that runs is backed up, and comes back elsewhere with every row and every file."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.builders import RUN, upload
from tests.services.conftest import servers_by_day
from tests.services.machines import ServerSite, Site, SqliteSite, folder, until
from tests.services.scene import scored_run

pytestmark = [
    pytest.mark.services,
    pytest.mark.night,
    pytest.mark.xdist_group("services"),
]

TABLES = {
    "runs": "select id, tag, state, sha256, file, ranking_file from leaderboard_run",
    "scores": "select measure, mean, by_topic from leaderboard_score",
    "judgments": "select topic_id, docno, grade from leaderboard_judgment",
    "people": "select username, password from leaderboard_user",
    "tokens": "select digest, scopes from leaderboard_apitoken",
    "record": "select act, target_kind, target_id from leaderboard_auditevent",
    "history": "select app, name from django_migrations",
}


# An hour passes for a site: workers look again, and its last backup is old.
PASS_TIME = """
from datetime import timedelta
from django.conf import settings
from django.db.models import F
from leaderboard.models import Job
Job.objects.filter(kind="back_up").update(created_at=F("created_at") - timedelta(hours=2))
(settings.RANKFIELD_HOME / "cache" / "swept").unlink(missing_ok=True)
"""
numbers = count()


@contextmanager
def host_like(site: Site) -> Iterator[Site]:
    """Another host: an empty folder, and where the site has PostgreSQL an empty database."""
    with folder() as home:
        if isinstance(site, ServerSite):
            host = ServerSite(home, site.postgres, site.redis)
            host.environment["DATABASE_URL"] = site.postgres.with_database(f"host{next(numbers)}")
            yield host
        else:
            yield SqliteSite(home)


@pytest.fixture
def elsewhere(site: Site) -> Iterator[Site]:
    with host_like(site) as host:
        yield host


@pytest.fixture
def scheduled(site: Site) -> Iterator[Site]:
    """A site of its own whose workers write backups, of which they keep two."""
    with host_like(site) as host, folder() as backups:
        schedule = {"BACKUP_FOLDER": str(backups), "BACKUP_HOURS": "1", "BACKUP_KEEP": "2"}
        host.environment |= schedule
        try:
            host.open()
            yield host
        finally:
            host.close()


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


@pytest.mark.night
@servers_by_day
def test_a_scheduled_backup_comes_back_by_the_command_of_the_page(
    scheduled: Site, elsewhere: Site
) -> None:
    backups = Path(scheduled.environment["BACKUP_FOLDER"])
    [first] = until(lambda: whole(backups), "a worker has written the first backup")
    token = scheduled.manage("create_token", "keeper", "--organiser")
    run = scored_run(scheduled, token, "kept")
    for _ in range(2):
        before = whole(backups)[-1]
        scheduled.manage("shell", "-c", PASS_TIME)
        until(lambda before=before: whole(backups)[-1] > before, "an hour later there is another")
    until(lambda: first not in whole(backups), "the oldest is deleted")
    assert len(whole(backups)) == 2 and "2 backups, the last of" in scheduled.manage("doctor")
    assert "1 run" in elsewhere.manage("restore", str(whole(backups)[-1]))
    for name, sql in TABLES.items():
        assert rows_of(elsewhere, sql) == rows_of(scheduled, sql), name
    assert "BAD" not in elsewhere.manage("doctor", "--hash")
    lives_on(elsewhere, token, run)


def whole(backups: Path) -> list[Path]:
    """The backups that are complete, the oldest first."""
    return sorted(path.parent for path in backups.glob("rankfield-*Z/manifest.json"))


def rows_of(site: Site, sql: str) -> set[str]:
    return {repr(row) for row in site.rows(sql)}


def lives_on(site: Site, token: str, run: str) -> None:
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
