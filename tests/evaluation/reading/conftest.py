"""The compiled scanner for tests of reading, and the same tests without it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from ctypes import CDLL
from unittest.mock import patch

import pytest

from evaluation.reading.fast import blocks
from evaluation.reading.fast.scanner import open_library
from scanner.rankfield_scanner import compile_library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> CDLL:
    """The library of the scanner, compiled now."""
    if shutil.which(os.environ.get("CC", "cc")) is None:
        pytest.skip("no C compiler")
    path = tmp_path_factory.mktemp("scanner") / "scanner.so"
    compile_library(path, "-Werror")
    library = open_library(path)
    assert library
    return library


@pytest.fixture(params=["numpy", "compiled"])
def both_ways(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a test twice: without the scanner, and with it as the first way of reading lines."""
    library = request.getfixturevalue("library") if request.param == "compiled" else None
    with patch.object(blocks, "library_in_use", lambda: library):
        yield
