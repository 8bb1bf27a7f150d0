"""How far assessors agree."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.agreement import Agreement, agreement_of_assessors, grades_of
from evaluation.frames import build_frame
from evaluation.phrases import counted
from evaluation.reading.judging.qrels import Qrels, read_qrels_by_assessor
from evaluation.reading.objects import QrelsSource, qrels_from
from evaluation.reading.paths import open_input
from evaluation.tables import Table, table_text, text_of

DIGITS = 4


@dataclass(frozen=True, eq=False)
class Agreements:
    """The agreement of two or more assessors: the statistics of each pair, then those of all.

    It iterates over `evaluation.agreement.Agreement`. `agreements["kappa"]` is the value of two
    assessors or that of all, and `agreements["kappa", "ada", "ben"]` that of a pair.
    """

    assessors: tuple[str, ...]
    rows: tuple[Agreement, ...]
    topics: int
    rel: int

    def __iter__(self) -> Iterator[Agreement]:
        return iter(self.rows)

    def __getitem__(self, key: str | tuple[str, ...]) -> float | None:
        statistic, *names = (key,) if isinstance(key, str) else key
        wanted = set(names or self.assessors)
        for row in self.rows:
            if (row.statistic, {self.assessors[n] for n in row.assessors}) == (statistic, wanted):
                return row.value
        raise KeyError(f"no {statistic} of {', '.join(sorted(wanted))}; name a pair of assessors")

    def frame(self) -> Any:
        """Return a pandas DataFrame: a row per statistic and pair, or all assessors."""
        named = ({"assessors": row.name_assessors(self.assessors)} for row in self.rows)
        facts = (asdict(row) | name for row, name in zip(self.rows, named, strict=True))
        return build_frame(facts, "assessors", "statistic")

    def __str__(self) -> str:
        rows = [
            [
                row.name_assessors(self.assessors),
                row.statistic,
                str(row.documents),
                *("-" if v is None else f"{v:z.{DIGITS}f}" for v in (row.value, row.low, row.high)),
            ]
            for row in self.rows
        ]
        header = ["assessors", "statistic", "documents", "value", "low", "high"]
        assessors, topics = counted(len(self.assessors), "assessor"), counted(self.topics, "topic")
        note = f"{assessors}, {topics}; relevant from grade {self.rel}"
        return table_text(Table(header, rows, texts=2, note=note))

    __repr__ = __str__


def kappa(
    qrels: Mapping[str, QrelsSource] | Sequence[QrelsSource] | str | os.PathLike[str],
    *,
    rel: int = 1,
    level: float = 0.95,
    lenient: bool = False,
) -> Agreements:
    """Compare the grades of assessors, as the command `kappa` does.

    `qrels` is a mapping from each assessor to judgments in any form that `evaluate` takes, a list
    of judgments, or the path of one file whose second column names the assessor. Only documents
    that at least two assessors have judged count. Intervals are those of a jackknife over
    topics, from three topics.

    Raises `Refused` for judgments that cannot be used, ValueError for fewer than two assessors.

    >>> ada = {7: {"d1": 2, "d2": 1}, 8: {"d1": 0, "d2": 0}}
    >>> ben = {7: {"d1": 2, "d2": 0}, 8: {"d1": 0, "d2": 1}}
    >>> found = kappa({"ada": ada, "ben": ben})
    >>> round(found["kappa"], 4), found["overlap"]
    (0.2, 0.3333333333333333)
    """
    assessors = _read_assessors(qrels, lenient)
    if len(assessors) < 2:
        raise ValueError("two assessors are needed")
    topics, grades, topic_of = grades_of(list(assessors.values()))
    rows = agreement_of_assessors(grades, topic_of, rel, level)
    return Agreements(tuple(assessors), tuple(rows), len(topics), rel)


def _read_assessors(qrels: Any, lenient: bool) -> dict[str, Qrels]:
    if isinstance(qrels, str | os.PathLike):
        with open_input(os.fspath(qrels)) as file:
            read = read_qrels_by_assessor(file)
        return {text_of(name): judged for name, judged in read.items()}
    if not isinstance(qrels, Mapping):
        qrels = {f"assessor {place}": each for place, each in enumerate(qrels, 1)}
    return {str(name): qrels_from(source, lenient=lenient) for name, source in qrels.items()}
