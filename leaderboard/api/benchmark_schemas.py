"""What the API answers about the board of a benchmark."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from ninja import Schema
from pydantic import BeforeValidator, Field, StringConstraints

from leaderboard.actions.names import LARGEST_INTEGER
from leaderboard.api.fields import CollectionDate, Label, Name, Slug, Text, read_attribute
from leaderboard.api.schemas import BoardRow, ListedSnapshot, Number
from leaderboard.models.registrations import Asked


class BenchmarkPlace(Schema):
    track: Slug
    phase: Annotated[Text, StringConstraints(max_length=60)] = ""
    group: Annotated[Text, StringConstraints(max_length=60)] = Field(
        "", description="Tracks of one group have a mean of their own."
    )
    date: CollectionDate = Field(
        "", description="When its collection was made: a year, a month, a day or a place."
    )
    private: bool = Field(
        False, description="Whether participants have no judgments of its collection."
    )


Limit = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]


class BenchmarkPatch(Schema):
    """Omitted fields do not change. The slug is fixed."""

    name: Name = ""
    description: Annotated[Text, StringConstraints(max_length=20000)] = ""
    joining: Literal["everyone", "invitation", "approval"] = "everyone"
    terms: Annotated[Text, StringConstraints(max_length=20000)] = Field(
        "", description="Teams accept them once for all tracks."
    )
    quota_per_day: Limit | None = Field(
        None, description="Runs of a team per day on all tracks together; null: no limit."
    )
    quota_total: Limit | None = Field(
        None, description="Runs of a team in total on all tracks together; null: no limit."
    )
    measure: Annotated[Text, StringConstraints(max_length=80)] = Field(
        "", description="One measure for the board; empty: the ranking measure of each track."
    )
    main_branch: Annotated[Text, StringConstraints(max_length=80)] = Field(
        "", description="Versions are compared with it; empty: with the baseline."
    )
    baseline: Annotated[int, Field(ge=1, le=LARGEST_INTEGER)] | None = Field(
        None, description="ID of a system of the benchmark, or null."
    )
    places: list[BenchmarkPlace] = Field(
        [],
        max_length=500,
        description="The tracks in order. A track of yours that is not in the benchmark is added; "
        "those that you omit follow.",
    )


class AgreementText(Schema):
    version: int
    text: str = Field(description="Markdown.")


class RegistrationRules(Schema):
    asked: list[str] = Field(description="What teams say besides the person responsible.")
    question: str = Field(description="The organisers' own question.")
    agreement: AgreementText | None = Field(description="The version that is signed now.")


class RegistrationPatch(Schema):
    """Omitted fields do not change."""

    asked: Annotated[list[Asked], Field(max_length=len(Asked))] = []
    question: Annotated[Text, StringConstraints(max_length=300)] = ""
    agreement: Annotated[Text, StringConstraints(max_length=50_000)] = Field(
        "", description="Markdown of the next version."
    )


class JoinRequestOut(Schema):
    team: str = Field(alias="team_name")
    user: Annotated[str, read_attribute("username")]
    asked_at: datetime


class ApprovalIn(Schema):
    teams: Annotated[
        list[Annotated[Text, StringConstraints(min_length=1, max_length=80)]],
        Field(min_length=1, max_length=500),
    ]


class ApprovedTeams(Schema):
    teams: list[str]


class BenchmarkCopyIn(Schema):
    slug: Slug
    name: Name
    collections: dict[Slug, Slug] = Field(
        {}, description="Other collections of yours, by the slug of the track that is copied."
    )


class BenchmarkIn(Schema):
    slug: Slug
    name: Name
    tracks: list[Slug] = Field([], max_length=500, description="Tracks that you organise.")
    collections: list[Slug] = Field(
        [],
        max_length=500,
        description="Collections that you organise; each gets an internal track with defaults.",
    )


class BenchmarkOut(Schema):
    slug: str
    name: str
    description: str
    joining: Literal["everyone", "invitation", "approval"]
    terms: str
    quota_per_day: int | None
    quota_total: int | None
    measure: str = Field(description="Empty: the ranking measure of each track.")
    main_branch: str = Field(description="Versions are compared with it; empty: with the baseline.")
    tracks: list[str]
    places: list[BenchmarkPlace] = Field(description="The tracks that you may know, in order.")
    team: str | None = Field(description="Your team.")
    invitation: str = Field("", description="Invitation code. Only organisers see it.")


class BenchmarkList(Schema):
    items: list[BenchmarkOut]
    next: str | None


class BenchmarkTeamOut(Schema):
    benchmark: str
    team: str
    tracks: list[str] = Field(description="The tracks that the team takes part in.")


TeamName = Annotated[Text, StringConstraints(max_length=80)]


class NewTeamOut(BenchmarkTeamOut):
    user: str = Field(description="The account of the team. It has no password.")
    token: str = Field(description="API token of that account. Shown only once.")


class MergeIn(Schema):
    team: TeamName = Field(description="Name of the team that is deleted.")
    into: TeamName = Field(description="Name of the team that gets everything.")


class MessageGroupOut(Schema):
    key: str = Field(description="What names the group in a message.")
    name: str
    people: int
    teams: int


class MessageIn(Schema):
    groups: list[Label] = Field(min_length=1, max_length=500, description="Keys of groups.")
    subject: Name
    text: Annotated[Text, StringConstraints(min_length=1, max_length=10_000)] = Field(
        description="Markdown."
    )
    urgent: bool = Field(False, description="Emailed at once, and not with the email of the day.")
    preview: bool = Field(False, description="Only count who would get it.")


class MessageOut(Schema):
    id: int | None = Field(description="null for a preview.")
    people: int
    teams: int
    by_email: int = Field(description="How many of them get an email too.")


class InvitationsIn(Schema):
    addresses: list[Annotated[Text, StringConstraints(max_length=320)]] = Field(
        min_length=1, max_length=200
    )
    track: Label = Field("", description="Short name of the track of the assessment.")
    assessment: Label = Field("", description="Whom to judge for; empty: take part as a team.")


class InvitationsOut(Schema):
    invited: list[str] = Field(description="Addresses that had no invitation yet.")


class BenchmarkColumnOut(Schema):
    track: str
    name: str
    measure: str
    group: str
    judgments: str
    judged_by: Literal["people", "machine", "both"] | None
    edition: str
    topics: int


class SystemStandingOut(BoardRow):
    rank: int | None = Field(description="By mean, or by Borda points where there is no mean.")
    system: int
    name: str
    version: int
    label: str
    commit: str
    branch: str
    mean: Number
    group_means: dict[str, Number]
    borda: Number
    borda_rank: int | None
    answered: int
    scores: dict[str, Number] = Field(description="By the slug of the track.")
    runs: dict[str, str] = Field(description="IDs of runs by the slug of the track.")


class BenchmarkBoardOut(Schema):
    benchmark: str
    phase: str
    phases: list[str]
    family: Literal["baseline", "all"]
    test: Literal["all_pairs", "max_t"] | None
    tests_ready: bool
    baseline: int | None = Field(description="ID of the baseline's version.")
    no_mean: str | None = Field(description="Why there is no mean; null if there is one.")
    columns: list[BenchmarkColumnOut]
    groups: list[str]
    hidden: list[str] = Field(description="Tracks whose scores are not shown yet.")
    standings: list[SystemStandingOut]
    incomplete: list[SystemStandingOut]


class BenchmarkSnapshotOut(ListedSnapshot):
    systems: Annotated[int, BeforeValidator(len)] = Field(alias="rows")


class BenchmarkSnapshotList(Schema):
    items: list[BenchmarkSnapshotOut]
    next: str | None
