"""Making the inputs; every byte follows from a fixed seed, so all machines measure the same files.

python -m benchmarks.generator L.run L.qrels
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.inputs import CACHE, DOCUMENTS, INPUTS, LAYOUTS, Input
from evaluation.ragged import FloatArray, IntArray
from evaluation.reading.docnos import write_docnos

SEED = 20_261_121
TAG = "bench"


def make(name: str) -> None:
    """The file of that name; it appears whole or not at all."""
    CACHE.mkdir(exist_ok=True)
    wanted = INPUTS[name.split(".")[0]]
    kind = name.removeprefix(f"{wanted.name}.")
    part = CACHE / f"{name}.{os.getpid()}.part"
    if kind == "run.gz":
        write_packed(wanted, part)
    elif kind == "docnos":
        part.write_text("".join(f"{docno}\n" for docno in range(DOCUMENTS)))
    elif kind == "known-docnos":
        with open(part, "wb") as table:
            write_docnos((b"%d" % docno for docno in range(DOCUMENTS)), table)
    elif kind in ("run", "qrels"):
        column = 0 if kind == "run" else 1
        with open(part, "w") as file:
            file.writelines(topic[column] for topic in topics_of(wanted))
    else:
        layout = next(each for each in LAYOUTS if kind == each.replace(" ", "-") + ".run")
        lines = wanted.run.read_bytes().splitlines()
        part.write_bytes(b"\n".join(written_as(layout, lines)) + b"\n")
    part.replace(CACHE / name)


def write_packed(wanted: Input, path: Path) -> None:
    with open(wanted.run, "rb") as plain, gzip.open(path, "wb", 6) as packed:
        shutil.copyfileobj(plain, packed, 2**20)


def written_as(layout: str, lines: list[bytes]) -> list[bytes]:
    if layout == "tabs":
        return [line.replace(b" ", b"\t") for line in lines]
    if layout == "several blanks":
        return [line.replace(b" ", b"  ", 2).replace(b" bench", b" \t bench") for line in lines]
    if layout == "shuffled lines":
        order = np.random.default_rng(SEED).permutation(len(lines))
        return [lines[place] for place in order.tolist()]
    return [_with_seventeen_digits(line) for line in lines]


def _with_seventeen_digits(line: bytes) -> bytes:
    """A third of the score: the order stays, and the decimals never end."""
    *before, score, tag = line.split(b" ")
    return b" ".join((*before, b"%.17g" % (float(score) / 3), tag))


def topics_of(wanted: Input) -> Iterator[tuple[str, str]]:
    """Each topic's lines of the run, and of the judgments."""
    random = np.random.default_rng([SEED, wanted.topics])
    for place in range(wanted.topics):
        topic = str(wanted.first_topic + place)
        # As many again as are retrieved are there to be judged and missed.
        documents = random.choice(DOCUMENTS, 2 * wanted.depth, replace=False, shuffle=False)
        random.shuffle(documents)
        docnos = docnos_of(documents, wanted)
        scores = scores_of(np.sort(random.gamma(2.0, 0.6, wanted.depth))[::-1] + 1.0, wanted)
        judged = judged_places(random, wanted)
        grades = grades_of(random, len(judged), wanted)
        ranking = "".join(
            f"{topic} Q0 {docno} {rank} {score} {TAG}\n"
            for rank, (docno, score) in enumerate(zip(docnos, scores, strict=False), 1)
        )
        judgments = "".join(
            f"{topic} 0 {docnos[at]} {grade}\n" for at, grade in zip(judged, grades, strict=True)
        )
        unanswered = wanted.ragged and place == 0
        unjudged = wanted.ragged and place == wanted.topics - 1
        yield "" if unanswered else ranking, "" if unjudged else judgments


def docnos_of(documents: IntArray, wanted: Input) -> list[str]:
    if not wanted.ragged:
        return [str(n) for n in documents.tolist()]
    parts = ((n // 10**6, n % 97, n % 10**5) for n in documents.tolist())
    return [f"clueweb09-en{crawl:04d}-{file:02d}-{place:05d}" for crawl, file, place in parts]


def scores_of(scores: FloatArray, wanted: Input) -> list[str]:
    # Below 8 no two numbers of six decimals are one 32-bit float, so all programs rank alike.
    scores = np.minimum(scores, 7.9)
    if wanted.scores == "32-bit floats":
        return [repr(score) for score in scores.astype("f4").astype("f8").tolist()]
    if wanted.scores == "six decimals with ties":
        scores = scores.round(4)
    digits = 4 if wanted.scores == "four decimals" else 6
    return [f"{score:.{digits}f}" for score in scores.tolist()]


def judged_places(random: np.random.Generator, wanted: Input) -> list[int]:
    """Places in the ranking, more of them high up; from `depth` on: not retrieved."""
    number = 1 + int(random.poisson(wanted.judged - 1))
    places = dict.fromkeys((random.exponential(0.45, number) * wanted.depth).astype(int).tolist())
    return [place for place in places if place < 2 * wanted.depth]


def grades_of(random: np.random.Generator, number: int, wanted: Input) -> list[int]:
    """Judged 1 where there is one grade, else from 0, each grade half as likely as the last."""
    if wanted.top_grade == 1:
        return [1] * number
    shares = 0.5 ** np.arange(wanted.top_grade + 1)
    grades = random.choice(wanted.top_grade + 1, number, p=shares / shares.sum())
    if wanted.ragged:
        grades[random.random(number) < 0.01] = -2
    chosen: list[int] = grades.tolist()
    return chosen


if __name__ == "__main__":
    for name in sys.argv[1:]:
        make(name)
