"""The activity log: who did what, and the words for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from leaderboard.models.people import User


class Act(models.TextChoices):
    """What is recorded, and how it is said before its target."""

    ADD = "add", "added a"
    ADD_ORGANISER = "add organiser", "added an organiser to the"
    ADD_PRACTICE = "add practice", "added a practice document to the"
    ADD_RUN = "add run", "added a run to the"
    ADD_TRACK = "add track", "added a track to the"
    ANNOUNCE = "announce", "made an"
    ANSWER = "answer", "answered a"
    ASK_THIRD = "ask third", "asked for third opinions in the"
    APPROVED = "approved", "approved a"
    BECOME_MEMBER = "become member", "joined the"
    BRING_BACK = "bring back", "restored the"
    CALL_AGAIN = "call again", "retried the"
    CHANGE = "change", "changed the"
    CHECK_AGAIN = "check again", "rechecked the"
    CLOSE = "close", "closed the"
    CONFIRM = "confirm", "confirmed the"
    COPY = "copy", "copied the"
    CREATE = "create", "created the"
    DECLINED = "declined", "declined a"
    DELETE = "delete", "deleted the"
    DISABLE = "disable", "disabled the"
    DISCARD = "discard", "discarded the"
    DISQUALIFY = "disqualify", "disqualified the"
    DRAW_SAMPLE = "draw sample", "drew a sample as the"
    ENABLE = "enable", "enabled the"
    END_TOPIC = "end topic", "ended a topic of the"
    ERASE = "erase", "erased the"
    EXTEND = "extend", "changed the deadline of the"
    FILL_UNJUDGED = "fill unjudged", "filled unjudged documents in the"
    FORGET_SECOND_FACTOR = "forget second factor", "removed the second factor of the"
    FREEZE = "freeze", "froze the board as a"
    GRANT = "grant", "granted a"
    GUIDELINE = "guideline", "wrote a guideline of the"
    HIDE = "hide", "hid the"
    IMPORT = "import", "imported marks into the"
    IMPORT_VOTES = "import votes", "imported votes into the"
    INVITE = "invite", "invited people by email to the"
    JOIN = "join", "joined as the"
    JUDGE = "judge", "joined as an assessor the"
    KEEP = "keep", "approved the"
    LEAVE = "leave", "left the"
    LET_ORGANISE = "let organise", "gave the right to organise to the"
    LIMIT_STORAGE = "limit storage", "changed the storage limit of the"
    MAKE_BASELINE = "make baseline", "asked for a baseline run of the"
    MAKE_LEADER = "make leader", "added a leader to the"
    MERGE = "merge", "merged another team into the"
    OPEN = "open", "opened the"
    ORDER_TRACKS = "order tracks", "ordered the tracks of the"
    PAUSE = "pause", "paused the"
    PLAN = "plan", "planned the"
    REASSIGN = "reassign", "reassigned a topic of the"
    REGISTER = "register", "sent the"
    RELEASE = "release", "released the scores of the"
    REMOVE = "remove", "removed a"
    REMOVE_BADGE = "remove badge", "removed the badge of the"
    REMOVE_MEMBER = "remove member", "removed a member of the"
    REMOVE_ORGANISER = "remove organiser", "removed an organiser from the"
    REMOVE_PRACTICE = "remove practice", "removed a practice document from the"
    REMOVE_TRACK = "remove track", "removed a track from the"
    RENEW_BADGE = "renew badge", "created a badge URL for the"
    RENEW_INVITATION = "renew invitation", "renewed the invitation link of the"
    REPAIR = "repair", "repaired the"
    REPLACE = "replace", "replaced a run by the"
    RESUME = "resume", "resumed the"
    RESET_PASSWORD = "reset password", "created a password link for the"
    REVOKE = "revoke", "revoked a token of the"
    SCORE_AGAIN = "score again", "rescored all runs of the"
    SECOND_ROUND = "second round", "began the second round of the"
    SETTLE = "settle", "settled a document of the"
    SHARE_OUT = "share out", "shared out topics of the"
    SIGN = "sign", "signed the agreement of the"
    STATE_FACTS = "state facts", "edited facts of the"
    STATE_JUDGES = "state judges", "stated who judged the"
    STOP_ORGANISING = "stop organising", "took the right to organise from the"
    SWITCH_ON = "switch on", "switched on a"
    TAKE_OFF = "take off", "removed an assessor from the"
    TEST_EMAIL = "test email", "sent a test email as the"
    TRY = "try", "tried other judgments on the"
    TRY_AGAIN = "try again", "retried the"
    UNDO = "undo", "undid a change of the"
    UNDO_WITHDRAWAL = "undo withdrawal", "undid the withdrawal of the"
    UPLOAD = "upload", "uploaded the"
    WITHDRAW = "withdraw", "withdrew the"
    WITHDRAW_INVITATION = "withdraw invitation", "withdrew an invitation to the"
    WRITE_AGREEMENT = "write agreement", "wrote a version of the agreement of the"
    WRITE = "write", "wrote to people of the"


class AuditEventQuerySet(models.QuerySet["AuditEvent"]):
    def latest_first(self) -> AuditEventQuerySet:
        return self.select_related("actor").order_by("-at", "-pk")

    def about(self, track: models.Model) -> AuditEventQuerySet:
        """Return what was done to a track, and to the people of its benchmark."""
        return self.filter(Q(track=track.pk) | Q(benchmark=track.benchmark_id))

    def last_save(self, names: Sequence[str]) -> AuditEvent | None:
        """Return the last change of these settings."""
        if not names:
            return None
        return self.filter(after__has_any_keys=[*names]).latest_first().first()

    def record(
        self,
        actor: User | None,
        act: str,
        target: models.Model,
        before: Any = None,
        after: Any = None,
    ) -> AuditEvent:
        """Record an act; raises ValueError for one that has no words."""
        track_id = _find_key(target, "track")
        return self.create(
            actor=actor,
            act=Act(act).value,
            target_kind=target._meta.model_name or "",
            target_id=str(target.pk),
            track_id=track_id,
            benchmark_id=None if track_id else _find_key(target, "benchmark"),
            before=before,
            after=after,
        )


def _find_key(target: models.Model, kind: str) -> int | None:
    """Return the key of the track or benchmark that a target is, or belongs to."""
    own = target._meta.model_name == kind
    return target.pk if own else getattr(target, f"{kind}_id", None)


class AuditEvent(models.Model):
    """One act: who did what to which object; append only, but for the mark of an undo."""

    at = models.DateTimeField(default=timezone.now, editable=False)
    actor = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    act = models.CharField(max_length=40)
    target_kind = models.CharField(max_length=20)
    target_id = models.CharField(max_length=40)
    track = models.ForeignKey("Track", models.SET_NULL, null=True, related_name="events")
    # Of what was done to people and rules, which are of no single track.
    benchmark = models.ForeignKey("Benchmark", models.SET_NULL, null=True, related_name="events")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    # When an organiser undid the change.
    undone_at = models.DateTimeField(null=True, editable=False)

    objects = AuditEventQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["target_kind", "target_id"])]

    @property
    def words(self) -> str:
        """The act in words; an archive may have acts of another version."""
        return Act(self.act).label if self.act in Act else f"{self.act}:"

    def __str__(self) -> str:
        return f"{self.act} {self.target_kind} {self.target_id}"
