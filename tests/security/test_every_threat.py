"""No threat without a test, and none whose test has gone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.security.threats import ELSEWHERE, THREATS

TESTS = Path(__file__).parent.parent


def names_in(path: Path) -> list[str]:
    tree = ast.parse(path.read_text())
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_every_threat_has_a_test_of_its_number():
    names = [name for path in Path(__file__).parent.glob("*.py") for name in names_in(path)]
    numbers = {int(found[1]) for name in names if (found := re.match(r"test_t(\d\d)_", name))}
    assert numbers == set(THREATS) == set(range(1, 26))


def test_a_test_that_stands_elsewhere_is_there():
    for named in (each for tests in ELSEWHERE.values() for each in tests):
        file, _, name = named.partition("::")
        assert name in names_in(TESTS / file), named


def test_the_policy_lists_every_threat():
    policy = (TESTS.parent / "SECURITY.md").read_text()
    listed = re.findall(r"^(\d+)\. (.+)\.$", policy, re.M)
    assert [(int(number), text.lower()) for number, text in listed] == [
        (number, text.lower()) for number, text in THREATS.items()
    ]
