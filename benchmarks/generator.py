"""Making the inputs; every byte follows from a fixed seed, so all machines measure the same files.

python -m benchmarks.generator L.run L.qrels
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.inputs import CACHE, DOCUMENTS, INPUTS, KINDS, Input, Kind
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
    else:
        *of_kind, column = kind.split(".")
        made = topics_as(wanted, KINDS[of_kind[0]]) if of_kind else topics_of(wanted)
        with open(part, "w") as file:
            file.writelines(topic[("run", "qrels").index(column)] for topic in made)
    part.replace(CACHE / name)


def write_packed(wanted: Input, path: Path) -> None:
    with open(wanted.run, "rb") as plain, gzip.open(path, "wb", 6) as packed:
        shutil.copyfileobj(plain, packed, 2**20)


def topics_as(wanted: Input, kind: Kind) -> Iterator[tuple[str, str]]:
    """Each topic's lines of the run and of the judgments, as this kind of system writes them."""
    random = np.random.default_rng([SEED, *kind.name.encode()])
    places = np.arange(wanted.topics)
    if kind.order == "topics shuffled":
        random.shuffle(places)
    written = (topic_as(wanted, kind, place, random) for place in places.tolist())
    if kind.order != "lines shuffled":
        yield from written
        return
    topics = list(written)
    lines = [line for run, _ in topics for line in run.splitlines(keepends=True)]
    yield "".join(lines[at] for at in random.permutation(len(lines)).tolist()), ""
    yield from (("", qrels) for _, qrels in topics)


def topic_as(wanted: Input, kind: Kind, place: int, random: np.random.Generator) -> tuple[str, str]:
    """One topic's lines of the run and of the judgments."""
    topic = wanted.first_topic + place
    documents = random.choice(DOCUMENTS, 2 * wanted.depth, replace=False, shuffle=False)
    random.shuffle(documents)
    docnos = [DOCNOS[kind.docnos](document) for document in documents.tolist()]
    scores = SCORES[kind.scores](random, wanted.depth)
    first, second, third = (kind.blanks * 3)[:3]
    before, behind = f"{topic}{first}Q0{second}", f"{third}{kind.tag}\n"
    ranking = "".join(
        f"{before}{docno}{first}{rank}{second}{score}{behind}"
        for rank, (docno, score) in enumerate(zip(docnos, scores, strict=False), 1)
    )
    judged = judged_places(random, wanted)
    grades = grades_of(random, len(judged), wanted)
    judgments = (
        f"{topic} 0 {docnos[at]} {grade}\n" for at, grade in zip(judged, grades, strict=True)
    )
    return ranking, "".join(judgments)


def news_docno(number: int) -> str:
    """Docnos of several newspapers, of 11 to 16 characters."""
    paper, day, page = number % 4, number // 400 % 28 + 1, number // 4
    if paper == 0:
        return f"LA{number % 12 + 1:02d}{day:02d}{number % 2 + 89}-{page:07d}"
    if paper == 1:
        return f"FBIS{number % 2 + 3}-{page}"
    return f"FT9{paper}{day}-{page}" if paper == 2 else f"FR94{day:02d}-2-{page:05d}"


DOCNOS: dict[str, Callable[[int], str]] = {
    "numbers": str,
    "news": news_docno,
    "clueweb": lambda n: f"clueweb12-{n % 1900:04d}{('tw', 'wb')[n % 2]}-{n % 97:02d}-{n:07d}",
    "passages": lambda n: f"msmarco_passage_{n % 70:02d}_{n * 31}",
}


def falling(random: np.random.Generator, depth: int, top: float, bottom: float) -> FloatArray:
    """Scores that fall as those of BM25 do: steeply at first, then ever more slowly.

    No two are closer than programs that read 32-bit floats can tell apart.
    """
    steps = random.exponential(1.0, depth) / np.arange(1.0, depth + 1.0) + 1e-9
    share = 1.0 - np.cumsum(steps) / steps.sum()
    least = np.arange(depth)[::-1] * abs(top - bottom) * 1e-5
    return bottom + (top - bottom) * share + least + max(abs(top), abs(bottom)) * 2e-7


def bm25(random: np.random.Generator, depth: int) -> FloatArray:
    """From 4 to 120 for the first document of a topic: long topics score high."""
    top = min(max(random.lognormal(2.9, 0.6), 4.0), 120.0)
    return falling(random, depth, top, top * random.uniform(0.3, 0.6))


def written(values: FloatArray, decimals: int) -> list[str]:
    return [f"{value:.{decimals}f}" for value in values.tolist()]


def all_digits(values: FloatArray) -> list[str]:
    """As Python prints a 32-bit float that became a double."""
    return [repr(value) for value in values.astype("f4").astype("f8").tolist()]


SCORES: dict[str, Callable[[np.random.Generator, int], list[str]]] = {
    "bm25, six decimals": lambda random, depth: written(bm25(random, depth), 6),
    "bm25, four decimals": lambda random, depth: written(bm25(random, depth), 4),
    "bm25, one decimal": lambda random, depth: written(bm25(random, depth), 1),
    "bm25, all digits": lambda random, depth: all_digits(bm25(random, depth)),
    "inner products, six decimals": lambda random, depth: written(
        falling(random, depth, random.uniform(70, 90), random.uniform(55, 65)), 6
    ),
    "cosines, all digits": lambda random, depth: all_digits(
        falling(random, depth, random.uniform(0.6, 0.95), random.uniform(0.2, 0.4))
    ),
    "log-likelihoods, five decimals": lambda random, depth: written(
        falling(random, depth, -random.uniform(4, 6), -random.uniform(7, 12)), 5
    ),
    "logits, all digits": lambda random, depth: all_digits(
        falling(random, depth, random.uniform(2, 11), -random.uniform(9, 11.5))
    ),
    "the depth less the rank": lambda random, depth: [str(depth - place) for place in range(depth)],
}


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
