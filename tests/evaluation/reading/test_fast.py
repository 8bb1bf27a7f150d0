"""The fast reader beside the plain one: the same verdict, values and problems, to the last bit."""

from __future__ import annotations

import gzip
from dataclasses import astuple
from io import BytesIO
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np
import pytest

from evaluation.problems import Refused
from evaluation.reading.containers import unpacked
from evaluation.reading.docnos import Docnos
from evaluation.reading.fast import blocks
from evaluation.reading.fast.alike import uniform_lines_in
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.runs import fast_reader
from evaluation.reading.runs.rankings import Block, Ranking, StoredRankings, has_equal
from evaluation.reading.runs.reader import (
    RunRules,
    read_run,
    read_run_leniently,
    read_run_leniently_plainly,
    read_run_plainly,
)
from evaluation.reading.words import Text
from tests.evaluation.reading.test_mutations import mutated

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("both_ways")]

MUTATIONS = 20_000
# Files of so many bytes wait for the night.
LARGE = 50_000
ANY = RunRules()
TOPICS = (b"301", b"302", b"0a-very-long-topic-number")
DOCNOS = [b"D%d" % number for number in range(20)] + [b"clueweb09-en0040-83-38415"]


def outcome(read, text: bytes, rules: RunRules) -> tuple:
    """Everything that a reader says of a file."""
    try:
        run = read(BytesIO(text), rules)
    except Refused as refusal:
        return "refused", list(map(astuple, refusal.problems)), refusal.problems.totals()
    rankings = [(t, r.docnos, r.scores.tobytes()) for t, r in run.rankings.items()]
    problems = list(map(astuple, run.problems))
    return run.tag, rankings, run.lines, problems, run.problems.totals(), run.metadata


def assert_same(text: bytes, rules: RunRules = ANY, *, block: int = blocks.BLOCK) -> None:
    with patch.object(blocks, "BLOCK", block):
        assert outcome(read_run, text, rules) == outcome(read_run_plainly, text, rules)


def is_fast(text: bytes, rules: RunRules = ANY) -> bool:
    return isinstance(read_run(BytesIO(text), rules).rankings, StoredRankings)


def lines(random: Random, score="{:.4f}", topics=TOPICS, parting=" ", end="\n") -> list[bytes]:
    """The lines of a run; some scores are equal, some ranks are wrong, some topics unordered."""
    result = []
    for topic in topics:
        scores = [random.uniform(-30, 30) for _ in range(random.randint(1, 12))]
        scores += random.choices(scores, k=3)
        if random.random() < 0.7:
            scores.sort(reverse=True)
        docnos = random.sample(DOCNOS, len(scores))
        for rank, (docno, value) in enumerate(zip(docnos, scores, strict=True), 1):
            columns = (topic.decode(), "Q0", docno.decode(), str(rank), score.format(value), "bm25")
            result.append((parting.join(columns) + end).encode())
    return result


LAYOUTS = {
    "fixed": {},
    "repr": {"score": "{!r}"},
    "exponents": {"score": "{:.5e}"},
    "general": {"score": "{:g}"},
    "whole": {"score": "{:.0f}"},
    "seventeen": {"score": "{:.17f}"},
    "many-digits": {"score": "{:.40f}"},
    "signed": {"score": "{:+.3f}"},
    "tabs": {"parting": "\t"},
    "several-blanks": {"parting": " \t  "},
    "crlf": {"end": "\r\n"},
    "trailing-blanks": {"end": "  \n"},
    "blank-lines": {"end": "\n\n"},
}


@pytest.mark.parametrize("tied", range(9))
def test_topics_that_rise_only_by_their_ties_are_read_the_same(tied):
    scores = [9.0] * tied + [float(8 - n) for n in range(8 - tied)]
    rising = [b"302 Q0 D%d %d %d bm25\n" % (n, n, n) for n in range(8)]
    text = b"".join(b"301 Q0 D%d %d %.1f bm25\n" % (n, n, scores[n]) for n in range(8))
    assert_same(text + b"".join(rising))


@pytest.mark.parametrize("tied", range(9))
def test_tied_topics_in_order_beside_one_with_other_ranks_are_read_the_same(tied):
    scores = [9.0] * tied + [float(8 - n) for n in range(8 - tied)]
    text = b"".join(b"301 Q0 D%d %d %.1f bm25\n" % (n, n, scores[n]) for n in range(8))
    lowest_first = [b"302 Q0 D%d %d %d bm25\n" % (n, (n + 1) % 8, n < 7) for n in range(8)]
    assert_same(text + b"".join(lowest_first))


def test_ties_are_sorted_part_by_part_like_all_at_once():
    random = np.random.default_rng(5)
    sizes = [1, 2, 3000, *random.integers(1, 40, 100)]
    scores = np.repeat(np.arange(len(sizes), 0, -1.0), sizes)
    docnos = [b"a-long-docno-%d" % number for number in random.permutation(len(scores))]
    ranking = Block.of({b"1": Ranking(docnos, scores)}).in_scoring_order().ranking(0)
    assert ranking.docnos == Ranking.in_scoring_order(docnos, scores).docnos


def test_a_zero_keeps_its_sign_among_ties():
    assert_same(b"7 Q0 a 1 0 t\n7 Q0 c 2 -0 t\n7 Q0 b 3 0.0 t\n7 Q0 d 4 -0.0 t\n")


@pytest.mark.parametrize("block", [64, 300, blocks.BLOCK])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=list(LAYOUTS))
def test_every_layout_is_read_fast_and_the_same(layout, block):
    random = Random(5)
    for _ in range(20):
        text = b"".join(lines(random, **layout))
        assert_same(text, RunRules(cutoff=3), block=block)
        assert is_fast(text)


@pytest.mark.parametrize("block", [64, 300, blocks.BLOCK])
def test_shuffled_lines_are_read_fast_and_the_same(block):
    random = Random(6)
    for _ in range(50):
        shuffled = lines(random)
        random.shuffle(shuffled)
        assert_same(b"".join(shuffled), block=block)
        assert is_fast(b"".join(shuffled))


@pytest.mark.parametrize(
    "rules",
    [
        RunRules(topics=frozenset(TOPICS), docnos=frozenset(DOCNOS)),
        RunRules(topics=TOPICS, docnos=Docnos.of(DOCNOS)),
        RunRules(topics=TOPICS[:2], docnos=frozenset(DOCNOS[:19]), depth=8),
        RunRules(docnos=Docnos.of(DOCNOS[:19]), unknown_documents="drop", duplicates="keep_best"),
        RunRules(topics=[*TOPICS, b"9"], missing_topics="refuse"),
        RunRules(topics=[*TOPICS, b"9"], tag="bm25", line=60, cutoff=2),
        RunRules(tag="other"),
    ],
    ids=["sets", "docnos", "strict", "drop", "missing", "tag-line", "other-tag"],
)
def test_every_rule_is_kept_the_same(rules):
    random = Random(7)
    for _ in range(40):
        assert_same(b"".join(lines(random)), rules, block=300)


@pytest.mark.parametrize(
    "head",
    [b"\xef\xbb\xbf", b"# by hand\n", b"\n \t\n", b"\r\n", b"# a\r\n#b\n\n", b"\xef\xbb\xbf\n# a\n",
     b"# ir_metadata.start\n# tag: bm25\n# ir_metadata.end\n", b"#\n" * 1001],
)  # fmt: skip
def test_what_stands_before_the_columns_is_read_the_same(head):
    text = head + b"".join(lines(Random(8)))
    assert_same(text)
    assert_same(text.rstrip())
    assert_same(text.replace(b"\n", b"\r\n"), block=200)


@pytest.mark.parametrize("line", [b"", b"# a comment", b"301 Q0 D1 1 2 bm25 x", b"\x0b", b"\xff"])
def test_a_line_in_the_middle_is_taken_the_same(line):
    before, after = lines(Random(9)), lines(Random(10), topics=(b"7", b"8"))
    for block in (100, blocks.BLOCK):
        assert_same(b"".join([*before, line + b"\n", *after]), block=block)


@pytest.mark.long
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.night) for seed in (1, 2, 3))]
)
def test_mutated_runs_are_taken_the_same(seed):
    random = Random(seed)
    rules = RunRules(topics=set(TOPICS), docnos=Docnos.of(DOCNOS), depth=13, cutoff=3)
    for number in range(MUTATIONS // 4):
        layout = random.choice(list(LAYOUTS.values()))
        text = mutated(b"".join(lines(random, topics=TOPICS[::2], **layout)), random)
        assert_same(text, (ANY, rules)[number % 2], block=random.choice((600, blocks.BLOCK)))


LINE = b"30%d Q0 %b %d 9.%d t\n"
EVEN = b"".join(LINE % (t, b"%c" % (97 + n), n, 9 - n) for t in (1, 2) for n in range(8))
UNEVEN = b"".join(LINE % (t, b"%d" % (7 + n), n, 9 - n) for t in (1, 2) for n in range(8))
LONG = b"".join(
    b"301 Q0 %b %d %b t\n" % (b"%d" % (7 + n), n, repr(1 / (n + 1.5) - 0.2).encode())
    for n in range(8)
)
PIECES = [b"", *(bytes([byte]) for byte in b"\0\t\n 0.-\x7f\xff")]


@pytest.mark.long
@pytest.mark.parametrize("piece", PIECES, ids=repr)
@pytest.mark.parametrize("text", [EVEN, UNEVEN, LONG], ids=["even", "uneven", "long"])
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.night)])
def test_every_byte_of_lines_that_are_alike_is_looked_at(text, piece, step):
    """By day a third of the pieces is tried at each place, by night every piece."""
    assert uniform_lines_in(Text(text), 6).rows is not None
    for place in range(PIECES.index(piece) % step, len(text), step):
        assert_same(text[:place] + piece + text[place:])
        assert_same(text[:place] + piece + text[place + 1 :])


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_every_byte_of_heads_that_are_alike_is_looked_at(piece):
    head = b"302 Q0 "
    for place in range(len(head)):
        assert_same(EVEN.replace(head, head[:place] + piece + head[place + 1 :]))


@pytest.mark.long
def test_mutated_runs_are_taken_the_same_leniently():
    random = Random(12)
    for _ in range(MUTATIONS // 10):
        text = b"".join(lines(random, **random.choice(list(LAYOUTS.values()))))
        text = mutated(text, random) if random.random() < 0.8 else text
        plainly = outcome(lambda file, _: read_run_leniently_plainly(file), text, ANY)
        assert outcome(lambda file, _: read_run_leniently(file), text, ANY) == plainly


def test_clean_runs_are_read_fast_leniently_too():
    text = b"".join(lines(Random(13)))
    assert isinstance(read_run_leniently(BytesIO(text)).rankings, StoredRankings)


def test_a_compressed_run_is_read_fast_and_the_same():
    text = b"".join(lines(Random(11)))
    packed = gzip.compress(text)
    run = read_run(unpacked(BytesIO(packed)))
    assert isinstance(run.rankings, StoredRankings)
    assert_same(text)


def test_a_topic_longer_than_a_block_is_read_fast():
    text = b"".join(b"301 Q0 D%d %d %d bm25\n" % (i, i, -i) for i in range(1, 900))
    assert_same(text, block=64)
    assert is_fast(text)


def test_clean_judgments_are_read_as_lines_are():
    text = b"".join(b"%d 0 D%d %d\n" % (i % 7, i, i % 5 - 1) for i in range(2_000))
    plainly = read_qrels(BytesIO(b"\n" + text))
    for block in (64, blocks.BLOCK):
        with patch.object(blocks, "BLOCK", block):
            grades = fast_reader.read_grades(BytesIO(text), 4096, 127, None, None)
        assert list(grades.items()) == list(plainly.grades.items())


@pytest.mark.parametrize("shift", [56, 44, 1], ids=["none", "some", "all"])
def test_two_equal_hashes_are_found_wherever_they_stand(shift):
    """None of them, some, or all have the first bits in common with others."""
    random = Random(14)
    different = np.array(random.sample(range(1 << min(64 - shift, 20)), 200), np.uint64) << shift
    assert not has_equal(different)
    for _ in range(500):
        keys = different.copy()
        one, other = random.sample(range(len(keys)), 2)
        keys[one] = keys[other]
        assert has_equal(keys)


def paths_under(folder: Path, *, large: bool) -> list[Path]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in paths if (path.stat().st_size > LARGE) == large)


@pytest.mark.data
@pytest.mark.parametrize("large", [False, pytest.param(True, marks=pytest.mark.night)])
def test_all_runs_of_real_collections_are_taken_the_same(data: Path, large: bool):
    paths = paths_under(data, large=large)
    assert len(paths) > 40
    for path in paths:
        try:
            text = unpacked(BytesIO(path.read_bytes())).read()
        except Refused:
            continue
        assert_same(text, block=blocks.BLOCK)
