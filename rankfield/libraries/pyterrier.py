"""Experiments of PyTerrier: their results compared, and their rankings submitted.

`rankfield.providers.experiment_measures` gives an Experiment measures of Rankfield.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluation.comparison import Design, ScoredRuns, compare_on_measure
from evaluation.frames import Frame, find_column
from evaluation.library.comparisons import Comparisons
from evaluation.measures import Asked, parse_measure
from evaluation.significance.randomisation import topic_order
from rankfield.answers import Run
from rankfield.site import Site

OURS = "rankfield:"
ByPlace = dict[tuple[str, str, str], float]


def compare_experiment(
    results: Frame, baseline: str = "", design: Design | None = None
) -> Comparisons:
    """Compare the systems of `pt.Experiment(..., perquery=True)` with one of them.

    `results` has the columns name, qid, measure and value. The baseline is the first system if it
    is not named. Tests and intervals are those of `rankfield.compare`.

    Raises ValueError for a missing column, an unknown baseline, fewer than two systems or a topic
    without a value of each; MeasureError for a measure that Rankfield does not have.

    >>> class Table(dict):
    ...     columns = property(list)
    >>> names = ["bm25"] * 8 + ["dense"] * 8
    >>> rows = {"name": names, "qid": [*range(8)] * 2, "measure": ["RR"] * 16}
    >>> found = compare_experiment(Table(rows, value=[.5] * 8 + [1.0] * 8))
    >>> found["RR", "dense"].verdict
    'better'
    """
    values = read_values(results)
    systems, topics, measures = (list(dict.fromkeys(found)) for found in zip(*values, strict=True))
    if baseline:
        if baseline not in systems:
            raise ValueError(f"no system is named {baseline}")
        systems.sort(key=lambda system: system != baseline)
    design = design or Design()
    design.check(len(systems))
    topics = [topics[place] for place in topic_order(topics).tolist()]
    found = []
    for measure in measures:
        rows = [[find_value(values, (s, t, measure)) for t in topics] for s in systems]
        asked = Asked(measure, parse_measure(measure.removeprefix(OURS)))
        names = [topic.encode() for topic in topics]
        scored = ScoredRuns(measure, asked.measure, systems, names, np.array(rows))
        found += compare_on_measure(scored, design)
    return Comparisons(tuple(found), design)


def read_values(results: Frame) -> ByPlace:
    """Return the values by system, topic and measure."""
    names = [
        find_column(results.columns, [name], "table of results, which needs perquery=True,")
        for name in ("name", "qid", "measure", "value")
    ]
    rows = zip(*(results[name] for name in names), strict=True)
    values = {(str(s), str(t), str(m)): float(value) for s, t, m, value in rows}
    if not values:
        raise ValueError("the table of results is empty")
    return values


def find_value(values: ByPlace, place: tuple[str, str, str]) -> float:
    if place not in values:
        system, topic, measure = place
        raise ValueError(f"{system} has no {measure} of topic {topic}")
    return values[place]


def submit_experiment(
    site: Site, track: str, systems: Mapping[str, Any], topics: Any = None, **fields: Any
) -> list[Run]:
    """Submit the ranking of each system under its name; returns once the site has all of them.

    A system is a transformer, which ranks `topics`, or a DataFrame of what it ranked. `fields` are
    those of `Site.submit`.
    """
    rankings = {
        name: system if hasattr(system, "columns") else system(topics)
        for name, system in systems.items()
    }
    return [site.submit(track, ranked, tag=name, **fields) for name, ranked in rankings.items()]
