"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = os.environ.get("RANKFIELD_DATA")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests on real collections are deselected where the collections are not."""
    if DATA:
        return
    wanted = [item for item in items if not item.get_closest_marker("data")]
    config.hook.pytest_deselected([item for item in items if item.get_closest_marker("data")])
    items[:] = wanted


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real collections and recorded outputs; for tests marked `data`."""
    assert DATA
    return Path(DATA)
