"""Several runs, each under a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Real
from typing import TypeAlias

from evaluation.library.settings import Scorer
from evaluation.reading.objects import RunSource, run_from
from evaluation.reading.runs.reader import Run

Runs: TypeAlias = Mapping[str, RunSource] | Iterable[RunSource]


def read_runs(runs: Runs, scorer: Scorer | None = None, *, lenient: bool = False) -> list[Run]:
    """Return the runs under their names: those of a mapping, or else the tags of files.

    With a scorer, runs are judged while they are read. Runs without a name of their own are
    numbered, and so are runs of one name.
    """
    if isinstance(runs, Mapping):
        check_names(runs)
        sources, names = list(runs.values()), [str(name) for name in runs]
    else:
        if isinstance(runs, str | bytes):
            raise TypeError("give several runs, as a list or as {name: run}")
        sources, names = list(runs), []
    read = [
        run_from(source, f"run {place}", lenient=lenient)
        if scorer is None
        else scorer.read(source, f"run {place}")
        for place, source in enumerate(sources, 1)
    ]
    tags = names or numbered([run.tag for run in read])
    return [replace(run, tag=tag) for run, tag in zip(read, tags, strict=True)]


def check_names(runs: Mapping[str, RunSource]) -> None:
    """Raises TypeError where a single run, {topic: {docno: score}}, is given as several."""
    for run in runs.values():
        if isinstance(run, Mapping) and any(isinstance(value, Real) for value in run.values()):
            raise TypeError("this is one run: give several, as a list or as {name: run}")


def numbered(tags: list[str]) -> list[str]:
    """Return the tags, with a number where one occurs again.

    >>> numbered(["bm25", "dense", "bm25"])
    ['bm25', 'dense', 'bm25 (2)']
    """
    seen: Counter[str] = Counter()
    found = []
    for tag in tags:
        seen[tag] += 1
        found.append(tag if seen[tag] == 1 else f"{tag} ({seen[tag]})")
    return found
