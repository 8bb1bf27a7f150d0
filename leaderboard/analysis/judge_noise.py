"""The noise of machines as judges: versions of one collection beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from evaluation.agreement import find_unused_grades
from leaderboard.analysis.judge_agreement import JudgeAgreement, compute_version_agreement
from leaderboard.analysis.judge_boards import (
    BoardsByJudge,
    JudgedBoards,
    RankedRun,
    find_boards_of_machines,
)
from leaderboard.boards.disclosure import Sight
from leaderboard.display.csv_tables import RUN_COLUMNS, CsvTable, tabulate
from leaderboard.models import JudgmentSet, MachineCard

# How many of the latest versions are compared.
MOST_VERSIONS = 5


@dataclass(frozen=True)
class GradeUse:
    """How many documents a version gives a grade; `is_rare` where that is hardly any."""

    version: str
    grade: int
    count: int
    share: float
    is_rare: bool


@dataclass(frozen=True)
class NoisyVersion:
    """A version by a machine, with the use of each grade, the highest first."""

    judgment_set: JudgmentSet
    card: MachineCard | None
    uses: list[GradeUse]

    @property
    def rare(self) -> list[GradeUse]:
        return [use for use in self.uses if use.is_rare]

    @property
    def most(self) -> int:
        return max((use.count for use in self.uses), default=0)


@dataclass(frozen=True)
class VersionPair:
    """How far two versions agree on the documents that both graded."""

    one: JudgmentSet
    other: JudgmentSet
    agreement: JudgeAgreement


@dataclass(frozen=True)
class NoisyRun:
    """A run with its mean by each version, in their order."""

    ranked: RankedRun
    means: list[float | None]


@dataclass(frozen=True)
class JudgeNoiseFound:
    """The versions beside each other; the boards follow where a job computes them."""

    versions: list[NoisyVersion]
    pairs: list[VersionPair]
    by_judge: BoardsByJudge
    top_grade: int

    @property
    def boards(self) -> JudgedBoards | None:
        return self.by_judge.boards

    @property
    def rare(self) -> list[GradeUse]:
        """The grades that some version hardly uses."""
        return [use for version in self.versions for use in version.rare]

    @property
    def runs(self) -> list[NoisyRun]:
        """The runs by their rank by the first version."""
        if self.boards is None:
            return []
        by_judge = [
            {move.run: move.after.mean for move in judge.shift.by_rank_after}
            for judge in self.boards.judges
        ]
        return [
            NoisyRun(ranked, [means.get(ranked.run) for means in by_judge])
            for ranked in self.boards.runs
        ]

    @property
    def tables(self) -> dict[str, CsvTable]:
        """The tables by the names that addresses use."""
        of_runs = tabulate(
            self.runs,
            [
                *((name, f"ranked.{path}") for name, path in RUN_COLUMNS),
                *(("mean_low", "ranked.low"), ("mean_high", "ranked.high")),
                *(("best_rank", "ranked.best"), ("worst_rank", "ranked.worst")),
                *(
                    (f"mean_by_{version.judgment_set}", _mean_at(place))
                    for place, version in enumerate(self.versions)
                ),
            ],
        )
        pairs = tabulate(
            self.pairs,
            [
                *(("one", "one.version"), ("other", "other.version")),
                *(("documents", "agreement.num_documents"), ("share", "agreement.share")),
                *(
                    (f"kappa{end and '_' + end}", f"agreement.kappa.{end or 'value'}")
                    for end in ("", "low", "high")
                ),
                ("alpha_ordinal", lambda pair: pair.agreement.alphas["ordinal"]),
            ],
        )
        uses = [use for version in self.versions for use in version.uses]
        names = ("version", "grade", "count", "share")
        return {
            "runs": of_runs,
            "pairs": pairs,
            "grades": tabulate(uses, [(name, name) for name in names]),
        }


def _mean_at(place: int) -> Callable[[NoisyRun], float | None]:
    return lambda row: row.means[place]


def find_judge_noise(sight: Sight, versions: Sequence[JudgmentSet], asked: str) -> JudgeNoiseFound:
    """Return the latest versions beside each other, the earliest of them first.

    A job computes the boards if they are missing.
    """
    chosen = sorted(versions[:MOST_VERSIONS], key=lambda each: each.pk)
    cards = MachineCard.objects.in_bulk([each.pk for each in chosen])
    top_grade = max((each.top_grade or 1 for each in chosen), default=1)
    return JudgeNoiseFound(
        versions=[
            NoisyVersion(each, cards.get(each.pk), list_grade_use(each, top_grade))
            for each in chosen
        ],
        pairs=[
            VersionPair(one, other, compute_version_agreement(one.pk, other.pk))
            for one, other in combinations(chosen, 2)
        ],
        by_judge=find_boards_of_machines(sight, chosen, asked),
        top_grade=top_grade,
    )


def list_grade_use(judgment_set: JudgmentSet, top_grade: int) -> list[GradeUse]:
    """Return how often a version gives each grade of the scale, the highest first."""
    stored = {int(grade): number for grade, number in judgment_set.grade_counts.items()}
    counts = {grade: stored.get(grade, 0) for grade in range(top_grade + 1)}
    total, rare = sum(counts.values()), find_unused_grades(counts, top_grade)
    return [
        GradeUse(
            version=judgment_set.version,
            grade=grade,
            count=counts[grade],
            share=counts[grade] / max(total, 1),
            is_rare=grade in rare,
        )
        for grade in sorted(counts, reverse=True)
    ]
