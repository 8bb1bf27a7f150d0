"""Numbers read by the word are those that Python reads, bit by bit."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import numpy as np
import pytest

from evaluation.reading.words import Text, Unclear


def places(tokens: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array([len(token) for token in tokens])
    ends = np.cumsum(lengths + 1) - 1
    return ends - lengths, ends


def decimals(tokens: list[bytes]) -> np.ndarray:
    return Text(b" ".join(tokens)).decimals(*places(tokens))


def between_two_floats(random: Random) -> str:
    """A decimal at, or right beside, the middle of two neighbouring floats."""
    low = random.uniform(1, 1000)
    middle = (Decimal(low) + Decimal(float(np.nextafter(low, 2000)))) / 2
    return str(middle)[: random.choice((18, 19, 20, 60))]


FORMATS = {
    "fixed": lambda random: f"{random.uniform(-50, 50):.6f}",
    "repr": lambda random: repr(random.uniform(1, 10) * 10 ** random.randint(-3, 9)),
    "float32": lambda random: str(float(np.float32(random.uniform(0, 30)))),
    "whole": lambda random: str(random.randint(-(10**18), 10**18)),
    "point-first": lambda random: "." + str(random.randrange(10**17)),
    "point-last": lambda random: str(random.randrange(10**9)) + ".",
    "signed": lambda random: f"{random.choice((0.0, 1.5, 9.25)):+.3f}".replace("+0", "-0"),
    "exponent": lambda random: f"{random.uniform(-50, 50):.9e}",
    "leading-zeros": lambda random: "000" + f"{random.random():.19f}",
    "above-2^53": lambda random: str(2 * (2**53 + random.randrange(1000)) + 1),
    "between": between_two_floats,
}


@pytest.mark.parametrize("write", FORMATS.values(), ids=list(FORMATS))
def test_a_decimal_is_what_float_reads(write):
    random = Random(1)
    tokens = [write(random).encode() for _ in range(5_000)]
    expected = np.array([float(token) for token in tokens])
    assert decimals(tokens).tobytes() == expected.tobytes()


def test_decimals_beside_32_bit_floats_are_what_float_reads():
    random = Random(4)
    singles = np.array([random.uniform(1, 2) * 2.0 ** random.randint(-14, 12) for _ in range(500)])
    singles = np.concatenate((singles.astype("f4").astype("f8"), 2.0 ** np.arange(-14, 13)))
    near = [singles, *(np.nextafter(singles, to) for to in (0, np.inf))]
    tokens = [b"%.*f" % (18 - len(b"%d" % x), x) for x in np.concatenate(near).tolist()]
    expected = np.array([float(token) for token in tokens])
    assert decimals(tokens).tobytes() == expected.tobytes()


def test_decimals_of_all_formats_may_stand_side_by_side():
    random = Random(2)
    tokens = [random.choice(list(FORMATS.values()))(random).encode() for _ in range(5_000)]
    assert decimals(tokens).tolist() == [float(token) for token in tokens]


@pytest.mark.parametrize(
    "token", [b".", b"-", b"+.", b"nan", b"inf", b"1e999", b"1_0", b"1..2", b"--1", b"1" * 65]
)
def test_what_is_no_finite_decimal_is_unclear(token):
    with pytest.raises(Unclear):
        decimals([b"1.5", token, b"2.5"])


def test_integers_are_those_that_python_reads():
    random = Random(3)
    tokens = [b"%d" % random.randint(-(10**17), 10**17) for _ in range(5_000)] + [b"+7", b"-0"]
    text = Text(b" ".join(tokens))
    assert text.integers(*places(tokens)).tolist() == [int(token) for token in tokens]


@pytest.mark.parametrize("token", [b"-", b"1.0", b"x", b"9" * 19, b"+-1", b":"])
def test_what_is_no_integer_is_unclear(token):
    with pytest.raises(Unclear):
        Text(b"1 " + token).integers(*places([b"1", token]))


@pytest.mark.parametrize("length", [1, 7, 8, 9, 16, 31, 33, 128])
def test_tokens_keep_their_bytes_and_nothing_else(length):
    tokens = [b"x" * length, b"y", b"z" * (length // 2 + 1)]
    starts, ends = places(tokens)
    words = Text(b" ".join(tokens)).tokens(starts, ends - starts)
    assert [row.tobytes().rstrip(b"\0") for row in words] == tokens
