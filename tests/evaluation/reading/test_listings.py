"""Documents are found in listings where a plain look at every line finds them."""

import random

import pytest

from evaluation.reading.runs.listings import find_among

ALPHABETS = {"ascii": "ab1-", "wide": "aé漢", "long": "abcdefgh" * 30}


def plainly(listings, wanted):
    return [
        (place, rank, wanted.index(docno))
        for place, listing in enumerate(listings)
        for rank, docno in enumerate(listing.split(b"\n"), start=1)
        if docno in wanted
    ]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("seed", range(5))
def test_documents_are_found_where_a_plain_look_finds_them(alphabet, seed):
    chance = random.Random(seed)
    letters = ALPHABETS[alphabet]
    every = ["".join(chance.choices(letters, k=chance.randint(1, 60))).encode() for _ in range(300)]
    every = list(dict.fromkeys(every))
    listings = [b"\n".join(chance.sample(every, chance.choice([0, 1, 40]))) for _ in range(20)]
    wanted = [*chance.sample(every, 30), b"nowhere"]
    found = find_among(listings, wanted)
    rows = zip(found.listing.tolist(), found.rank.tolist(), found.docno.tolist(), strict=True)
    assert list(rows) == plainly(listings, wanted)


@pytest.mark.parametrize(
    ("listings", "wanted"), [([], []), ([], [b"a"]), ([b"a"], []), ([b"", b""], [b"a"])]
)
def test_nothing_is_found_where_nothing_is(listings, wanted):
    assert not len(find_among(listings, wanted).rank)


def test_a_docno_that_begins_like_another_is_not_taken_for_it():
    found = find_among([b"doc-12345\ndoc-1234\ndoc-123456789"], [b"doc-1234"])
    assert found.rank.tolist() == [2]
