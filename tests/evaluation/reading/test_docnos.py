"""The set of docnos: never a wrong answer, from memory or from its file."""

from io import BytesIO
from pathlib import Path
from random import Random

import numpy as np
import pytest

from evaluation.reading.docnos import (
    Docnos,
    docnos_of,
    hash_all_words,
    slots_of,
    words_of,
    write_docnos,
)


def random_docnos(count: int, seed: int = 7) -> list[bytes]:
    random = Random(seed)
    return [bytes(random.choices(b"ab01-", k=random.randint(1, 20))) for _ in range(count)]


def test_it_answers_as_a_set_does():
    inside, asked = set(random_docnos(20_000)), random_docnos(20_000, seed=8)
    docnos = Docnos.of(inside)
    assert [docno in docnos for docno in asked] == [docno in inside for docno in asked]
    assert docnos.known(np.array(asked)).tolist() == [docno in inside for docno in asked]


def test_it_holds_every_docno_once():
    given = random_docnos(5_000) * 3
    docnos = Docnos.of(given)
    assert len(docnos) == len(set(given))
    assert sorted(docnos) == sorted(set(given))


def test_a_file_that_is_opened_answers_the_same(tmp_path: Path):
    given = [b"%d" % number for number in range(1_000)]
    with (tmp_path / "docnos").open("wb") as file:
        assert write_docnos(given, file) == 1_000
    docnos = Docnos.open(tmp_path / "docnos")
    assert sorted(docnos) == sorted(given)
    assert docnos.known(np.array([b"0", b"999", b"1000", b"-1"])).tolist() == [1, 1, 0, 0]


def test_numbers_are_kept_as_bits_and_what_only_looks_like_one_is_not_a_number():
    random = Random(9)
    inside = {b"%d" % random.randrange(10**5) for _ in range(20_000)} | {b"007", b"D7", b"0"}
    asked = [b"%d" % random.randrange(2 * 10**5) for _ in range(20_000)]
    asked += [
        b"007",
        b"07",
        b"0",
        b"00",
        b"D7",
        b"7D",
        b"+7",
        b"7.",
        b"-7",
        b"99999999",
        b"123456789",
    ]
    file = BytesIO()
    assert write_docnos(sorted(inside), file) == len(inside)
    assert len(file.getvalue()) < 20_000
    docnos = Docnos.within(file.getbuffer())
    assert sorted(docnos) == sorted(inside)
    assert docnos.known(np.array(asked)).tolist() == [docno in inside for docno in asked]
    assert [docno in docnos for docno in asked] == [docno in inside for docno in asked]


def test_numbers_far_apart_are_kept_as_rows():
    docnos = Docnos.of([b"1", b"99999999"])
    assert (sorted(docnos), len(docnos.numbers.bits)) == ([b"1", b"99999999"], 0)


@pytest.mark.parametrize("docno", [b"", b"d1\0", b"d", b"d10", b"D1", b"d1" + b"0" * 200, "d1", 1])
def test_what_only_looks_like_a_docno_is_not_in_it(docno):
    assert docno not in Docnos.of([b"d1"])


def test_docnos_of_one_home_are_told_apart():
    homes = 3 + 1
    numbers = words_of(np.array([b"%d" % number for number in range(1_000)]))
    crowded = docnos_of(numbers[slots_of(hash_all_words(numbers), homes) == homes - 1]).tolist()
    docnos = Docnos.of(crowded[:3])
    assert [docno in docnos for docno in crowded[:6]] == [True] * 3 + [False] * 3
    assert docnos.known(np.array(crowded[:6])).tolist() == [True] * 3 + [False] * 3


def test_the_empty_set_holds_nothing():
    docnos = Docnos.of([])
    assert (len(docnos), list(docnos), b"d1" in docnos) == (0, [], False)
    assert docnos.known(np.array([b"d1"])).tolist() == [False]


@pytest.mark.parametrize("docno", [b"", b"d\0001"])
def test_what_is_no_docno_is_not_taken(docno):
    with pytest.raises(ValueError, match="no docno"):
        write_docnos([docno], BytesIO())


def test_another_file_is_not_opened():
    with pytest.raises(ValueError, match="not a file of docnos"):
        Docnos.within(memoryview(b"RFD1" + bytes(12)))
