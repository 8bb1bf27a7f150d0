"""Each profile is opened once, for the faults that are made at every change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.profiles import PROFILES
from tests.faults.stage import Stage
from tests.services.machines import binary


@pytest.fixture(scope="session")
def embedded() -> Iterator[Stage]:
    with PROFILES["embedded"]() as site:
        yield prepared(site)


@pytest.fixture(scope="session")
def servers() -> Iterator[Stage]:
    if binary("initdb") is None or binary("redis-server") is None:
        pytest.skip("no servers on this machine: apt-get install postgresql redis-server")
    with PROFILES["servers"]() as site:
        yield prepared(site)


@pytest.fixture
def stage(request: pytest.FixtureRequest) -> Stage:
    return request.getfixturevalue(request.param)


def prepared(site) -> Stage:
    stage = Stage(site)
    stage.prepare()
    return stage
