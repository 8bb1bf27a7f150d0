"""How often corrected means cover: python -m tests.evaluation.corrected_simulations --help.

The frame is the first ten documents of the runs of DL 2019 in RANKFIELD_DATA that NIST judged,
the machine UMBRELA with GPT-4. NIST's grades are what people would say, so the truth is known;
each sample is drawn anew from the seed [SEED, number].

labels: the share of means, and of differences of pairs, that the intervals for these topics cover.
topics: the same for topics like these: 43 topics are drawn with replacement, and the truth is the
mean over all. found: how often the run that the machine re-ranked is found to gain, alone and
among all runs; and how often an honest run is among all.
"""

from __future__ import annotations

import argparse
import gzip
import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np

from evaluation.correction import (
    CorrectedBoard,
    Estimates,
    MeasureParts,
    SampleFrame,
    compare_gains,
    correct_board,
    draw_sample,
    scale_topics,
    split_measure,
)
from evaluation.correction.planning import pick_pairs
from evaluation.judging import Judgments, prepare
from evaluation.measures import Measure, parse_measure
from evaluation.pooling import Pool, depth_pool
from evaluation.pooling.pools import Grades
from evaluation.problems import Problems
from evaluation.ragged import FloatArray
from evaluation.reading.judging.qrels import Qrels, read_qrels_leniently
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run, read_run_leniently

SEED = 20_263
DEPTH = 10
MEASURES = ("P(rel=2)@10", "DCG@10", "RBP(rel=2)", "nDCG@10")
RERANKED = "re-ranked by the machine"


@dataclass(frozen=True)
class Scene:
    """The runs of DL 2019, the grades of people and of the machine, and the frame."""

    runs: list[Run]
    people: Grades
    machine: Grades
    frame: Pool

    @property
    def topics(self) -> list[bytes]:
        return sorted(self.people)


def read_scene(data: Path, reranked: bool = False) -> Scene:
    """Read DL 2019; documents without NIST's grade are left out of the rankings."""
    folder = data / "data" / "dl19"
    people, machine = (
        read_grades(folder / name) for name in ("nist.qrels", "machine/umbrela-gpt4.qrels")
    )
    runs = [keep_judged(read_file(path), people) for path in sorted((folder / "runs").iterdir())]
    if reranked:
        runs.append(rerank(runs[len(runs) // 2], machine))
    return Scene(runs, people, machine, depth_pool(runs, DEPTH, sorted(people)))


def read_file(path: Path) -> Run:
    return read_run_leniently(BytesIO(gzip.decompress(path.read_bytes())))


def read_grades(path: Path) -> Grades:
    with path.open("rb") as file:
        return read_qrels_leniently(file).grades


def keep_judged(run: Run, grades: Grades) -> Run:
    kept = {topic: Ranking(*filter_judged(run.rankings[topic], of)) for topic, of in grades.items()}
    return Run(run.tag, kept, 0, Problems())


def filter_judged(ranking: Ranking, of: dict[bytes, int]) -> tuple[list[bytes], FloatArray]:
    places = [place for place, docno in enumerate(ranking.docnos) if docno in of]
    return [ranking.docnos[place] for place in places], ranking.scores[places]


def rerank(run: Run, machine: Grades) -> Run:
    """The run with its documents in the order of the machine's grades."""
    rankings = {}
    for topic, ranking in run.rankings.items():
        grades = np.array([machine[topic].get(docno, 0) for docno in ranking.docnos])
        order = np.argsort(-grades, kind="stable")
        docnos = [ranking.docnos[place] for place in order]
        rankings[topic] = Ranking(docnos, -np.arange(len(order), dtype=np.float64))
    return Run(RERANKED, rankings, 0, Problems())


@dataclass(frozen=True)
class Setting:
    """A measure on a scene: its parts and the machine's judgments."""

    measure: Measure
    judgments: Judgments
    parts: MeasureParts

    @classmethod
    def of(cls, scene: Scene, text: str) -> Setting:
        measure = parse_measure(text)
        judgments = prepare(Qrels(dict(scene.machine), Problems()), scene.topics, 3)  # type: ignore[arg-type]
        return cls(measure, judgments, split_measure(measure, 3, DEPTH))


def correct(scene: Scene, setting: Setting, labels: int, number: int) -> CorrectedBoard:
    """The board corrected by one sample; with as many labels as documents, the truth."""
    sample, _ = draw_sample(scene.frame, scene.machine, labels, SEED + number)
    frame = SampleFrame.of(sample, scene.topics)
    grades = (frame.grade(scene.machine), frame.grade(scene.people))
    scales = scale_topics(setting.measure, setting.judgments)
    return correct_board(frame, frame.place(scene.runs, DEPTH), setting.parts, scales, *grades)


def covers(found: Estimates, truth: FloatArray) -> FloatArray:
    return np.abs(found.value - truth) <= found.margin + 1e-12


def simulate(scene: Scene, text: str, labels: int, samples: int) -> dict[str, float]:
    """The shares of covered means and differences, and the median half-widths."""
    setting = Setting.of(scene, text)
    rows, others = pick_pairs(len(scene.runs))
    truth = correct(scene, setting, len(scene.frame), 0).correction.by_labels.value
    differences = truth[rows] - truth[others]
    found = []
    for number in range(samples):
        correction = correct(scene, setting, labels, number).correction
        of_pairs = correction.subtract(rows, others)
        drawn = draw_topics(scene, number)
        over = correct(drawn, Setting.of(drawn, text), labels, number).correction
        pairs_over = over.subtract_over_topics(rows, others)
        found.append(
            [
                covers(correction.by_labels, truth).mean(),
                np.median(correction.by_labels.margin),
                covers(of_pairs, differences).mean(),
                np.median(of_pairs.margin),
                covers(over.over_topics(), truth).mean(),
                np.median(over.over_topics().margin),
                covers(pairs_over, differences).mean(),
                np.median(pairs_over.margin),
            ]
        )
    return dict(zip(COLUMNS, np.mean(found, axis=0).tolist(), strict=True))


COLUMNS = [
    f"{what} of {of}{over}"
    for over in ("", ", topics")
    for of in ("means", "differences")
    for what in ("cover", "half-width")
]


def draw_topics(scene: Scene, number: int) -> Scene:
    """The scene with as many topics, drawn with replacement under new names."""
    topics = scene.topics
    drawn = np.random.default_rng([SEED, number]).choice(len(topics), len(topics))
    names = {b"%03d" % place: topics[topic] for place, topic in enumerate(drawn)}
    people, machine = (
        {name: of[topic] for name, topic in names.items()} for of in (scene.people, scene.machine)
    )
    runs = [
        Run(run.tag, {name: run.rankings[topic] for name, topic in names.items()}, 0, Problems())
        for run in scene.runs
    ]
    return Scene(runs, people, machine, depth_pool(runs, DEPTH, sorted(people)))


def simulate_gains(scene: Scene, text: str, labels: int, samples: int) -> dict[str, float]:
    """How often the last run, which the machine re-ranked, is found, and an honest one is."""
    setting = Setting.of(scene, text)
    found = []
    for number in range(samples):
        board = correct(scene, setting, labels, number)
        gains = compare_gains(board.correction, setting.parts.highest)
        any_honest = (gains.adjusted[:-1] <= 0.05).any()
        found.append([gains.p[-1] <= 0.05, gains.adjusted[-1] <= 0.05, any_honest, gains.any_run])
    names = ("named", "among all", "an honest run", "power printed")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.evaluation.corrected_simulations")
    parser.add_argument("--samples", type=int, default=150)
    parser.add_argument("--labels", type=int, nargs="+", default=[200, 500, 1000])
    parser.add_argument("--measures", nargs="+", default=MEASURES)
    parser.add_argument("--gains", action="store_true", help="of a run that the machine re-ranked")
    options = parser.parse_args()
    scene = read_scene(Path(os.environ["RANKFIELD_DATA"]), reranked=options.gains)
    simulation = simulate_gains if options.gains else simulate
    for text in options.measures:
        for labels in options.labels:
            cell = simulation(scene, text, labels, options.samples)
            numbers = [f"{name} {value:.3f}" for name, value in cell.items()]
            print("\t".join([text, str(labels), *numbers]), flush=True)


if __name__ == "__main__":
    main()
