"""Schemas of requests and answers; the documentation page prints their texts.

An answer contains only keys that were set: a value that the caller may not see has no key.
"""

from __future__ import annotations

import http.client
import math
from datetime import date, datetime
from operator import itemgetter
from typing import Annotated, Any, Literal, TypeAlias

from django.http import HttpResponse
from django.urls import reverse
from ninja import Schema
from pydantic import BeforeValidator, Field, StringConstraints

from evaluation.problems import Problem
from evaluation.reading.repairs import LONGEST_TAG
from leaderboard.actions.machine_judgments import ImportedAnswers
from leaderboard.actions.names import LARGEST_INTEGER, MOST_MEASURES
from leaderboard.actions.partial_uploads import PIECE_LIMIT
from leaderboard.actions.submissions import SubmittedRun, SubmittedVersion
from leaderboard.analysis.topic_choice import TopicFields
from leaderboard.api.errors import MOST_PROBLEMS
from leaderboard.api.fields import (
    Facts,
    FactText,
    Fixes,
    FormFacts,
    GradeScale,
    Instant,
    Label,
    MarkKey,
    Measure,
    Name,
    PlainObject,
    RunTag,
    Slug,
    Tab,
    Text,
    UploadIds,
    Version,
    read_attribute,
)
from leaderboard.api.track_settings import TrackSettings
from leaderboard.models import (
    Assessment,
    AssignedDocument,
    Collection,
    JudgmentSet,
    Mark,
    MarkLayer,
    PartialUpload,
    Pool,
    Run,
)
from leaderboard.models.assessments import HIGHEST_GRADE
from leaderboard.models.registrations import FileReaders
from leaderboard.scoring.branches import BranchComparison
from leaderboard.scoring.version_verdicts import VersionVerdict


def nan_to_null(value: float | None) -> float | None:
    """Return null for an undefined value, because JSON has no NaN."""
    return None if value is None or not math.isfinite(value) else float(value)


Number = Annotated[float | None, BeforeValidator(nan_to_null)]


class ProblemOut(Schema):
    code: str
    severity: Literal["error", "warning", "note"]
    line: int | None = Field(description="Line number from 1; null for the whole file.")
    message: str
    found: str
    hint: str
    count: int = Field(1, description="How often it occurs; `line` is the first.")
    fix: str = Field("", description="The repair that `fix=` makes, if any.")
    suggested: str = Field("", description="The tag that `fix=tag` would use.")
    topic: str = Field("", description="The topic of an answer.")
    sentence: int | None = Field(None, description="The sentence of an answer, from 1.")


FirstProblems = Annotated[list[ProblemOut], BeforeValidator(itemgetter(slice(MOST_PROBLEMS)))]

REFUSED = (401, 403, 404, 409, 413, 422, 429)


class Rejection(Schema):
    """Error response."""

    code: str
    message: str
    problems: list[ProblemOut]


def response_schemas(schema: Any, *statuses: int) -> dict[int, Any]:
    """Return the schemas of a call's answers on success; `add_rejections` adds the others."""
    return dict.fromkeys(statuses or (200,), schema)


def add_rejections(document: dict[str, Any]) -> None:
    """Add what every call answers to a refused request to an OpenAPI document.

    Of statuses that a call declares Ninja builds models, 440 at each start of a server.
    """
    place = "#/components/schemas/"
    schemas = Rejection.model_json_schema(ref_template=place + "{model}")
    document["components"]["schemas"] |= {**schemas.pop("$defs"), Rejection.__name__: schemas}
    content = {"application/json": {"schema": {"$ref": place + Rejection.__name__}}}
    for calls in document["paths"].values():
        for call in calls.values():
            for status in REFUSED:
                answer = {"description": http.client.responses[status], "content": content}
                call["responses"][status] = answer


def json_answer(schema: type[Schema], values: dict[str, Any]) -> HttpResponse:
    """Return values as a JSON answer of this schema."""
    content = schema.model_validate(values).model_dump_json()
    return HttpResponse(content, content_type="application/json; charset=utf-8")


class Paging(Schema):
    limit: int = Field(50, ge=1, le=200)
    after: Label = ""


class TopicFieldsIn(Schema):
    """Which topics of a track are asked for, by their fields."""

    about: Label = Field("", description="Words in the number or one of the texts of a topic.")
    group: Label = Field("", description="The group of topics, such as a conversation.")
    turn: Annotated[int, Field(ge=1, le=LARGEST_INTEGER)] | None = Field(
        None, description="The place of a topic in its group."
    )

    @property
    def wanted(self) -> TopicFields:
        return TopicFields(self.about, self.group, self.turn)


# Collections


class CollectionIn(Schema):
    slug: Slug
    name: Name
    judgments_version: Version = "v1"
    grade_scale: GradeScale | None = Field(
        None, description="`0-3`: 3 is the top grade, even if unused."
    )
    formats: PlainObject = Field({}, description='JSON: `{"topics": "trec"}`. Default: detected.')
    split: Label = Field("", description="Of `beir`: whose judgments to import. Default: test.")
    confirm: Literal["auto", "ask"] = Field(
        "auto", description="auto: import unless there is an error or a question."
    )


class ConfirmIn(Schema):
    formats: PlainObject | None = None
    grade_map: PlainObject | None = Field(
        None, description='`{"2": 1}`: grade 2 becomes 1; `{}`: grades do not change.'
    )
    relevant_from: int | None = Field(None, ge=1, le=127, strict=True)
    renumber_topics: bool | None = None
    grouping: Literal["declared", "apart", "_", "-", ".", ":", "/"] | None = Field(
        None,
        description="Groups of topics: `declared` by a file or a column, `apart` for none, or the "
        "sign after which the numbers of a group differ.",
    )


Joining: TypeAlias = Literal["replace", "join"]
ConflictRule: TypeAlias = Literal["newer", "older", "higher"]


class ConfirmJudgmentsIn(Schema):
    format: Label = Field("", description="File format. Default: detected.")
    grade_map: PlainObject | None = Field(
        None, description='`{"2": 1}`: grade 2 becomes 1; `{}`: grades do not change.'
    )
    relevant_from: int | None = Field(None, ge=1, le=127, strict=True)
    renumber_topics: bool | None = Field(
        None, description="Whether the file counts the topics 1, 2, 3 in their order."
    )
    joining: Joining | None = None
    conflict_rule: ConflictRule | None = None


class JudgmentsIn(Schema):
    version: Version
    note: Annotated[Text, StringConstraints(max_length=2000)] = ""
    format: Label = Field(
        "",
        description="`trec`, `cranfield`, `beir`, `ntcir`, `smart`, `strata`, `subtopics`, "
        "or the columns.",
    )
    confirm: Literal["auto", "ask"] = "auto"
    joining: Joining | Literal[""] = Field(
        "",
        description="`replace`: the file is the whole version; `join`: it is added to another. "
        "Default: asked, if topics that were judged before are missing.",
    )
    joined_to: Version | None = Field(
        None, description="The version that it is added to. Default: the latest."
    )
    conflict_rule: ConflictRule | Literal[""] = Field(
        "",
        description="Whose grade counts where both have judged a document. Default: asked.",
    )


class CollectionReceipt(Schema):
    slug: str
    state: str
    url: str

    @staticmethod
    def resolve_url(collection: Collection) -> str:
        return reverse("api-1:get_collection", args=[collection.slug])


class JudgmentsReceipt(Schema):
    """New judgments, or a new layer of marks."""

    version: str
    state: str
    url: str

    @staticmethod
    def resolve_url(made: JudgmentSet | MarkLayer) -> str:
        if isinstance(made, MarkLayer):
            return reverse("api-1:get_layer", args=[made.track.slug, made.version])
        return reverse("api-1:get_judgments", args=[made.collection.slug, made.version])


class CollectionCounts(Schema):
    documents: int
    topics: int
    judgments: int = 0
    groups: int = Field(0, description="Groups of topics, if the topics are in groups.")


class CardIn(Schema):
    """What organisers state about a machine that judged."""

    model: Annotated[Text, StringConstraints(min_length=1, max_length=120)]
    revision: Annotated[Text, StringConstraints(max_length=120)] = Field(
        "", description="The exact model."
    )
    family: Annotated[Text, StringConstraints(max_length=60)] = Field(
        "", description="Family of models, such as `gpt`."
    )
    prompt: Annotated[Text, StringConstraints(min_length=1, max_length=50_000)]
    prompt_name: Annotated[Text, StringConstraints(max_length=60)] = ""
    parameters: Annotated[Text, StringConstraints(max_length=500)] = ""
    judged_on: date | None = None
    cost: Annotated[Text, StringConstraints(max_length=60)] = ""
    parsing: Annotated[Text, StringConstraints(max_length=2000)] = Field(
        "", description="How grades were read from answers."
    )


class CardOut(CardIn):
    name: str = Field(description="Model and prompt, with the first digits of its hash.")
    prompt_hash: str = Field(description="SHA-256 of the prompt.")
    num_asked: int = Field(description="Documents in the file of answers.")
    num_failed: int = Field(description="Documents without a grade; they stay unjudged.")
    repeats: int = Field(description="Most answers about one document.")
    num_repeated: int = Field(description="Documents with two grades or more.")
    self_agreement: Number = Field(description="Share of them with the same grade again.")
    self_kappa: Number = Field(description="Cohen's kappa of their first two grades.")


class MachineAnswersIn(CardIn):
    version: Version
    note: Annotated[Text, StringConstraints(max_length=2000)] = ""
    format: Literal["", "jsonl", "trec", "csv"] = Field(
        "", description="File format. Default: detected."
    )
    highest_grade: int | None = Field(None, ge=1, le=127)
    confirm: Literal["auto", "ask"] = "auto"


class AnswerCounts(Schema):
    asked: int = Field(alias="num_asked")
    graded: int = Field(alias="num_graded")
    failed: int = Field(alias="num_failed")


class ImportedAnswersOut(Schema):
    version: str = Field(alias="judgment_set.version")
    state: str = Field(alias="judgment_set.state")
    url: str
    counts: AnswerCounts = Field(alias="card")
    problems: FirstProblems = Field(
        alias="notes", description="Answers without a grade, the first 50."
    )

    @staticmethod
    def resolve_url(imported: ImportedAnswers) -> str:
        return JudgmentsReceipt.resolve_url(imported.judgment_set)


class FillUnjudgedIn(Schema):
    people: Version = Field(description="A version by people.")
    machine: Version = Field(description="A version by a machine.")
    version: Version = Field(description="The new version.")
    note: Annotated[Text, StringConstraints(max_length=2000)] = ""


class SourcesOut(Schema):
    """The two versions of judgments by both, and how many documents each judged."""

    people: str = Field(alias="people_version.version")
    machine: str = Field(alias="machine_version.version")
    num_by_people: int = Field(alias="people_version.num_graded")
    num_by_machine: int


class JudgmentsOut(Schema):
    version: str
    state: str
    counts: dict[str, Any]
    sha256: str
    made_by: Literal["", "people", "machine", "both"] = Field(
        "", description="Who judged, if it is known."
    )
    machine: CardOut | None = Field(None, description="The card of the machine that judged.")
    sources: SourcesOut | None = Field(None, description="Of judgments by both.")
    note: str = ""
    grade_map: dict[str, int] = {}
    relevant_from: int = 1
    joined_to: str | None = Field(
        None, description="The version that its file was added to; null if it is a whole version."
    )
    preview: dict[str, Any] = {}
    questions: list[dict[str, Any]] = []
    problems: list[ProblemOut] = []
    problem_totals: dict[str, int] = {}


class DataTerms(Schema):
    """Who may download the files of a collection, and under which licence."""

    shares_documents: bool = Field(False, description="Whether the documents can be downloaded.")
    documents_readers: FileReaders = FileReaders.EVERYONE
    topics_readers: FileReaders = FileReaders.EVERYONE
    judgments_readers: FileReaders = FileReaders.EVERYONE
    licence: Annotated[Text, StringConstraints(max_length=120)] = ""
    source_url: Annotated[Text, StringConstraints(max_length=300, pattern=r"^(https?://\S+)?$")] = (
        Field("", description="Where to get documents that may not be shared.")
    )
    source_note: Annotated[Text, StringConstraints(max_length=2000)] = ""


class CollectionOut(Schema):
    slug: str
    name: str
    state: str
    url: str
    counts: CollectionCounts
    judgment_sets: list[JudgmentsOut] = []
    preview: dict[str, Any] = {}
    questions: list[dict[str, Any]] = []
    problems: list[ProblemOut] = []
    problem_totals: dict[str, int] = {}
    terms: DataTerms | None = None


class CollectionList(Schema):
    items: list[CollectionOut]
    next: str | None


# Tracks


class TrackIn(TrackSettings):
    slug: Slug
    name: Name
    collection: Slug
    judgments: Version | None = Field(description="A version, or null if none.")
    measures: Annotated[list[Measure], Field(min_length=1, max_length=MOST_MEASURES)]
    primary_measure: Measure


class TrackPatch(TrackSettings):
    """Omitted fields do not change. Slug and collection are fixed."""

    slug: Label = ""
    collection: Label = ""
    baseline: Label | None = Field(None, description="ID of a run on the board, or null.")


class QuotaOut(Schema):
    """How many runs a team can submit; null for no limit."""

    today: int | None
    left_today: int | None
    in_all: int | None
    left_in_all: int | None
    resets_at: datetime = Field(alias="next_day", description="When the daily quota resets.")


class TrackOut(TrackSettings):
    slug: str
    url: str
    page: str = Field(description="Its overview; its other pages are below it.")
    collection: str
    benchmark: str = Field(description="The benchmark whose teams take part in the track.")
    # Not Track.State: in the document its name would be that of Run.State.
    state: Literal["draft", "planned", "open", "closed"] = Field(
        description="Draft until it is opened; then planned, open or closed by its dates."
    )
    phase: str = Field(description="What the state means now, worded as on the pages.")
    baseline: str | None = None
    edition: str | None = Field(None, description="Scores compare within one edition.")
    released_at: datetime | None = None
    invitation: str = Field("", description="Invitation code. Only organisers see it.")
    quota: QuotaOut | None = Field(
        None, description="The quota of your team. Only in the answer for a single track."
    )
    opens_at: datetime | None = None
    topics_at: datetime | None = None
    documents_at: datetime | None = None
    judgments_at: datetime | None = None
    baseline_at: datetime | None = None
    closes_at: datetime | None = None
    your_deadline: datetime | None = Field(
        None, description="Your team's later deadline, if the organisers gave it one."
    )
    release_at: datetime | None = None


class CopyIn(Schema):
    slug: Slug
    name: Name
    collection: Slug | None = Field(
        None, description="Another collection, with whose newest judgments the draft is scored."
    )


class TrackList(Schema):
    items: list[TrackOut]
    next: str | None


class RegistrationIn(Schema):
    """What a team says to register, as far as the organisers ask for it."""

    person: Annotated[Text, StringConstraints(max_length=120)] = Field(
        "", description="Person responsible for the team, who signs for it."
    )
    affiliation: Annotated[Text, StringConstraints(max_length=200)] = ""
    country: Annotated[Text, StringConstraints(max_length=80)] = ""
    contact: Annotated[Text, StringConstraints(max_length=200)] = Field(
        "", description="Email address."
    )
    address: Annotated[Text, StringConstraints(max_length=500)] = ""
    tracks: Annotated[list[Label], Field(max_length=100)] = []
    question: Annotated[Text, StringConstraints(max_length=1000)] = Field(
        "", description="Answer to the organisers' own question."
    )
    agreement: int | None = Field(None, description="Version of the agreement that is signed.")
    signed_name: Annotated[Text, StringConstraints(max_length=120)] = Field(
        "", description="Name under the agreement: that of the person responsible."
    )


class JoinIn(Schema):
    invitation: Label = ""
    team: Annotated[Text, StringConstraints(max_length=80)] = Field(
        "", description="Name of the team."
    )
    team_code: Label = Field("", description="Code of the team that invited you.")
    accepts_terms: bool = False
    registration: RegistrationIn = RegistrationIn()


class TeamOut(Schema):
    track: str
    team: str


class TeamIn(Schema):
    name: Annotated[Text, StringConstraints(min_length=1, max_length=80)]


class DeadlineIn(Schema):
    team: Annotated[Text, StringConstraints(max_length=80)] = Field(description="Name of the team.")
    closes_at: Instant | None = Field(
        description="Must be after the track's deadline. null ends the extension."
    )
    reason: Annotated[Text, StringConstraints(max_length=300)] = ""


class TeamDeadline(TeamOut):
    deadline: datetime | None = Field(description="When the team's runs are due.")


class FailedJobOut(Schema):
    id: int
    what: str = Field(description="What failed, in words: “Comparing the runs: bread”.")
    reason: str
    failed_at: datetime


class Me(Schema):
    user: str
    may_organise: bool
    scopes: list[str]
    teams: list[TeamOut]


# Runs


class RunIn(Schema):
    tag: RunTag = Field("", description="Expected tag in the file; with `fix=tag` the tag to use.")
    fix: Fixes = Field(
        (), description="Repairs to make, separated by commas: `tag`, `q0`, `topics`, `comma`."
    )
    description: Annotated[Text, StringConstraints(max_length=5000)] = ""
    team: Annotated[Text, StringConstraints(max_length=80)] = Field(
        "", description="Organisers only: team to submit for."
    )
    replaces: Label = Field(
        "",
        description="ID of your team's run that this one replaces. It is withdrawn once this one "
        "has passed its checks; the two count once against the quota. Only until the deadline.",
    )
    format: Label = Field(
        "", description="Required if the file matches two of the track's `run_formats`."
    )
    facts: FormFacts = {}
    commit: FactText = Field("", description="The fact `commit`.")
    branch: FactText = Field("", description="The fact `branch`.")
    configuration: FactText = Field("", description="The fact `configuration`.")
    upload: Label = Field("", description="Instead of `file`: ID of an upload in pieces.")


class UploadIn(Schema):
    name: Annotated[Text, StringConstraints(max_length=120)] = Field(
        "", description="Name of the file."
    )
    size: int = Field(ge=1, le=2**53, description="Bytes of the file.")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="Its SHA-256, in hexadecimal.")


class UploadOut(Schema):
    id: str = Field(alias="pk")
    url: str
    name: str
    size: int
    received: int = Field(description="Bytes that have arrived; the next piece begins there.")
    piece_limit: int = Field(description="The most bytes of a piece.")
    expires_at: datetime = Field(description="When it is deleted, unless a piece arrives before.")

    @staticmethod
    def resolve_url(upload: PartialUpload) -> str:
        return reverse("api-1:get_upload", args=[upload.pk])

    @staticmethod
    def resolve_piece_limit(upload: PartialUpload) -> int:
        return PIECE_LIMIT


class SystemIn(Schema):
    name: Annotated[Text, StringConstraints(min_length=1, max_length=80)] = Field(
        description="Name of the system, new or existing."
    )
    version: Annotated[Text, StringConstraints(max_length=40)] = Field(
        "", description="Label of the version. Default: the short commit, else the next number."
    )
    commit: FactText = Field("", description="The fact `commit` of each run.")
    branch: FactText = Field("", description="The fact `branch` of each run.")
    configuration: FactText = Field("", description="The fact `configuration` of each run.")
    description: Annotated[Text, StringConstraints(max_length=5000)] = ""
    facts: FormFacts = {}
    uploads: UploadIds = Field(
        (), description="IDs of uploads in pieces, separated by commas: more files."
    )


class SystemRun(Schema):
    track: str = Field(alias="run.track.slug")
    run: Annotated[str, read_attribute("pk")]
    file: str = Field(alias="name", description="The name of the file.")
    url: str

    @staticmethod
    def resolve_url(sent: SubmittedRun) -> str:
        return reverse("api-1:get_run", args=[sent.run.pk])


class SystemReceipt(Schema):
    system: str = Field(alias="version.system.name")
    version: Annotated[str, read_attribute("label")]
    url: str
    runs: list[SystemRun]
    missing: list[Annotated[str, read_attribute("slug")]] = Field(
        description="Tracks without a run of this version."
    )
    problems: list[ProblemOut] = Field(description="Files that were ignored, named in `found`.")

    @staticmethod
    def resolve_url(sent: SubmittedVersion) -> str:
        system = sent.version.system
        address = [system.benchmark.slug, system.pk, sent.version.label]
        return reverse("api-1:get_version", args=address)

    @staticmethod
    def resolve_problems(sent: SubmittedVersion) -> list[Problem]:
        return [
            Problem("E_IGNORED", "note", None, file.problem, file.name) for file in sent.ignored
        ]


class VersionRunOut(Schema):
    track: str = Field(alias="sight.track.slug")
    run: Annotated[str, read_attribute("pk")]
    state: str
    mean: Number = Field(None, description="By the measure of the benchmark or of the track.")


class BenchmarkVerdictOut(Schema):
    verdict: str = Field(description="better, worse, not significant; empty: not tested.")
    difference: Number
    p: Number


class TrackVerdictOut(BenchmarkVerdictOut):
    track: Annotated[str, read_attribute("slug")]
    p: Number = Field(description="By the test of this track, adjusted by Holm over the tracks.")


class VersionVerdictOut(Schema):
    """A version compared with the newest one of main before it, else with the baseline."""

    system: str = Field(alias="other.system.name")
    version: str = Field(alias="other.label")
    branch: str
    sentence: str
    benchmark: BenchmarkVerdictOut
    tracks: list[TrackVerdictOut]

    @staticmethod
    def resolve_benchmark(found: VersionVerdict) -> VersionVerdict:
        return found


class VersionOut(Schema):
    system: str
    version: str
    commit: str
    branch: str
    done: bool
    runs: list[VersionRunOut]
    missing: list[Annotated[str, read_attribute("sight.track.slug")]]
    verdict: VersionVerdictOut | None


class SystemOut(Schema):
    id: int = Field(alias="system.pk")
    system: Annotated[str, read_attribute("name")]
    team: str
    description: str = Field(alias="system.description")
    facts: dict[str, Any] = Field(alias="system.facts")
    versions: list[Annotated[str, read_attribute("version.label")]]


class SystemList(Schema):
    items: list[SystemOut]
    next: str | None


class RepairIn(Schema):
    fix: Fixes = Field(description="Repairs to make: `tag`, `q0`, `topics`, `comma`.")
    tag: RunTag = Field("", description="With `tag`: the tag to use. Default: `suggested`.")


class RunPatch(Schema):
    tag: Annotated[Text, StringConstraints(max_length=LONGEST_TAG)] | None = None
    facts: Facts = {}
    description: Annotated[Text, StringConstraints(max_length=5000)] | None = None


class Withdrawal(Schema):
    reason: Annotated[Text, StringConstraints(max_length=500)] = ""


class RunReceipt(Schema):
    id: str
    state: Run.State
    done: bool
    url: str
    message: str = Field("", description="Who submitted the same file earlier, and when.")


Late = Annotated[bool, Field(description="Whether it arrived after the deadline and grace period.")]


class TopicCounts(Schema):
    """Null until they are counted."""

    judged: int | None = None
    answered: int | None


class Tested(Schema):
    """Test result for two runs on one measure."""

    measure: str
    difference: Number
    low: Number
    high: Number
    p: Number = Field(description="For this pair alone.")
    p_adjusted: Number = Field(description="Adjusted for all tests of the family.")
    unit: str = Field(description="Of the difference: mean, total, or ratio.")
    family: Literal["baseline", "all"]
    test: str
    effect_size: Number
    changed: int = Field(description="Topics on which the two differ.")
    wins: int
    losses: int
    ties: int
    verdict: Literal["better", "worse", "not significant"] | None


class VerdictOut(Tested):
    """The run compared with its team's previous best on the board, for CI."""

    previous: str = Field(description="ID of that run.")
    previous_tag: str


class MainOut(Schema):
    """The run compared with the main branch of its team, or with the baseline."""

    run: str = Field(alias="other.pk", description="ID of the other run.")
    tag: str = Field(alias="other.tag")
    branch: str = Field(description="The main branch; empty if the other run is the baseline.")
    measure: str
    difference: Number
    better: int = Field(description="Topics on which the run is better.")
    worse: int
    gate: Literal["pass", "worse", "cannot tell"] | None = Field(
        None, alias="build.report.answer", description="The answer of the gate of the track."
    )
    sentence: str = Field(description="The same in words, as in notices and Slack.")

    @staticmethod
    def resolve_difference(found: BranchComparison) -> float:
        return found.mean - found.other_mean


class SameRun(Schema):
    id: str = Field(alias="pk")
    tag: str
    team: Annotated[str, read_attribute("name")]


class RunOut(RunReceipt):
    tag: str
    team: str
    description: str = ""
    received_at: datetime = Field(description="Under a pseudonym, the beginning of its day (UTC).")
    late: Late
    withdrawn_at: datetime | None = None
    withdrawn_reason: str = ""
    replaces: str | None = Field(None, description="ID of the run that this one replaces.")
    attempts: int = 0
    queue_position: int | None = Field(
        None, description="1 is the next in line; null if the run is not queued."
    )
    reason: str = Field("", description="Why it failed.")
    problems: list[ProblemOut] = Field([], description="First 50. See problems_url for all.")
    problem_totals: dict[str, int] = {}
    problems_url: str = ""
    fixes: list[str] = Field([], description="Repairs made while reading the file.")
    scores: dict[str, Number] = Field({}, description="Mean scores by measure name.")
    verdict: VerdictOut | None = Field(
        None, description="null if its team had no earlier run on the board."
    )
    main: MainOut | None = Field(
        None, description="Only on tracks with a main branch, where scores are visible."
    )
    topics: TopicCounts | None = None
    format: str = Field("", description="Detected file format.")
    metadata: dict[str, str] = Field({}, description="Its ir_metadata header, by path.")
    facts: Facts = {}
    provenance: dict[str, Any] = {}
    same_rankings: list[SameRun] = Field(
        [],
        description="Runs of other teams with the same first 20 documents of every topic. "
        "Only for organisers, and only in the answer for a single run.",
    )


class RunList(Schema):
    items: list[RunOut]
    next: str | None


class TopicScoreOut(Schema):
    number: str
    score: Number


class TopicScoresOut(Schema):
    measure: str
    topics: list[TopicScoreOut]


class PartOfTopicsOut(Schema):
    name: str = Field(description="The group, or the place of its topics in their groups.")
    topics: int = Field(description="Those on which the run has a score.")
    score: Number
    baseline: Number
    from_baseline: Number
    median: Number = Field(description="Of all runs, by topic.")
    from_median: Number
    low: Number = Field(description="95 % interval of the score at a depth; null for a group.")
    high: Number


class TopicGroupsOut(Schema):
    measure: str
    groups: list[PartOfTopicsOut]
    depths: list[PartOfTopicsOut]


class SentenceOut(Schema):
    text: str
    citations: list[str] = Field(description="The docnos that it cites, the strongest first.")
    contradicted: list[str] = Field(description="Those that it cites as contradicting it.")


class AnswerOut(Schema):
    topic: str
    sentences: list[SentenceOut]
    references: list[str] | None = Field(description="Docnos; null if the run gives none.")


# Boards


class BoardRow(Schema):
    """What the rows of all boards say: the fields of the columns that both boards have."""

    rank: int | None
    rank_low: int | None
    rank_high: int | None
    team: str
    difference: Number
    low: Number
    high: Number
    p: Number
    p_adjusted: Number
    verdict: Literal["better", "worse", "not significant"] | None
    unit: str | None
    effect_size: Number
    changed: int | None = Field(description="Topics on which the run differs from the baseline.")
    wins: int | None
    losses: int | None
    ties: int | None
    received_at: str = Field(
        description="Under a pseudonym, the beginning of its day (UTC).",
        json_schema_extra={"format": "date-time"},
    )


class PairEstimateOut(Schema):
    """The mean of a run estimated from drawn pairs of its answers, with 95 % intervals."""

    measure: str
    marked: float = Field(description="The share of its pairs that people marked.")
    value: Number
    low: Number = Field(description="For these topics: chance is which pairs were drawn.")
    high: Number
    low_over_topics: Number = Field(description="For topics like these; null with too few topics.")
    high_over_topics: Number
    method: str | None = Field(description="How it is estimated; null without an estimate.")
    why_none: str | None = Field(description="Why there is no estimate; null if there is one.")


class StandingOut(BoardRow):
    run: str
    tag: str
    late: Late
    scores: dict[str, Number]
    estimates: list[PairEstimateOut] = Field(
        description="Where people marked pairs that were drawn; they rank no run."
    )
    facts: dict[str, Any] = Field(
        description="What its team states: parameters, costs and links. Under a pseudonym "
        "only facts in fixed words, and costs."
    )
    judged_at_10: Number
    p_holm: Number = Field(description="p_adjusted if Holm adjusts, otherwise null.")


class BoardOut(Schema):
    measure: str
    judgments: str
    judged_by: str | None = Field(description="People, which machine, or both; null if not said.")
    edition: str
    baseline: str | None
    family: Literal["baseline", "all"]
    test: str
    tested: list[str] = Field(description="IDs of the runs in the test family.")
    standings: list[StandingOut]


class FrozenBoardOut(Schema):
    """A frozen board of a track; its rows have the fields of its columns."""

    track: str
    measure: str
    judgments: str
    judged_by: str | None
    edition: str
    baseline: str | None
    family: Literal["baseline", "all"]
    test: str
    standings: list[dict[str, Any]]


class ListedSnapshot(Schema):
    """A frozen board in a list."""

    slug: str
    name: str
    note: str
    caption: str = Field(description="What the board shows, by which measures and tests.")
    created_at: datetime
    formats: Annotated[list[str], BeforeValidator(list)] = Field(
        alias="files", description="Formats of its files, for `format`."
    )


class SnapshotOut(ListedSnapshot):
    runs: Annotated[int, BeforeValidator(len)] = Field(alias="rows")
    judgments: str = Field(alias="edition.judgment_set.version")


class SnapshotList(Schema):
    items: list[SnapshotOut]
    next: str | None


class TopicPairOut(Schema):
    number: str = Field(alias="topic.number")
    a: Number
    b: Number


class Probability(Schema):
    """How probable it is that run `b` is better than `a` by more than the region, or is not."""

    region: float = Field(description="Differences up to this count as equivalent.")
    better: float
    within: float
    worse: float


class ComparisonOut(Tested):
    """Run `b` against run `a`: a positive difference means that b is better."""

    a: str
    b: str
    probability: Probability | None = Field(
        description="From the paired t-test of this pair alone; null below six topics."
    )
    topics: list[TopicPairOut]


# Assessments


# As with tracks, the state of an assessment is not of the kind State, as that of a run is.
AssessmentState = Literal["draft", "open", "paused", "closed"]


# A sample is drawn beside the judgments that it checks.
CHOSEN_METHODS = [method.value for method in Pool.Method if method != Pool.Method.SAMPLE]


class GradeIn(Schema):
    """One grade of a scale in words."""

    grade: int = Field(ge=0, le=HIGHEST_GRADE, strict=True)
    name: Annotated[Text, StringConstraints(min_length=1, max_length=80)]
    line: Annotated[Text, StringConstraints(max_length=300)] = Field("", description="Meaning.")
    example: Annotated[Text, StringConstraints(max_length=1000)] = ""


class PoolIn(Schema):
    method: Literal[*CHOSEN_METHODS] = Field(  # type: ignore[valid-type]
        description="`answers` pairs every answer with every nugget, `citations` sentences with "
        "documents that they cite."
    )
    size: int = Field(
        10,
        ge=1,
        le=1_000,
        strict=True,
        description="Depth, documents per topic, or documents per sentence, by method.",
    )
    runs: Annotated[list[str], Field(min_length=1, max_length=10_000)] | None = Field(
        None, description="IDs of runs. Default: all accepted runs."
    )
    runs_per_team: int | None = Field(
        None, ge=1, le=100, strict=True, description="The first of each team by priority."
    )
    drawn: int | None = Field(
        None,
        ge=10,
        le=1_000_000,
        strict=True,
        description="Of answers: how many pairs of all runs are drawn, with stored probabilities. "
        "Null for every pair.",
    )


class PoolOut(Schema):
    name: str
    method: Pool.Method
    size: int
    about: Literal["documents", "nuggets", "support"]
    state: Pool.State = Field(description="`kept`: approved for judging.")
    runs_per_team: int | None
    drawn: int | None = Field(description="Of answers: about how many pairs are drawn; null: all.")
    nuggets: Annotated[str | None, read_attribute("version")] = Field(
        description="Of answers: the version of the nuggets that are looked for."
    )
    marked_in: Annotated[str | None, read_attribute("version")] = Field(
        description="Of answers: the layer by people whose pairs are excluded."
    )
    summary: dict[str, Any] = Field(description="`documents` or pairs, and how many are `new`.")
    reason: str
    sha256: str
    created_at: datetime
    url: str

    @staticmethod
    def resolve_url(pool: Pool) -> str:
        return reverse("api-1:get_pool", args=[pool.track.slug, pool.name])


class PoolList(Schema):
    items: list[PoolOut]
    next: str | None


class AssessmentSettings(Schema):
    order: Assessment.Order = Assessment.Order.RANDOM
    overlap: Assessment.Overlap = Field(
        Assessment.Overlap.SAMPLE, description="Which documents get a second opinion."
    )
    overlap_size: int = Field(
        10,
        ge=1,
        le=100,
        strict=True,
        description="`sample`: percent of each topic. `topics`: how many topics. `all`: how many "
        "opinions per document.",
    )
    budget: int | None = Field(
        None,
        ge=1,
        le=100_000,
        strict=True,
        description="Documents per topic for the orders `thompson`, `maxmean` and `decides`; null "
        "for the whole pool. These orders go with `overlap` `none`.",
    )
    random_part: int = Field(
        10,
        ge=0,
        le=1_000,
        strict=True,
        description="Documents per topic that `thompson` and `maxmean` draw at random beforehand: "
        "what they find bounds what the order missed. Fewer where the budget is small.",
    )
    rule: Assessment.Rule = Field(
        Assessment.Rule.FIRST, description="Which grade counts if assessors differ."
    )
    topics_per_assessor: int = Field(8, ge=1, le=10_000, strict=True)
    due_on: date | None = Field(None, description="When the judging should be finished.")
    allows_participants: bool = False
    shows_progress: bool = Field(False, description="Whether participants see how far it is.")


class AssessmentIn(AssessmentSettings):
    pool: Label = Field(description="Name of an approved pool of the track.")
    guideline: Annotated[Text, StringConstraints(max_length=20_000)] = Field(
        "",
        description="Markdown that tells assessors how to judge. Default for answers: ours.",
    )
    scale: Annotated[list[GradeIn], Field(min_length=2, max_length=HIGHEST_GRADE + 1)] | None = (
        Field(None, description="Of documents. Answers have their own labels.")
    )


class GuidelineOut(Schema):
    number: int = Field(description="Every mark remembers this number.")
    text: str
    scale: list[GradeIn] = Field(alias="grades", description="The highest grade first.")


# Of all guidelines, which come in their order.
NewestGuideline = Annotated[GuidelineOut, BeforeValidator(itemgetter(-1))]


class AssessmentCounts(Schema):
    documents: int = Field(alias="num_pooled", description="Documents of the pool.")
    judged: int = Field(alias="num_graded", description="Documents with a grade.")
    cannot: int = Field(alias="num_cannot", description="Documents that an assessor cannot judge.")
    to_settle: Annotated[int, BeforeValidator(len)] = Field(
        alias="open_disagreements",
        description="Documents on which assessors differ, still undecided.",
    )


class AssessmentOut(AssessmentSettings):
    name: str
    state: AssessmentState
    pool: Annotated[str, read_attribute("name")]
    url: str
    invitation: str = Field(description="Anyone with this code can become an assessor.")
    opened_at: datetime | None
    closed_at: datetime | None
    version: Annotated[str | None, read_attribute("version")] = Field(
        description="The judgments that closing made."
    )
    layer: Annotated[str | None, read_attribute("version")] = Field(
        description="Of answers: the layer of marks that closing made."
    )
    guideline: NewestGuideline = Field(alias="guidelines")
    counts: AssessmentCounts | None = Field(None, description="Only when reading one.")

    @staticmethod
    def resolve_url(assessment: Assessment) -> str:
        return reverse("api-1:get_assessment", args=[assessment.track.slug, assessment.name])


class GivenGrade(Schema):
    assessor: str = Field(description="The pseudonym.")
    grade: int | None


class DisagreementOut(Schema):
    topic: str
    docno: str = Field(description="Of answers: the key of the item.")
    given: list[GivenGrade]


class SettlementIn(Schema):
    topic: Label
    docno: Label
    grade: Annotated[int, Field(ge=-127, le=127)]
    note: Annotated[Text, StringConstraints(max_length=500)] = ""


class SettledOut(Schema):
    left: int = Field(description="How many disagreements are left.")


class JudgeIn(Schema):
    invitation: Label = Field(description="The code of an assessment, or of an invitation.")


class AssessmentList(Schema):
    items: list[AssessmentOut]
    next: str | None


class CloseIn(Schema):
    version: Version = Field(description="Name of the new judgments, or of the layer of marks.")
    early: bool = Field(False, description="Confirm that some documents have no grade.")


class ThirdOpinionsOut(Schema):
    given: int = Field(description="Documents or pairs that a third assessor now judges.")
    left: int = Field(description="Those for which there is no assessor yet.")


class ProgressOut(Schema):
    waiting: int
    later: int
    judged: int
    cannot: int


class AssignmentOut(Schema):
    """A topic that an assessor judges."""

    id: int
    assessor: str = Field(description="Pseudonym.")
    topic: str
    turn: int = Field(description="1: the first opinion on the topic.")
    progress: ProgressOut = Field(description="Documents by state.")
    finished_at: datetime | None
    last_seen_at: datetime | None = Field(description="When the assessor last judged.")


class AssignmentList(Schema):
    items: list[AssignmentOut]
    next: str | None


class AssignmentIn(Schema):
    """Without fields: share out the free topics."""

    assignment: int | None = Field(None, ge=1, description="ID of an assignment to reassign.")
    to: Label = Field("", description="Pseudonym of the assessor who judges what is left of it.")


class MarksFormIn(Schema):
    format: Literal["", "jsonl", "trec", "doccano"] = Field(
        "", description="File format. Default: detected."
    )


class ImportedMarksOut(Schema):
    marks: int = Field(alias="num_marks")
    assessors: list[str] = Field(description="Their pseudonyms, from the files.")
    problems: FirstProblems = Field(alias="notes", description="Warnings and notes.")


# A row of a table: its columns are those of the same table as CSV.
TableRow = dict[str, str | int | float | None]


class AgreementOut(Schema):
    """The tables of the agreement page, each row with the columns of the table as CSV."""

    judge_names: list[str] = Field(description="Assessors by pseudonym, or two versions.")
    documents: int = Field(description="How many have at least two grades.")
    note: str | None = Field(description="Why there is no agreement; null if there is.")
    measure: str | None = Field(description="The boards by judge are by this measure.")
    boards_follow: bool = Field(description="Whether the boards by judge are being computed.")
    statistics: list[TableRow]
    pairs: list[TableRow]
    grades: list[TableRow]
    confusion: list[TableRow]
    topics: list[TableRow]
    runs: list[TableRow] = Field([], description="Ranks over random choices of judges.")
    judges: list[TableRow] = Field([], description="Boards by judge: tau and verdicts.")


class PlannedLabelsOut(Schema):
    """Half of a 95 % interval for these topics, the median over the runs."""

    judgments: int = Field(alias="labels")
    mean: float
    difference: float


class CorrectedMeansOut(Schema):
    """Means by a machine, corrected by people; a row for each run, as in the table as CSV."""

    machine: str = Field(description="The version of the machine.")
    measure: str | None
    note: str | None = Field(description="Why there are no corrected means; null if there are.")
    means_follow: bool = Field(description="Whether they are being computed.")
    against: str | None = Field(None, description="Differences are from this run.")
    depth: int | None = Field(None, description="The frame has this many documents of a ranking.")
    documents: int | None = Field(None, description="Documents of the frame.")
    drawn: int | None = Field(None, description="Documents that were drawn.")
    judged: int | None = Field(None, description="Those that people graded; others are unknown.")
    slope: float | None = Field(None, description="How far the machine is followed, 0 to 1.")
    power: float | None = Field(
        None,
        description="The probability to find any run that gains a tenth of the range.",
    )
    gainers: list[str] = Field([], description="Runs that gain more than the others.")
    plan: list[PlannedLabelsOut] = []
    runs: list[TableRow] = []


class OwnAssignment(Schema):
    """A topic to judge."""

    id: int
    topic: str
    title: str
    description: str
    narrative: str
    progress: ProgressOut = Field(description="Documents by state.")
    finished_at: datetime | None


class OwnAssessment(Schema):
    """An assessment in which you are an assessor."""

    track: str
    name: str
    state: AssessmentState
    assessor: str = Field(description="Your pseudonym.")
    due_on: date | None
    guideline: NewestGuideline
    assignments: list[OwnAssignment]


class OwnAssessmentList(Schema):
    items: list[OwnAssessment]
    next: str | None


class AskedOut(Schema):
    """What is asked about the text: of an answer a nugget, of a document a sentence."""

    nugget: str = Field("", description="Is it in the answer?")
    accepted: list[str] = Field([], description="Accepted answers, if the nugget is a question.")
    sentence: str = Field("", description="Does the document support it?")
    before: str = Field("", description="The text of the answer before the sentence.")
    after: str = ""


class DocumentOut(Schema):
    """A document to judge, or an answer with a nugget."""

    document: int = Field(description="Its key for your marks.")
    asked: AskedOut | None = None
    title: str | None
    text: str | None = Field(description="null: the collection does not have it.")
    state: AssignedDocument.State


class NextDocuments(Schema):
    guideline: int = Field(description="Number of the guideline that applies now.")
    documents: list[DocumentOut]


class MarkIn(Schema):
    document: int = Field(ge=1, le=2**63 - 1, strict=True)
    kind: Mark.Kind = Field(Mark.Kind.GRADE, description="`undo` takes back the mark it replaces.")
    grade: int | None = Field(None, strict=True, description="Of the scale; only for a grade.")
    reason: Literal["", *Mark.Reason.values] = Field(  # type: ignore[valid-type]
        "", description="Why you cannot judge the document."
    )
    rationale: Annotated[Text, StringConstraints(max_length=2000)] = ""
    spans: Annotated[list[tuple[int, int]], Field(max_length=20)] = Field(
        [], description="Start and end of passages that gave evidence, in characters of the text."
    )
    seconds: float | None = Field(None, description="How long you looked at it.")
    key: MarkKey = Field(description="A mark that is sent again with its key counts once.")
    replaces: MarkKey | Literal[""] = Field(
        "", description="Key of the mark that this one corrects or undoes."
    )


class MarksIn(Schema):
    marks: Annotated[list[MarkIn], Field(max_length=500)]
    tab: Tab = Field("api", description="Documents are held for one tab at a time.")


class MarkResult(Schema):
    key: str
    document: int
    code: str = Field(
        "", description="Empty: stored. Else E_CLOSED, E_CONFLICT, E_FIELD or E_NOT_FOUND."
    )
    message: str = ""


class MarksAnswer(NextDocuments):
    results: list[MarkResult] = Field(description="One for each mark, in their order.")
    progress: ProgressOut


class OwnMark(Schema):
    document: int = Field(alias="document_id")
    key: str
    kind: Mark.Kind
    grade: int | None
    reason: str
    rationale: str
    spans: list[tuple[int, int]]
    seconds: Number
    guideline: Annotated[int, read_attribute("number")]
    replaces: str
    at: datetime

    @staticmethod
    def resolve_replaces(mark: Mark) -> str:
        return "" if mark.replaces is None else mark.replaces.key


class OwnMarkList(Schema):
    items: list[OwnMark]
    next: str | None
