"""The ranking file: what a run wrote is read again, also from files of earlier versions."""

import gzip
import struct
import zlib
from io import BytesIO

import pytest

from evaluation.reading.containers import unpacked
from evaluation.reading.runs.reader import read_run, read_run_plainly
from leaderboard.runs.rankings import FiledRankings, Rankings, write_ranking_file


def old_file(rankings: dict[bytes, tuple[list[bytes], list[float]]]) -> BytesIO:
    """A file as version RFR2 wrote it, byte by byte."""
    data, places = b"RFR2", b""
    for docnos, scores in rankings.values():
        block = zlib.compress(struct.pack(f"<{len(scores)}d", *scores) + b"\n".join(docnos), 1)
        places += struct.pack("<3q", len(data), len(block), len(docnos))
        data += block
    tops = zlib.compress(b"\0".join(b"\n".join(docnos[:20]) for docnos, _ in rankings.values()))
    numbers = b"\n" + b"".join(number + b"\n" for number in rankings)
    lengths = struct.pack("<3q", len(tops), len(places), len(numbers))
    return BytesIO(data + tops + places + numbers + lengths)


def test_a_file_of_the_version_before_is_read():
    docnos = [b"d%d" % n for n in range(30)]
    file = old_file({b"7": (docnos, [30.5 - n for n in range(30)]), b"x-1": ([b"d9"], [-0.0])})
    rankings = Rankings(file)
    assert list(rankings) == ["7", "x-1"]
    assert rankings.ranking("7").docnos == docnos
    assert rankings.ranking("7").scores.tolist() == [30.5 - n for n in range(30)]
    assert rankings.listing("x-1").docnos() == rankings.tops["x-1"] == ["d9"]
    assert rankings.tops["7"] == rankings.listing("7").docnos(20)
    assert rankings.run("bm25").rankings[b"7"].docnos == docnos


def run_file(docno: str, topics: int, depth: int) -> bytes:
    lines = (
        f"{topic} Q0 {docno % (topic * rank)} {rank} {50 - rank / 7} bm25\n"
        for topic in range(1, topics + 1)
        for rank in range(1, depth + 1)
    )
    return "".join(lines).encode()


@pytest.mark.parametrize("docno", ["%d", "clueweb09-en%04d-00-00001", "a%s" + 110 * "z"])
def test_a_file_written_while_reading_holds_what_the_plain_reader_finds(docno):
    text = run_file(docno, 40, 500)
    file = BytesIO()
    read = read_run(BytesIO(text), store=lambda: FiledRankings(file))
    read.rankings.writer.finish()
    found, rankings = Rankings(file), read_run_plainly(BytesIO(text)).rankings
    assert list(found) == [topic.decode() for topic in rankings]
    for topic, ranking in rankings.items():
        ours = found.ranking(topic.decode())
        assert ours.docnos == ranking.docnos
        assert ours.scores.tolist() == ranking.scores.tolist()
        assert found.tops[topic.decode()] == [docno.decode() for docno in ranking.docnos[:20]]


def test_a_run_read_line_by_line_has_the_same_file():
    text = run_file("d%d", 30, 40)
    filed, plain = BytesIO(), BytesIO()
    read_run(BytesIO(text), store=lambda: FiledRankings(filed)).rankings.writer.finish()
    write_ranking_file(read_run_plainly(BytesIO(text)), plain)
    assert Rankings(filed).tops == Rankings(plain).tops
    assert all(
        Rankings(filed).listing(topic).text == Rankings(plain).listing(topic).text
        for topic in Rankings(filed)
    )


def test_more_rankings_than_may_wait_are_written_in_order():
    text = run_file("%d", 300, 1000)
    file = BytesIO()
    packed = BytesIO(gzip.compress(text, 0))
    read = read_run(unpacked(packed), store=lambda: FiledRankings(file))
    read.rankings.writer.finish()
    assert len(read.rankings.places) > 5
    assert Rankings(file).ranking("300").docnos == [b"%d" % (300 * n) for n in range(1, 1001)]
    assert Rankings(file).run("bm25").num_retrieved == 300_000


class FullDisk(BytesIO):
    def write(self, data, /):
        if self.tell() > 100_000:
            raise OSError(28, "No space left on device")
        return super().write(data)


def test_a_disk_that_is_full_is_an_error_of_the_reading():
    with pytest.raises(OSError, match="No space left"):
        rankings = read_run(
            BytesIO(run_file("%d", 300, 1000)), store=lambda: FiledRankings(FullDisk())
        ).rankings
        rankings.writer.finish()
