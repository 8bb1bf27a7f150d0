"""What a site answers, as values: their fields have the names that the API gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from evaluation.problems import Problem
from rankfield.errors import UnreachableError

Answer = Mapping[str, Any]
Value = TypeVar("Value")
Verdict = Literal["better", "worse", "not significant"]


@dataclass(frozen=True)
class Track:
    """A track with what its runs have to follow."""

    slug: str
    name: str
    collection: str
    state: str
    phase: str
    measures: list[str]
    primary_measure: str
    depth: int
    run_formats: list[str]
    missing_topics: Literal["warn", "refuse"]
    duplicates: Literal["refuse", "keep_best"]
    main_branch: str = ""
    # The path of its overview; its other pages are below it.
    page: str = ""


@dataclass(frozen=True)
class Pool:
    """Documents of runs, or pairs of answers, that people judge once organisers approve them."""

    name: str
    method: str
    size: int
    about: str
    state: Literal["queued", "proposed", "kept", "failed"]
    reason: str
    summary: dict[str, Any]

    @property
    def is_gathered(self) -> bool:
        return self.state != "queued"


@dataclass(frozen=True)
class Assessment:
    """The judging of a pool; whoever has the code `invitation` can become an assessor."""

    name: str
    pool: str
    state: Literal["draft", "open", "paused", "closed"]
    invitation: str
    # What closing made: judgments, or of answers a layer of marks.
    version: str | None
    layer: str | None
    # How much of the pool is judged; of answers, documents are pairs.
    counts: dict[str, Any] | None = None


@dataclass(frozen=True)
class ThirdOpinions:
    """How many documents or pairs a third assessor judges, and for how many there is nobody."""

    given: int
    left: int


@dataclass(frozen=True)
class WrittenNugget:
    """A nugget of a draft; `originals` is what a machine said before people edited it."""

    key: str
    text: str
    importance: str
    group: str | None
    documents: list[str]
    origin: str
    originals: list[str]


@dataclass(frozen=True)
class AnswerSettings:
    """What a track asks of answers; sites that have only ranked runs say nothing of it."""

    run_kind: str = "ranked"
    answer_rules: str = "common"
    answer_limit: int | None = None
    answer_unit: str = ""
    answer_over: str = ""


@dataclass(frozen=True)
class Pair:
    """A run compared with another on one measure; `p_adjusted` counts every test of the family."""

    measure: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    unit: str
    family: str
    test: str
    effect_size: float | None
    wins: int
    losses: int
    ties: int
    verdict: Verdict | None


@dataclass(frozen=True)
class PreviousBest(Pair):
    """A run compared with the best one that its team had on the board before."""

    previous: str
    previous_tag: str


@dataclass(frozen=True)
class MainBranch:
    """A run compared with the main branch of its team, or else with the baseline."""

    run: str
    tag: str
    branch: str
    measure: str
    difference: float | None
    better: int
    worse: int
    sentence: str


@dataclass(frozen=True)
class Run:
    """A run as its team sees it; what the viewer may not see is empty.

    `done` is true when it is scored, rejected or failed. `scores` are means by measure.
    """

    id: str
    state: str
    done: bool
    url: str
    message: str = ""
    tag: str = ""
    team: str = ""
    queue_position: int | None = None
    reason: str = ""
    problems: tuple[Problem, ...] = ()
    problem_totals: dict[str, int] = field(default_factory=dict)
    scores: dict[str, float | None] = field(default_factory=dict)
    verdict: PreviousBest | None = None
    main: MainBranch | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    # The SHA-256 of the file and, where scores are visible, how they are computed again.
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def is_rejected(self) -> bool:
        """Whether it has no scores, because it was rejected or because scoring it failed."""
        return self.state in ("refused", "failed")


@dataclass(frozen=True)
class Benchmark:
    """A benchmark with its tracks, in order."""

    slug: str
    name: str
    main_branch: str
    tracks: list[str]


@dataclass(frozen=True)
class Registration:
    """What teams say when they register; `agreement` has the `version` and `text` they sign."""

    asked: list[str]
    question: str
    agreement: dict[str, Any] | None


@dataclass(frozen=True)
class Disagreement:
    """A document on which assessors differ, with the grade of each under a pseudonym."""

    topic: str
    docno: str
    given: list[dict[str, Any]]


@dataclass(frozen=True)
class Receipt:
    """What a site made of the files of a version; `problems` name the files that it ignored."""

    system: str
    version: str
    url: str
    missing: list[str]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class VersionRun:
    """The run of a version on one track."""

    track: str
    run: str
    state: str
    mean: float | None = None

    @property
    def is_rejected(self) -> bool:
        return self.state in ("refused", "failed")


@dataclass(frozen=True)
class BenchmarkVerdict:
    """A version compared with another over a benchmark; without a test, `verdict` is empty."""

    verdict: Verdict | Literal[""]
    difference: float | None
    p: float | None

    @property
    def is_worse(self) -> bool:
        return self.verdict == "worse"


@dataclass(frozen=True)
class TrackVerdict(BenchmarkVerdict):
    """The same on one track; `p` is adjusted over the tracks."""

    track: str


@dataclass(frozen=True)
class VersionVerdict:
    """A version compared with the newest of the main branch before it, or with the baseline."""

    system: str
    version: str
    branch: str
    sentence: str
    benchmark: BenchmarkVerdict
    tracks: list[TrackVerdict]

    @property
    def is_worse(self) -> bool:
        """Whether the version is significantly worse on the benchmark or on one of its tracks."""
        return any(one.is_worse for one in (self.benchmark, *self.tracks))


@dataclass(frozen=True)
class Version:
    """A version of a system; `done` is true when all its runs are scored, rejected or failed."""

    system: str
    version: str
    commit: str
    branch: str
    done: bool
    runs: list[VersionRun]
    missing: list[str]
    verdict: VersionVerdict | None = None

    @property
    def is_rejected(self) -> bool:
        """Whether a run of it has no scores."""
        return any(run.is_rejected for run in self.runs)


@dataclass(frozen=True)
class Standing:
    """A run on a board, with its test against the baseline."""

    rank: int
    rank_low: int | None
    rank_high: int | None
    run: str
    tag: str
    team: str
    late: bool
    scores: dict[str, float | None]
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    verdict: Verdict | None
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Board:
    """The ranked runs of a track by one measure."""

    measure: str
    judgments: str
    baseline: str | None
    family: str
    test: str
    standings: list[Standing]


@dataclass(frozen=True)
class TopicScore:
    """The score of a run on one topic; None where it is undefined."""

    number: str
    score: float | None


@dataclass(frozen=True)
class TopicPair:
    number: str
    a: float | None
    b: float | None


@dataclass(frozen=True)
class Comparison(Pair):
    """Run `b` compared with run `a`, topic by topic: a positive difference means b is better."""

    a: str
    b: str
    topics: list[TopicPair]


@dataclass(frozen=True)
class TopicMove:
    """A topic on which a new run and its reference differ."""

    topic: str
    reference: float | None
    new: float | None
    difference: float | None


@dataclass(frozen=True)
class GateAnswer:
    """What the gate says of a run beside a fixed reference: pass, worse, or cannot tell.

    `needed` is the number of topics that would let an equal run pass, None where more topics do
    not help or are not needed.
    """

    answer: Literal["pass", "worse", "cannot tell"]
    sentences: list[str]
    run: str
    reference: str
    measure: str
    margin: float
    difference: float | None
    low: float | None
    high: float | None
    topics: int
    changed: int
    needed: int | None
    notice: bool
    unjudged: float
    unjudged_reference: float
    moved: list[TopicMove]


def read_answer(kind: type[Value], answer: Answer) -> Value:
    """Return the value of an answer; fields that it does not know are for later versions.

    Raises UnreachableError if a field is missing or has another type.
    """
    types = types_of(kind)  # type: ignore[arg-type]
    named = require_names(answer, kind.__name__)
    values = {name: value for name, value in named.items() if name in types}
    wrong = [name for name, value in values.items() if not has_type(value, types[name])]
    if wrong:
        raise NotRankfieldError(f"{kind.__name__}.{wrong[0]}")
    try:
        return kind(**values)
    except TypeError:
        raise NotRankfieldError(kind.__name__) from None


class NotRankfieldError(UnreachableError):
    """A part of an answer is not what the API promises."""

    def __init__(self, part: str) -> None:
        super().__init__(f"The site does not answer as Rankfield does: {part}.")


@cache
def types_of(kind: type) -> dict[str, Any]:
    """Return the type of each field of a dataclass."""
    return get_type_hints(kind)


def has_type(value: Any, type_: Any) -> bool:
    """Whether a value of JSON, or one that was read from it, has the type of its field.

    >>> has_type([1, 2.5, None], list[float | None]), has_type({"AP": "?"}, dict[str, float])
    (True, False)
    """
    origin, parts = get_origin(type_), get_args(type_)
    if type_ is Any:
        return True
    if origin is Literal:
        return value in parts
    if origin in (Union, UnionType):
        return any(has_type(value, part) for part in parts)
    if origin in (list, tuple):
        return isinstance(value, origin) and all(has_type(part, parts[0]) for part in value)
    if origin is dict:
        return isinstance(value, dict) and all(has_type(part, parts[1]) for part in value.values())
    if isinstance(value, bool):
        return type_ is bool
    return isinstance(value, (int, float) if type_ is float else type_)


def require_names(answer: Any, what: str) -> Answer:
    """Return an answer that has names and values.  Raises UnreachableError."""
    if not isinstance(answer, Mapping):
        raise NotRankfieldError(what)
    return answer


def list_parts(answer: Answer, name: str) -> list[Answer]:
    """Return a list of an answer.  Raises UnreachableError."""
    found = require_names(answer, name).get(name)
    if not isinstance(found, list):
        raise NotRankfieldError(name)
    return found


def read_problems(answer: Answer) -> tuple[Problem, ...]:
    problems = list_parts({"problems": [], **require_names(answer, "problems")}, "problems")
    return tuple(read_answer(Problem, problem) for problem in problems)


def read_run(answer: Answer) -> Run:
    parts: dict[str, Any] = {"problems": read_problems(answer)}
    for name, kind in (("verdict", PreviousBest), ("main", MainBranch)):
        if answer.get(name):
            parts[name] = read_answer(kind, answer[name])
    return read_answer(Run, {**answer, **parts})


def read_receipt(answer: Answer) -> Receipt:
    return read_answer(Receipt, {**answer, "problems": read_problems(answer)})


def read_version(answer: Answer) -> Version:
    runs = [read_answer(VersionRun, run) for run in list_parts(answer, "runs")]
    found = answer.get("verdict")
    verdict = None if found is None else read_version_verdict(found)
    return read_answer(Version, {**answer, "runs": runs, "verdict": verdict})


def read_version_verdict(answer: Answer) -> VersionVerdict:
    parts = {
        "benchmark": read_answer(
            BenchmarkVerdict, require_names(answer, "verdict").get("benchmark", {})
        ),
        "tracks": [read_answer(TrackVerdict, track) for track in list_parts(answer, "tracks")],
    }
    return read_answer(VersionVerdict, {**answer, **parts})


def read_board(answer: Answer) -> Board:
    standings = [read_answer(Standing, standing) for standing in list_parts(answer, "standings")]
    return read_answer(Board, {**answer, "standings": standings})


def read_comparison(answer: Answer) -> Comparison:
    topics = [read_answer(TopicPair, topic) for topic in list_parts(answer, "topics")]
    return read_answer(Comparison, {**answer, "topics": topics})


def read_gate(answer: Answer) -> GateAnswer:
    moved = [read_answer(TopicMove, topic) for topic in list_parts(answer, "moved")]
    return read_answer(GateAnswer, {**answer, "moved": moved})
