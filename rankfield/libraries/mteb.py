"""Predictions and results of MTEB: its rankings as runs, and its scores beside ours.

`mteb.evaluate(..., prediction_folder=FOLDER)` writes `TASK_predictions.json`, and its results are
`TASK.json`. Both are read as files; mteb need not be installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.library.scores import evaluate
from evaluation.problems import refuse
from evaluation.reading.objects import QrelsSource
from evaluation.reading.results import SubsetResult, parse_result, read_object
from rankfield.answers import Run
from rankfield.site import Site

META = "mteb_model_meta"
ByTopic = Mapping[str, Mapping[str, float]]
# Further than this two values differ by more than the rounding of a result.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Predictions:
    """The rankings of a model: a run for each subset and split of a task."""

    model: str
    revision: str
    runs: dict[tuple[str, str], ByTopic]

    def find(self, subset: str = "", split: str = "") -> ByTopic:
        """Return the run of a subset and split; the only one if they are left out.

        Raises ValueError where none or several fit.
        """
        found = [run for (a, b), run in self.runs.items() if subset in ("", a) and split in ("", b)]
        if len(found) != 1:
            known = ", ".join(f"{a}/{b}" for a, b in self.runs)
            raise ValueError(f"{len(found)} runs fit: name one subset and split of {known}")
        return found[0]


@dataclass(frozen=True)
class MainScore:
    """The main score of a result beside the same measure of the predictions."""

    subset: str
    split: str
    theirs: float
    ours: float

    @property
    def is_equal(self) -> bool:
        """Whether they differ by no more than the rounding of a result."""
        return abs(self.theirs - self.ours) <= TOLERANCE


def read_predictions(path: str | Path) -> Predictions:
    """Return the rankings in a file of predictions.  Raises `Refused` for another file."""
    content = read_object(Path(path).read_bytes(), str(path))
    meta = content.pop(META, {})
    runs: dict[tuple[str, str], ByTopic] = {}
    for subset, splits in content.items():
        for split, run in (splits if isinstance(splits, dict) else {}).items():
            runs[subset, split] = run
    if not runs or not all(isinstance(run, dict) for run in runs.values()):
        raise refuse("E_FORMAT", f"{path} has no predictions of MTEB: subset, split, topics")
    return Predictions(str(meta.get("model_name", "")), str(meta.get("revision", "")), runs)


def read_result(path: str | Path) -> list[SubsetResult]:
    """Return the scores in the result of a task.  Raises `Refused` for another file."""
    return parse_result(read_object(Path(path).read_bytes(), str(path)), str(path))


def check_main_scores(
    qrels: QrelsSource | Mapping[tuple[str, str], QrelsSource],
    predictions: Predictions,
    result: list[SubsetResult],
    measure: str = "nDCG@10",
) -> list[MainScore]:
    """Return each main score of a result beside that of its predictions.

    `measure` is the main score of the task. `qrels` are the judgments, or those by (subset, split).
    Only topics that the model ranked count, as in MTEB.
    """
    found = []
    for row in result:
        key = (row.subset, row.split)
        if key not in predictions.runs:
            raise ValueError(f"the predictions have no {row.subset}/{row.split}")
        judged: Any = qrels[key] if isinstance(qrels, Mapping) and key in qrels else qrels
        scores = evaluate(judged, predictions.runs[key], measure, answered_only=True)
        found.append(MainScore(*key, row.main_score, scores[measure]))
    return found


def submit_predictions(
    site: Site,
    track: str,
    predictions: Predictions,
    subset: str = "",
    split: str = "",
    **fields: Any,
) -> Run:
    """Submit the ranking of a model under its name; `fields` are those of `Site.submit`."""
    model = predictions.model or "mteb"
    stated = " ".join(filter(None, (model, predictions.revision)))
    fields["facts"] = {"models": stated, **fields.get("facts", {})}
    tag = fields.pop("tag", "") or model.rpartition("/")[2]
    return site.submit(track, predictions.find(subset, split), tag=tag, **fields)
