"""Two sites, alike in what they do: all in one folder, and on servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.services.machines import (
    Postgres,
    Redis,
    ServerSite,
    Site,
    SqliteSite,
    binary,
    folder,
    own_postgres,
    own_redis,
)

# Settings of a process that a test starts.
collect_ignore = ["stepped.py"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL of the tests' own."""
    if binary("initdb") is None:
        pytest.skip("no initdb on this machine: apt-get install postgresql")
    with own_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    """A Redis of the tests' own."""
    if binary("redis-server") is None:
        pytest.skip("no redis-server on this machine: apt-get install redis-server")
    with own_redis() as server:
        yield server


@pytest.fixture(scope="session")
def sqlite_site() -> Iterator[SqliteSite]:
    """`manage.py serve` with nothing configured: SQLite, and a worker with its own broker."""
    with ExitStack() as stack:
        site = SqliteSite(stack.enter_context(folder()))
        stack.callback(site.close)
        site.open()
        yield site


@pytest.fixture(scope="session")
def server_site(postgres: Postgres, redis: Redis) -> Iterator[ServerSite]:
    """Web and two workers on PostgreSQL and Redis."""
    with ExitStack() as stack:
        site = ServerSite(stack.enter_context(folder()), postgres, redis)
        stack.callback(site.close)
        site.open()
        yield site


# The other profile goes the same way by night.
servers_by_day = pytest.mark.parametrize(
    "site",
    ["server_site", pytest.param("sqlite_site", marks=pytest.mark.night)],
    indirect=True,
)


@pytest.fixture(params=["server_site", pytest.param("sqlite_site", marks=pytest.mark.night)])
def site(request: pytest.FixtureRequest) -> Site:
    """Each of the two; browsers see the one without servers by day."""
    return request.getfixturevalue(request.param)
