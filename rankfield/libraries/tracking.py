"""Results of runs in MLflow and in Weights & Biases, and parameters from there as facts of runs.

Each takes one line.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from evaluation.library.comparisons import Comparisons
from evaluation.scoring import RunScores
from rankfield.answers import Comparison, Run
from rankfield.errors import SiteError
from rankfield.facts import flatten, read_value
from rankfield.site import Site

Result = Run | Comparison | RunScores | Comparisons
# MLflow takes only letters, digits and _-./: with blanks as a name.
OTHER = re.compile(r"[^\w\-.]+")


@dataclass(frozen=True)
class Logged:
    """Numbers by name, and texts by name."""

    metrics: dict[str, float]
    texts: dict[str, str]


def log_to_mlflow(result: Result, site: Site | None = None) -> Logged:
    """Log a result to the active run of MLflow, which starts one if there is none.

    `result` is a run of a site, what `Site.compare` returns, or scores and comparisons made here.
    With `site`, the page of a run is the tag `rankfield.page`. Returns what was logged.
    """
    mlflow = import_module("mlflow")
    logged = describe_result(result, site)
    mlflow.log_metrics(logged.metrics)
    mlflow.set_tags({f"rankfield.{name}": text for name, text in logged.texts.items()})
    return logged


def log_to_wandb(result: Result, site: Site | None = None, run: Any = None) -> Logged:
    """Put a result into the summary of a run of Weights & Biases, by default of the active one.

    Raises RuntimeError without one. Returns what was logged.
    """
    run = run or import_module("wandb").run
    if run is None:
        raise RuntimeError("no run of Weights & Biases is active: call wandb.init() first")
    logged = describe_result(result, site)
    run.summary.update({f"rankfield/{name}": each for name, each in logged.metrics.items()})
    run.summary.update({f"rankfield/{name}": text for name, text in logged.texts.items()})
    return logged


def facts_from_mlflow(run_id: str = "") -> dict[str, Any]:
    """Return the parameters of a run of MLflow, by default of the active one, as facts of a run.

    MLflow keeps texts; numbers, true and false among them are read as such. Raises SiteError
    without a run.
    """
    mlflow = import_module("mlflow")
    active = mlflow.active_run()
    if not run_id and active is None:
        raise SiteError("No run of MLflow is active. Name one, or call mlflow.start_run() first.")
    try:
        found = mlflow.get_run(run_id or active.info.run_id)
    except mlflow.exceptions.MlflowException as error:
        raise SiteError(f"MLflow has no run {run_id}: {error}") from None
    return {name: read_param(text) for name, text in found.data.params.items() if text != "None"}


def read_param(text: str) -> Any:
    """Return the value whose text MLflow keeps.

    >>> read_param("1e-5"), read_param("True"), read_param("bm25")
    (1e-05, True, 'bm25')
    """
    return read_value(text.lower() if text in ("True", "False") else text)


def facts_from_wandb(run: Any = None) -> dict[str, Any]:
    """Return the configuration of a run of Weights & Biases, by default of the active one.

    Names of nested keys are joined by dots. Raises SiteError without a run.
    """
    run = run or import_module("wandb").run
    if run is None:
        raise SiteError("No run of Weights & Biases is active. Call wandb.init() first.")
    return dict(flatten(dict(run.config)))


def describe_result(result: Result, site: Site | None = None) -> Logged:
    """Return the numbers and texts of a result; what is undefined is left out.

    >>> from evaluation import evaluate
    >>> describe_result(evaluate({"7": {"d1": 1}}, {"7": {"d1": 2}}, ["nDCG@10"])).metrics
    {'nDCG_at_10': 1.0}
    """
    metrics: dict[str, float | None] = {}
    texts: dict[str, str] = {}
    if isinstance(result, RunScores):
        metrics.update(result.means)
        texts["run"] = result.tag
    elif isinstance(result, Comparisons):
        metrics, texts = describe_comparisons(result)
    elif isinstance(result, Comparison):
        metrics, texts = describe_pair(result.measure, result)
        texts |= {"run": result.b, "reference": result.a}
    else:
        metrics.update(result.scores)
        texts["run"] = result.tag
        if result.verdict is not None:
            more, said = describe_pair(result.verdict.measure, result.verdict)
            metrics, texts = {**metrics, **more}, {**texts, **said}
            texts["reference"] = result.verdict.previous_tag
        if site is not None:
            texts["page"] = site.page_of(result)
    kept = {name_metric(name): value for name, value in metrics.items() if value is not None}
    return Logged({n: v for n, v in kept.items() if math.isfinite(v)}, texts)


def describe_pair(measure: str, pair: Any) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return the difference of two runs with its interval and p, and the verdict."""
    names = ("difference", "low", "high", "p_adjusted")
    metrics = {f"{measure}.{name}": getattr(pair, name, None) for name in names}
    verdict = getattr(pair, "verdict", None)
    return metrics, {"verdict": verdict} if verdict else {}


def describe_comparisons(found: Comparisons) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return the same of each run beside the baseline, by its name."""
    metrics: dict[str, float | None] = {}
    texts = {"baseline": found.baseline}
    for row in found:
        metrics[f"{row.run}.{row.measure}"] = row.mean
        if row.outcome is not None:
            pair, _ = describe_pair(f"{row.run}.{row.measure}", row.outcome)
            metrics |= pair
            texts[f"verdict.{name_metric(row.run)}.{name_metric(row.measure)}"] = row.verdict
    return metrics, texts


def name_metric(name: str) -> str:
    """Return the name of a measure without signs that trackers refuse.

    >>> name_metric("nDCG@10"), name_metric("P(rel=2)@5.low")
    ('nDCG_at_10', 'P_rel_2_at_5.low')
    """
    return OTHER.sub("_", name.replace("@", "_at_")).replace("__", "_")
