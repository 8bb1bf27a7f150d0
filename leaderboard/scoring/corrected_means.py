"""Means by a machine, corrected by the sample that people judged: computed by a job.

The frame of the sample, its probabilities and the machine's grades come from the file that was
stored when it was drawn; the grades of people from the closed judgings of samples of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.conventions import SCORING_VERSION
from evaluation.correction import (
    CorrectedBoard,
    Correction,
    Estimates,
    SampleFrame,
    compare_gains,
    correct_board,
    plan_labels,
    scale_topics,
    split_measure,
)
from evaluation.correction.planning import FEWEST_LABELS
from evaluation.judging import prepare
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels
from leaderboard.assessments.sample_frames import read_first
from leaderboard.assessments.samples import find_closed, load_machine, load_settled
from leaderboard.collections.pool_frames import read_frame
from leaderboard.models import Calculation, JudgmentSet, Pool, Run
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.tracks import Track, settings_digest
from leaderboard.scoring.editions import scoring_settings
from leaderboard.scoring.judge_boards import family_by_judge, find_evaluated_topics
from leaderboard.scoring.judgments import number_topic_groups, resolve_measure

# The layout of stored results: those of an earlier one are computed again.
LAYOUT = 1
# What is stored of an estimate: value, half-width for these topics, and for topics like these.
Packed = list[list[float | None]]


@dataclass(frozen=True)
class ClosedSample:
    """The sample that corrects the means of a machine: the last one that is closed."""

    pool: Pool
    by_machine: JudgmentSet
    closed: tuple[int, ...]

    @property
    def depth(self) -> int:
        return int(self.pool.summary["frame"]["depth"])


def find_closed_sample(track: Track, by_machine: JudgmentSet) -> ClosedSample | None:
    """Return the last closed sample of a track with stored probabilities, if there is one."""
    closed = find_closed(by_machine)
    framed = track.pools.framed().filter(checks=by_machine, assessments__in=closed)  # type: ignore[attr-defined]
    pool = framed.order_by("-kept_at", "-pk").first()
    return None if pool is None else ClosedSample(pool, by_machine, closed)


def find_basis(track: Track, sample: ClosedSample) -> str:
    """Return a digest of everything that the corrected means depend on."""
    basis = {
        "pool": sample.pool.pk,
        "closed": sample.closed,
        "runs": family_by_judge(track),
        "settings": scoring_settings(track),
        "version": (SCORING_VERSION, LAYOUT),
    }
    return settings_digest({name: str(value) for name, value in basis.items()})


def compute_corrected_means(asked: Calculation, progress: Progress) -> Publish:
    """Correct the means of the runs of a track; return the function that stores them."""
    assert asked.track is not None
    by_machine = JudgmentSet.objects.filter(pk=asked.request["machine"]).first()
    sample = find_closed_sample(asked.track, by_machine) if by_machine is not None else None
    if sample is None:
        return lambda: None
    basis, family = find_basis(asked.track, sample), family_by_judge(asked.track)
    results = correct_means(asked.track, sample, asked.request, family, progress)
    return partial(asked.keep, results, basis)


def correct_means(
    track: Track,
    sample: ClosedSample,
    request: Mapping[str, Any],
    family: Sequence[str],
    progress: Progress,
) -> dict[str, Any]:
    """Return the means, differences from `against`, gains and a plan, as JSON stores them.

    `why_none` says why there are none: no topics, or too few labels.
    """
    machine = load_machine(sample.by_machine)
    rows, frame_grades = read_frame(sample.pool)
    topics = find_evaluated_topics(track, machine)
    frame = SampleFrame.of_rows(rows, topics)
    people = _group_by_topic(load_settled(sample.closed))
    grades = frame.grade(frame_grades), frame.grade(people)
    num_judged = int((frame.is_drawn & (grades[1] >= 0)).sum())
    head = {
        "family": list(family),
        "against": request["against"],
        "topics": len(topics),
        "documents": len(frame.docnos),
        "drawn": int(frame.is_drawn.sum()),
        "judged": num_judged,
    }
    if num_judged < 2 or not topics or not family:
        return {**head, "why_none": "People judged fewer than two documents of the frame."}
    measure = resolve_measure(track, request["measure"])
    top_grade = int(max(sample.by_machine.top_grade or 1, grades[1].max()))
    judgments = prepare(Qrels(machine, Problems()), topics, top_grade)
    parts = split_measure(measure, top_grade, sample.depth)
    placements = frame.place(_read_runs(family, sample.depth, progress), sample.depth)
    board = correct_board(frame, placements, parts, scale_topics(measure, judgments), *grades)
    groups = number_topic_groups(track.collection_id, topics)
    return {
        **head,
        **_summarise(board, groups, _place_of(request["against"], family)),
        "highest": parts.highest,
        "gains": _test_gains(board.correction, parts.highest),
        "plan": [asdict(each) for each in plan_labels(board.correction, frame.cover)]
        if num_judged >= FEWEST_LABELS
        else [],
    }


def _read_runs(family: Sequence[str], depth: int, progress: Progress) -> Any:
    found = Run.objects.in_bulk(list(family))
    for done, run_id in enumerate(family, 1):
        yield read_first(found[run_id], depth)
        progress(done, len(family))


def _group_by_topic(grades: Mapping[tuple[bytes, bytes], int]) -> dict[bytes, dict[bytes, int]]:
    by_topic: dict[bytes, dict[bytes, int]] = {}
    for (topic, docno), grade in grades.items():
        by_topic.setdefault(topic, {})[docno] = grade
    return by_topic


def _place_of(run_id: str, family: Sequence[str]) -> int | None:
    return list(family).index(run_id) if run_id in family else None


def _summarise(
    board: CorrectedBoard, groups: NDArray[np.int64] | None, against: int | None
) -> dict[str, Any]:
    """Return the means, and the differences from one run, with both half-widths."""
    correction = board.correction
    found: dict[str, Any] = {
        "slope": correction.slope,
        "joined": board.joined,
        "uncovered": board.uncovered.tolist(),
        "by_machine": correction.by_machine.tolist(),
        "means": _pack(correction.by_labels, correction.over_topics(groups)),
    }
    if against is not None:
        rows = np.arange(len(board.uncovered))
        others = np.full(len(rows), against)
        found["differences"] = _pack(
            correction.subtract(rows, others),
            correction.subtract_over_topics(rows, others, groups),
        )
    return found


def _test_gains(correction: Correction, highest: float) -> dict[str, Any]:
    """Return how much more each run gains from the machine than the others, and the power."""
    if correction.sample_weights.shape[0] < 2:
        return {}
    gains = compare_gains(correction, highest)
    return {
        "values": gains.gains.value.tolist(),
        "margins": _without_nan(gains.gains.margin),
        "p": gains.p.tolist(),
        "adjusted": gains.adjusted.tolist(),
        "margin": gains.margin,
        "sought": gains.sought,
        "named": gains.named,
        "any_run": gains.any_run,
    }


def _pack(labels: Estimates, topics: Estimates) -> Packed:
    columns = (labels.value, labels.margin, topics.margin)
    return [list(row) for row in zip(*map(_without_nan, columns), strict=True)]


def _without_nan(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
