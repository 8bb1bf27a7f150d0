"""The database tables."""

from leaderboard.models.assessments import (
    Assessment,
    Assessor,
    AssignedDocument,
    Assignment,
    Guideline,
    JudgeBoards,
    Mark,
    OrderTrial,
    PracticeDocument,
    Settlement,
)
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
from leaderboard.models.machines import MachineCard
from leaderboard.models.notices import Announcement, Delivery, Mail, Notice, Webhook
from leaderboard.models.people import (
    ApiToken,
    AuditEvent,
    Grant,
    JoinRequest,
    Membership,
    SentForm,
    Team,
    User,
)
from leaderboard.models.pools import Pool
from leaderboard.models.runs import Comparison, Run, Score, ScoreSet
from leaderboard.models.snapshots import Snapshot
from leaderboard.models.tasks import (
    Milestone,
    System,
    SystemVersion,
    Task,
    TaskComparison,
    TaskPage,
    TaskSnapshot,
    TaskTeam,
    TaskTrack,
)
from leaderboard.models.tracks import Edition, Track
from leaderboard.models.uploads import PartialUpload, UploadPiece

__all__ = [
    "Announcement",
    "ApiToken",
    "Assessment",
    "Assessor",
    "AssignedDocument",
    "Assignment",
    "AuditEvent",
    "Collection",
    "Comparison",
    "Delivery",
    "Edition",
    "Grant",
    "Guideline",
    "Intent",
    "Job",
    "JoinRequest",
    "JudgeBoards",
    "Judgment",
    "JudgmentSet",
    "MachineCard",
    "Mail",
    "Mark",
    "Membership",
    "Milestone",
    "Notice",
    "OrderTrial",
    "PartialUpload",
    "Pool",
    "PracticeDocument",
    "Run",
    "Score",
    "ScoreSet",
    "SentForm",
    "Settlement",
    "Snapshot",
    "Stratum",
    "SubtopicGrade",
    "System",
    "SystemVersion",
    "Task",
    "TaskComparison",
    "TaskPage",
    "TaskSnapshot",
    "TaskTeam",
    "TaskTrack",
    "Team",
    "Topic",
    "Track",
    "TrackChange",
    "UploadPiece",
    "User",
    "Webhook",
    "Worker",
]
