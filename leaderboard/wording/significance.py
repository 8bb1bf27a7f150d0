"""What a test is called where its result stands."""

from __future__ import annotations

from evaluation.significance import TESTS
from evaluation.significance.randomisation import DRAWS, EXACT_UP_TO
from leaderboard.display.numbers import count

SIGN_FLIP = "sign_flip"


def describe_test(test: str, topics: int) -> str:
    """A test by its name, with what decides its p.

    >>> describe_test("t", 225)
    'two-sided paired t-test'
    >>> describe_test("sign_flip", 25)
    'two-sided paired randomisation test (sign flips), all sign patterns'
    """
    if test != SIGN_FLIP:
        return TESTS[test]
    draws = "all sign patterns" if topics <= EXACT_UP_TO else f"{count(DRAWS)} draws"
    return f"{TESTS[test]}, {draws}"
