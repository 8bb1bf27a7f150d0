"""Boards by judge: every run scored with the grades of each judge, and with random mixtures.

The judges are the assessors of an assessment, versions of the judgments, or the entrants of a track
of judges.  A topic that an assessor did not judge keeps the grades of the others, and so do single
documents; an entrant has its own grades alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from django.db.models import Count, Max
from numpy.typing import NDArray

from evaluation.agreement import count_flips, measure_noise, mix_judges, summarise_mixtures
from evaluation.answers.any_measure import AnyMeasure, is_of_rankings, parse_measure
from evaluation.answers.judged import AnswerMarks, judge_answers
from evaluation.answers.measures import AnswerMeasure
from evaluation.conventions import CONVENTIONS, SCORING_VERSION
from evaluation.judging import Judgments, judge, prepare
from evaluation.measures import DIVERSITY, SAMPLED, Measure
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels
from evaluation.significance import (
    Difference,
    compare_all_pairs,
    compare_with_baseline,
    has_values,
    scale_of,
    topic_order,
)
from leaderboard.assessments.judgments import settle_marks
from leaderboard.collections.marked_pairs import layer_of_assignments, layer_of_support
from leaderboard.collections.nuggets import load_bank
from leaderboard.models import (
    Assessment,
    AssignedDocument,
    Calculation,
    Edition,
    JudgmentSet,
    Mark,
    MarkLayer,
    Run,
)
from leaderboard.models.collections import load_grades
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.nuggets import SETTING_OF
from leaderboard.models.tracks import Track, settings_digest
from leaderboard.runs.answers import read_answers
from leaderboard.scoring import entrants
from leaderboard.scoring.answer_marks import find_marks
from leaderboard.scoring.editions import scoring_settings, with_marks
from leaderboard.scoring.entrants import judges_of, load_counted_people
from leaderboard.scoring.files import open_run
from leaderboard.scoring.judge_runs import load_judge
from leaderboard.scoring.judgments import count_units_of, number_topic_groups, resolve_measure

# The layout of stored results: those of an earlier one are computed again.
LAYOUT = 4
# Grades by topic number and docno.
Grades = dict[bytes, dict[bytes, int]]


@dataclass(frozen=True)
class Judge:
    """A judge with the judgments of this judge's board, and the topics judged."""

    name: str
    grades: Grades
    topics: frozenset[bytes]


@dataclass(frozen=True)
class Panel:
    """The judges of a track's runs; `reference` are the grades that they are compared with.

    With `tests_pairs` all pairs of runs are tested by each judge; the reference is then the first.
    `layer` is that of people where grades are marks of answers.
    """

    reference: Grades
    judges: list[Judge]
    tests_pairs: bool = False
    layer: MarkLayer | None = None

    @cached_property
    def top_grade(self) -> int:
        every = [self.reference, *(each.grades for each in self.judges)]
        grades = (grade for of in every for judged in of.values() for grade in judged.values())
        return max(grades, default=1)


def measures_by_judge(track: Track) -> list[str]:
    """Return the measures of a track for which grades suffice, the primary one first."""
    usable = [
        text
        for text in track.measures
        if is_of_rankings(text) and parse_measure(text).name not in (*DIVERSITY, *SAMPLED)
    ]
    return sorted(usable, key=lambda text: text != track.primary_measure)


def measures_by_marks(track: Track, layer: MarkLayer) -> list[str]:
    """Return the measures of a track of answers for which such marks suffice, the primary first."""
    usable = [text for text in track.measures if find_marks(text) == (SETTING_OF[layer.about],)]
    return sorted(usable, key=lambda text: text != track.primary_measure)


def family_by_judge(track: Track) -> list[str]:
    """Return the ids of the runs that are compared: all accepted ones that are not removed."""
    runs = Run.objects.filter(track=track).accepted().not_removed()
    return list(runs.order_by("pk").values_list("pk", flat=True))


@dataclass(frozen=True)
class ComparedJudges:
    """Whose boards of a track are compared: assessors, versions of the judgments, or entrants.

    More than two versions are by machines. The entrants are those of an edition of a track of
    judges, and its judgments are by people.
    """

    assessment: Assessment | None = None
    versions: tuple[JudgmentSet, ...] = ()
    entrants: Edition | None = None

    def __str__(self) -> str:
        if self.assessment is not None:
            return f"assessors of {self.assessment.pk}"
        if self.entrants is not None:
            return f"entrants of {self.entrants.pk}"
        return "versions " + " and ".join(str(each.pk) for each in self.versions)

    def pack(self) -> dict[str, Any]:
        """Return the judges as JSON stores them."""
        return {
            "assessment": self.assessment and self.assessment.pk,
            "versions": [each.pk for each in self.versions],
            "entrants": self.entrants and self.entrants.pk,
        }

    @classmethod
    def unpack(cls, stored: Mapping[str, Any]) -> ComparedJudges | None:
        """Return the judges, or None if they were deleted since."""
        if stored["assessment"] is not None:
            assessment = Assessment.objects.filter(pk=stored["assessment"]).first()
            return None if assessment is None else cls(assessment)
        # Requests of earlier versions name no entrants.
        if stored.get("entrants") is not None:
            edition = Edition.objects.filter(pk=stored["entrants"]).first()
            return None if edition is None else cls(entrants=edition)
        found = JudgmentSet.objects.in_bulk(stored["versions"])
        versions = tuple(found[number] for number in stored["versions"] if number in found)
        return cls(versions=versions) if len(versions) == len(stored["versions"]) else None


def find_basis(track: Track, judges: ComparedJudges) -> str:
    """Return a digest of everything that the boards by these judges depend on."""
    basis: dict[str, object] = {
        "runs": family_by_judge(track),
        "settings": scoring_settings(track),
        "convention": track.convention,
        "version": (SCORING_VERSION, LAYOUT),
        "baseline": track.baseline_id,
        "test": track.test,
    }
    if judges.assessment is not None:
        marks = Mark.objects.of(judges.assessment).aggregate(Max("pk"))
        settled = judges.assessment.settlements.aggregate(Count("pk"), latest=Max("settled_at"))
        basis |= {"rule": judges.assessment.rule, **marks, **settled}
    if judges.entrants is not None:
        basis["entrants"] = entrants.find_basis(judges.entrants, judges_of(judges.entrants))
    return settings_digest({name: str(value) for name, value in basis.items()})


def compute_judge_boards(asked: Calculation, progress: Progress) -> Publish:
    """Score the runs of a track by every judge; return the function that stores the boards."""
    assert asked.track is not None
    judges = ComparedJudges.unpack(asked.request)
    if judges is None:
        return lambda: None
    basis, family = find_basis(asked.track, judges), family_by_judge(asked.track)
    measure, panel = asked.request["measure"], load_panel(judges)
    results = compare_judges(asked.track, measure, panel, family, progress)
    return partial(asked.keep, results, basis)


def load_panel(judges: ComparedJudges) -> Panel:
    """Return the grades of the judges."""
    if judges.assessment is not None:
        return _panel_of_assessors(judges.assessment)
    if judges.entrants is not None:
        return _panel_of_entrants(judges.entrants)
    if len(judges.versions) == 2:
        return _panel_of_versions(*judges.versions)
    return _panel_of_machines(judges.versions)


def _panel_of_machines(versions: Sequence[JudgmentSet]) -> Panel:
    """Return a judge for each version, on the topics that all of them have."""
    grades = [load_grades(each.pk) for each in versions]
    topics = set(grades[0]).intersection(*grades[1:])
    judges = [
        Judge(
            each.version, {topic: of[topic] for topic in of if topic in topics}, frozenset(topics)
        )
        for each, of in zip(versions, grades, strict=True)
    ]
    return Panel(reference=judges[0].grades, judges=judges, tests_pairs=True)


def _panel_of_versions(first: JudgmentSet, second: JudgmentSet) -> Panel:
    """Return two judges: on a topic of both versions, each has only the grades of its own.

    Where a machine judged one of them, only the topics of both count: no mean mixes the two.
    """
    one, other = load_grades(first.pk), load_grades(second.pk)
    if first.has_same_makers(second):
        second_board = {**one, **other}
    else:
        both = one.keys() & other.keys()
        one, other = ({topic: of[topic] for topic in of if topic in both} for of in (one, other))
        second_board = other
    return Panel(
        reference=one,
        judges=[
            Judge(first.version, one, frozenset(one)),
            Judge(second.version, second_board, frozenset(other)),
        ],
        tests_pairs=True,
    )


def _panel_of_entrants(edition: Edition) -> Panel:
    """Return the judges of a track beside its people, each with its own grades and by its id."""
    people = load_counted_people(edition).grades
    judges = [
        Judge(run.pk, load_judge(run).grades, frozenset(people)) for run in judges_of(edition)
    ]
    layer = MarkLayer.objects.judged_by(with_marks(edition)).first()
    return Panel(people, judges, layer=layer)


def _panel_of_assessors(assessment: Assessment) -> Panel:
    """Return the assessors beside the grades that closing the assessment now would give."""
    before = assessment.pool.judged_in
    reference: Grades = load_grades(before.pk) if before is not None else {}
    for settled in settle_marks(assessment):
        if settled.grade is not None:
            of_topic = reference.setdefault(settled.topic.encode(), {})
            of_topic[settled.docno.encode()] = settled.grade
    given = _load_given(assessment)
    judges = [Judge(name, _overlay(reference, own), frozenset(own)) for name, own in given.items()]
    return Panel(reference, judges)


def _load_given(assessment: Assessment) -> dict[str, Grades]:
    """Return the grades of each assessor, by pseudonym; documents that came back do not count."""
    judged = AssignedDocument.objects.of(assessment).graded()
    columns = (
        *("assignment__assessor__name", "assignment__topic__number"),
        *("docno", "mark__grade"),
    )
    found: dict[str, Grades] = {}
    rows = judged.order_by("assignment__assessor", "pk").values_list(*columns)
    for name, number, docno, grade in rows.iterator(chunk_size=10_000):
        of_topic = found.setdefault(name, {}).setdefault(number.encode(), {})
        of_topic[docno.encode()] = grade
    return found


def _overlay(reference: Grades, own: Grades) -> Grades:
    """Return the reference with one's own grades in place of those of the others."""
    judged = {topic: {**reference.get(topic, {}), **grades} for topic, grades in own.items()}
    return {**reference, **judged}


def compare_judges(
    track: Track, measure: str, panel: Panel, family: Sequence[str], progress: Progress
) -> dict[str, Any]:
    """Return the boards by each judge and the ranks over random mixtures, as JSON stores them.

    They have no more than the family where fewer than two runs or no topics are left.
    """
    topics = find_evaluated_topics(track, panel.reference)
    if len(family) < 2 or not topics or not panel.judges:
        return {"family": list(family), "judges": []}
    asked = resolve_measure(track, measure)
    grades = [panel.reference, *(each.grades for each in panel.judges)]
    if panel.layer is not None:
        marks = [_read_as_marks(each, panel.layer) for each in grades]
        scores = _score_answers(asked, family, marks, topics, progress)
    else:
        prepared = [prepare(Qrels(each, Problems()), topics, panel.top_grade) for each in grades]
        scores = _score_runs(track, asked, family, prepared, progress)
    judged = np.array([[topic in each.topics for topic in topics] for each in panel.judges])
    groups = number_topic_groups(track.collection_id, topics)
    reference, *by_judge = (_summarise(track, asked, family, each, groups) for each in scores)
    tested = scale_of(asked).tested(scores)
    boards = mix_judges(tested[1:], judged, tested[0])
    means = np.array(reference["means"], dtype=np.float64)
    ranges = summarise_mixtures(boards, means, asked.direction)
    pairs = {}
    if panel.tests_pairs:
        pairs = _compare_pairs(asked, tested[1:], groups)
    noise = measure_noise(tested[1:])
    return {
        **pairs,
        "noise": [
            [None if math.isnan(end) else float(end) for end in ends]
            for ends in zip(noise.low, noise.high, strict=True)
        ],
        "family": list(family),
        "baseline": track.baseline_id if track.baseline_id in family else None,
        "topics": len(topics),
        "units": count_units_of(len(topics), groups),
        "reference": reference,
        "judges": [
            {**of, "name": each.name, "topics": int(judged[place].sum())}
            for place, (each, of) in enumerate(zip(panel.judges, by_judge, strict=True))
        ],
        "mixtures": {
            **asdict(ranges),
            "best": ranges.best.tolist(),
            "worst": ranges.worst.tolist(),
        },
    }


def find_evaluated_topics(track: Track, reference: Grades) -> list[bytes]:
    """Return the topics that count, in the order of draws: as on a board with these judgments."""
    least = max(1, track.relevance_threshold) if track.drop_empty_topics else -math.inf
    excluded = {number.encode() for number in track.excluded_topics}
    counted = [
        topic
        for topic, judged in reference.items()
        if topic not in excluded and max(judged.values(), default=-math.inf) >= least
    ]
    return [counted[place] for place in topic_order(counted)]


def _score_runs(
    track: Track,
    measure: Measure,
    family: Sequence[str],
    prepared: Sequence[Judgments],
    progress: Progress,
) -> NDArray[np.float64]:
    """Return float64[judgments, runs, topics]: every ranking is read once."""
    runs = Run.objects.in_bulk(list(family))
    convention = CONVENTIONS[track.convention]
    scores = np.empty((len(prepared), len(family), len(prepared[0].topics)))
    for place, run_id in enumerate(family):
        read = open_run(runs[run_id])
        for number, judgments in enumerate(prepared):
            scores[number, place] = measure.scores(judge(read, judgments, track.depth, convention))
        progress(place + 1, len(family))
    return scores


def _read_as_marks(grades: Grades, layer: MarkLayer) -> AnswerMarks:
    """Return the marks of a judge in the place of those of a layer of people."""
    if layer.nuggets_id is None:
        return AnswerMarks(support=layer_of_support(grades))
    bank = load_bank(layer.nuggets_id)
    return AnswerMarks(bank, layer_of_assignments(grades, bank))


def _score_answers(
    measure: AnyMeasure,
    family: Sequence[str],
    marks: Sequence[AnswerMarks],
    topics: Sequence[bytes],
    progress: Progress,
) -> NDArray[np.float64]:
    """Return float64[judges, runs, topics]: the answers of every run are read once."""
    assert isinstance(measure, AnswerMeasure)
    runs, names = Run.objects.in_bulk(list(family)), [topic.decode() for topic in topics]
    scores = np.empty((len(marks), len(family), len(names)))
    for place, run_id in enumerate(family):
        answers = dict(read_answers(runs[run_id]))
        for number, each in enumerate(marks):
            judged = judge_answers(run_id, answers, each, names)
            scores[number, place] = measure.scores(judged).by_topic
        progress(place + 1, len(family))
    return scores


def _summarise(
    track: Track,
    measure: AnyMeasure,
    family: Sequence[str],
    scores: NDArray[np.float64],
    groups: NDArray[np.int64] | None,
) -> dict[str, Any]:
    """Return the means of a board and its tests against the baseline."""
    means = [measure.aggregate(row) for row in scores]
    found: dict[str, Any] = {"means": [None if math.isnan(mean) else mean for mean in means]}
    if track.baseline_id in family:
        against = compare_with_baseline(
            scores,
            list(family).index(track.baseline_id),
            test=track.test,
            direction=measure.direction,
            scale=scale_of(measure),
            groups=groups,
        )
        found["against"] = [_pack(difference) for difference in against]
    return found


def _compare_pairs(
    measure: AnyMeasure, scores: NDArray[np.float64], groups: NDArray[np.int64] | None
) -> dict[str, Any]:
    """Test all pairs of runs by each judge, of float64[judges, runs, topics].

    Returns how many pairs there are, how many have another verdict by some judge, and those that
    turn from the first judge to the last. A pair has its two places in the family, the decision by
    each of these two (1 if its first run is better, -1 if worse, 0 if they cannot be told apart)
    and the difference by each.
    """
    places = np.flatnonzero(np.logical_and.reduce([has_values(of) for of in scores]))
    if len(places) < 2:
        return {"pairs": {"count": 0, "flipped": 0, "turned": []}}
    half_range = scale_of(measure).half_range
    decided = [
        compare_all_pairs(
            each[places], direction=measure.direction, half_range=half_range, groups=groups
        )
        for each in scores
    ]
    signs = [each.better.astype(int) - each.better.T.astype(int) for each in decided]
    flipped, count = count_flips(np.array(signs))
    ends = [(signs[place], decided[place]) for place in (0, -1)]
    one, two = np.nonzero(np.triu(signs[0] != signs[-1], 1))
    columns = [
        *(places[of].tolist() for of in (one, two)),
        *(sign[one, two].tolist() for sign, _ in ends),
        *(each.differences[one, two].tolist() for _, each in ends),
    ]
    turned = [list(row) for row in zip(*columns, strict=True)]
    return {"pairs": {"count": count, "flipped": flipped, "turned": turned}}


def _pack(difference: Difference) -> dict[str, Any]:
    """Return a difference as JSON stores it; the measure tells its unit."""
    packed = asdict(difference)
    del packed["unit"]
    return packed
