"""A scored run in the formats in which models are published.

Each names the page of the run, the judgments and the SHA-256 of its file, so that a reader can
compute the scores again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from evaluation.badges import draw_badge
from evaluation.conventions import SCORING_VERSION
from evaluation.measures import MeasureError, parse_measure
from evaluation.tables import Table, table_bytes
from rankfield.answers import Run, Track
from rankfield.errors import SiteError
from rankfield.version import VERSION

# https://github.com/evaleval/every_eval_ever
EVERY_EVAL_EVER = "0.3.0"
# Its schema asks for both, and a site knows neither.
UNKNOWN = dict.fromkeys(("deployment_type", "model_availability"), "unknown")


@dataclass(frozen=True)
class Publication:
    """A run of a track, the address of its page, and what the publication says of the data set.

    `dataset` is the ID of a data set on the hub of Hugging Face, `task` one of its task_ids.
    """

    run: Run
    track: Track
    page: str
    measure: str
    dataset: str = ""
    task: str = "default"
    model: str = ""
    published: datetime | None = None

    @property
    def score(self) -> float:
        """The score by the one measure.  Raises SiteError where the run has none."""
        value = self.run.scores.get(self.measure)
        if value is None:
            known = ", ".join(self.run.scores) or "none"
            raise SiteError(f"{self.run.tag} has no {self.measure}; its scores: {known}.")
        return value

    @property
    def at(self) -> datetime:
        return self.published or datetime.now(UTC)

    @property
    def judgments(self) -> str:
        return f"{self.track.collection}, judgments {self.run.provenance.get('judgments', '')}"

    @property
    def proof(self) -> dict[str, str]:
        """What a reader needs to compute the scores again; without what the site does not say."""
        names = ("sha256", "judgments", "judged_by", "convention", "command")
        said = {name: self.run.provenance.get(name) for name in names}
        return {name: str(value) for name, value in said.items() if value}

    @property
    def badge_words(self) -> tuple[str, str]:
        return (
            f"{self.measure} {self.score:.4f}",
            f"recomputed by Rankfield, as of {self.at:%Y-%m-%d}",
        )


def write_eval_results(found: Publication) -> str:
    """Return one entry for `.eval_results/NAME.yaml` in the repository of a model.

    Raises SiteError without the ID of the data set. Source:
    https://huggingface.co/docs/hub/eval-results
    """
    if not found.dataset:
        raise SiteError("Name the data set of the hub: --dataset ORGANISATION/NAME.")
    notes = f"{found.measure}; {found.judgments}"
    # A text of JSON is one of YAML.
    return (
        "- dataset:\n"
        f"    id: {json.dumps(found.dataset)}\n"
        f"    task_id: {json.dumps(found.task)}\n"
        f"  value: {found.score!r}\n"
        "  source:\n"
        f"    url: {json.dumps(found.page)}\n"
        '    name: "Rankfield"\n'
        f"  notes: {json.dumps(notes, ensure_ascii=False)}\n"
    )


def write_card(found: Publication) -> str:
    """Return the scores as a table of Markdown for a model card, with what proves them."""
    rows = [
        [measure, "" if value is None else f"{value:.4f}"]
        for measure, value in found.run.scores.items()
    ]
    table = table_bytes(Table(["measure", "score"], rows, texts=1), "md").decode()
    lines = [f"[{escape(found.run.tag)}]({found.page}) on {escape(found.judgments)}", "", table]
    verdict = found.run.verdict
    if verdict is not None and verdict.difference is not None:
        pair = f"{verdict.measure} {verdict.difference:+z.4f}"
        if verdict.low is not None and verdict.high is not None:
            pair += f", 95 % interval {verdict.low:+z.4f} to {verdict.high:+z.4f}"
        lines.append(
            f"{pair} beside {escape(verdict.previous_tag)}: {verdict.verdict or 'no test'}."
        )
    if sha256 := found.proof.get("sha256"):
        lines.append(f"SHA-256 of the run: `{sha256}`.")
    if command := found.proof.get("command"):
        lines += ["", "```", command, "```"]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Return a text that Markdown prints as it is.

    >>> print(escape("a|b [c] <d>"))
    a\\|b \\[c\\] \\<d\\>
    """
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>|#~" else letter for letter in text)


def write_every_eval_ever(found: Publication) -> str:
    """Return the scores as a record of Every Eval Ever, one result per measure."""
    site = urlsplit(found.page)
    model = found.model or found.run.facts.get("models") or found.run.tag
    seconds = str(int(found.at.timestamp()))
    record = {
        "schema_version": EVERY_EVAL_EVER,
        "evaluation_id": f"{found.track.slug}/{str(model).replace('/', '_')}/{seconds}",
        "retrieved_timestamp": seconds,
        "source_metadata": {
            "source_name": found.track.name,
            "source_type": "evaluation_run",
            "source_organization_name": site.netloc,
            "source_organization_url": f"{site.scheme}://{site.netloc}",
            "evaluator_relationship": "third_party",
            "additional_details": {"page": found.page, **found.proof},
        },
        "eval_library": {
            "name": "rankfield",
            "version": VERSION,
            "additional_details": {"scoring_version": str(SCORING_VERSION)},
        },
        "model_info": {"name": str(model), "id": str(model), "additional_details": UNKNOWN},
        "evaluation_results": [
            describe_measure(found, measure, value)
            for measure, value in found.run.scores.items()
            if value is not None
        ],
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def describe_measure(found: Publication, measure: str, value: float) -> dict[str, object]:
    low, high, is_lower_better = bounds_of(measure)
    config: dict[str, object] = {
        "evaluation_description": measure,
        "lower_is_better": is_lower_better,
    }
    if low is not None and high is not None:
        config |= {"score_type": "continuous", "min_score": low, "max_score": high}
    source: dict[str, object] = {"dataset_name": found.track.collection}
    if found.dataset:
        source |= {"source_type": "hf_dataset", "hf_repo": found.dataset}
    else:
        source |= {"source_type": "url", "url": [found.page]}
    return {
        "evaluation_name": f"{found.track.name}, {measure}",
        "source_data": source,
        "metric_config": config,
        "score_details": {"score": value},
    }


def bounds_of(measure: str) -> tuple[float | None, float | None, bool]:
    """Return the ends of a measure, None where it has none, and whether lower values are better.

    >>> bounds_of("nDCG@10"), bounds_of("NumRet")
    ((0.0, 1.0, False), (0.0, None, False))
    """
    try:
        known = parse_measure(measure)
    except MeasureError:
        return None, None, False
    low, high = (float(end) if abs(end) < float("inf") else None for end in known.range)
    return low, high, known.direction < 0


def write_badge(found: Publication) -> str:
    """Return a badge that never changes, as SVG."""
    return draw_badge(*found.badge_words) + "\n"


def write_badge_link(found: Publication) -> str:
    """Return the Markdown that shows the badge of a file and links to the proof of the run."""
    return f"[![{escape(', '.join(found.badge_words))}](rankfield.svg)]({found.page})\n"


WRITERS: dict[str, Callable[[Publication], str]] = {
    "eval-results": write_eval_results,
    "card": write_card,
    "every-eval-ever": write_every_eval_ever,
    "badge": write_badge,
    "badge-link": write_badge_link,
}
