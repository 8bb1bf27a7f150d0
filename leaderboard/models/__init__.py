"""The database tables."""

from leaderboard.models.activity import AuditEvent
from leaderboard.models.assessments import (
    Assessment,
    Assessor,
    AssignedDocument,
    Assignment,
    Guideline,
    Mark,
    PracticeDocument,
    Settlement,
)
from leaderboard.models.battles import Battles, BattleVote, BattleVoter
from leaderboard.models.benchmarks import (
    Benchmark,
    Milestone,
    Overview,
    System,
    SystemVersion,
)
from leaderboard.models.calculations import Calculation
from leaderboard.models.changes import TrackChange
from leaderboard.models.collections import (
    Collection,
    Intent,
    Judgment,
    JudgmentSet,
    Stratum,
    SubtopicGrade,
    Topic,
)
from leaderboard.models.jobs import Job, Worker
from leaderboard.models.machines import MachineCard, MachineReplies
from leaderboard.models.messages import Invitation, Message, Reminder
from leaderboard.models.notices import (
    Announcement,
    Delivery,
    Digest,
    Mail,
    Notice,
    StoppedAddress,
    Webhook,
)
from leaderboard.models.nuggets import (
    MarkedAnswer,
    MarkLayer,
    NuggetDraft,
    NuggetVersion,
    TopicNuggets,
    WritingStep,
)
from leaderboard.models.people import (
    ApiToken,
    Grant,
    JoinRequest,
    Membership,
    Participation,
    SentForm,
    Team,
    User,
)
from leaderboard.models.pools import Pool
from leaderboard.models.questions import Question
from leaderboard.models.registrations import Agreement, Download, Registration, Signature
from leaderboard.models.reported import ReportedScores, ResultsFile
from leaderboard.models.runs import Run, Score, ScoreSet
from leaderboard.models.snapshots import BenchmarkSnapshot, PagesCopy, Snapshot
from leaderboard.models.tracks import Edition, Track
from leaderboard.models.uploads import PartialUpload, UploadPiece

__all__ = [
    "Agreement",
    "Announcement",
    "ApiToken",
    "Assessment",
    "Assessor",
    "AssignedDocument",
    "Assignment",
    "AuditEvent",
    "BattleVote",
    "BattleVoter",
    "Battles",
    "Benchmark",
    "BenchmarkSnapshot",
    "Calculation",
    "Collection",
    "Delivery",
    "Digest",
    "Download",
    "Edition",
    "Grant",
    "Guideline",
    "Intent",
    "Invitation",
    "Job",
    "JoinRequest",
    "Judgment",
    "JudgmentSet",
    "MachineCard",
    "MachineReplies",
    "Mail",
    "Mark",
    "MarkLayer",
    "MarkedAnswer",
    "Membership",
    "Message",
    "Milestone",
    "Notice",
    "NuggetDraft",
    "NuggetVersion",
    "Overview",
    "PagesCopy",
    "PartialUpload",
    "Participation",
    "Pool",
    "PracticeDocument",
    "Question",
    "Registration",
    "Reminder",
    "ReportedScores",
    "ResultsFile",
    "Run",
    "Score",
    "ScoreSet",
    "SentForm",
    "Settlement",
    "Signature",
    "Snapshot",
    "StoppedAddress",
    "Stratum",
    "SubtopicGrade",
    "System",
    "SystemVersion",
    "Team",
    "Topic",
    "TopicNuggets",
    "Track",
    "TrackChange",
    "UploadPiece",
    "User",
    "Webhook",
    "Worker",
    "WritingStep",
]
