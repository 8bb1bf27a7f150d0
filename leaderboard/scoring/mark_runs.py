"""Runs of judges that mark answers: the nuggets in them, or the support of their sentences.

The answers are those of a track in the same benchmark, and so are the marks of people that judges
are compared with.
"""

from __future__ import annotations

from contextlib import closing
from typing import BinaryIO

from evaluation.answers.assignment_files import read_assignments
from evaluation.answers.support_files import read_support
from evaluation.problems import refuse
from evaluation.reading.containers import unpacked
from evaluation.reading.judging.qrels import Qrels
from leaderboard.collections.mark_layers import find_marked_runs, name_runs
from leaderboard.collections.marked_pairs import ReadLayer, grade_pairs, list_runs, load_answers
from leaderboard.collections.nuggets import load_bank
from leaderboard.infrastructure.packed_files import open_unpacked
from leaderboard.models import MarkLayer, Run, Track
from leaderboard.scoring.files import run_limits
from leaderboard.scoring.judgments import load_topic_numbers

# By their names in the table of runs; the first never says how sure a judge is.
NUGGET_FORMATS = {
    "marks": "marks of nuggets (run topic nugget label, JSON lines, CSV)",
    "confidence": "marks of nuggets with confidences (JSON lines)",
}
SUPPORT_FORMATS = {
    "marks": "marks of support (run topic sentence docno label, JSON lines)",
    "confidence": "marks of support with confidences (JSON lines)",
}


def find_people_layer(track: Track) -> MarkLayer | None:
    """Return the marks of people that the judges of a track are compared with."""
    return MarkLayer.objects.judged_by(track).select_related("nuggets", "track").first()


def read_pairs(run: Run) -> Qrels:
    """Read the marks of a judge as grades of pairs. Raises Refused."""
    layer = find_people_layer(run.track)
    if layer is None:
        message = "the organisers have not yet chosen the marks of people"
        raise refuse("E_MARKS", message, hint="Wait until they have.")
    with (
        open_unpacked(run.file.name) as packed,
        closing(unpacked(packed, run_limits())) as lines,
    ):
        read = _read_layer(layer, lines)
    runs = name_runs(find_marked_runs(layer.track, list_runs(read)), read.problems)
    read.problems.raise_if_refused()
    pairs = grade_pairs(layer, read, load_answers(runs))
    _leave_unknown_topics(pairs, run.track)
    if not pairs.grades:
        pairs.problems.error("E_EMPTY", None, "no mark is about an answer of the track")
    pairs.problems.raise_if_refused()
    return pairs


def _read_layer(layer: MarkLayer, file: BinaryIO) -> ReadLayer:
    if layer.nuggets_id is None:
        return read_support(file)
    return read_assignments(file, load_bank(layer.nuggets_id))


def _leave_unknown_topics(pairs: Qrels, track: Track) -> None:
    known = frozenset(load_topic_numbers(track.collection_id))
    unknown = [topic for topic in pairs.grades if topic not in known]
    for topic in unknown:
        del pairs.grades[topic]
        pairs.confidences.pop(topic, None)
    if unknown:
        message = "marks of unknown topics are ignored"
        pairs.problems.warn("W_UNKNOWN_TOPIC", None, message, unknown[0], count=len(unknown))


def mark_check_options(track: Track) -> dict[str, str]:
    """Return the options of the command that checks the marks of a judge of this track."""
    return {"about": "support" if track.judged_marks == MarkLayer.About.SUPPORT else "nugget"}
