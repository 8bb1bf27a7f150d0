"""Battles: organisers open them and import votes; voters get pairs and decide them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from evaluation.battles import CHOICES
from evaluation.reading.judging.votes import read_votes
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.actions.submission_rules import refuse_large
from leaderboard.assessments.battles import VoteNames, draw_battle, find_open_pair
from leaderboard.models import AuditEvent, Battles, BattleVote, BattleVoter, User
from leaderboard.models.battles import LATER
from leaderboard.sight.battles import runs_for_voter
from leaderboard.sight.tracks import TrackSight

# The shortest look at a pair, and the most votes of a person in a day.
FEWEST_SECONDS = 2
MOST_PER_DAY = 1_000
LARGEST_FILE = 16 * 2**20


def _refuse_closed(battles: Battles) -> None:
    if not battles.accepts_votes:
        raise ActionError("The battles are closed.")


@transaction.atomic
def save_battles(battles: Battles, user: User) -> None:
    """Open the battles of a track, or change them."""
    act = "open" if battles.pk is None else "change"
    battles.save()
    after = {name: getattr(battles, name) for name in ("voters", "drawing", "is_open")}
    AuditEvent.objects.record(user, act, battles, after=after)


def accept_invitation(battles: Battles, user: User) -> None:
    """Let a user vote who has the invitation link."""
    _refuse_closed(battles)
    BattleVoter.objects.get_or_create(battles=battles, user=user)


def hand_out_pair(sight: TrackSight, battles: Battles, user: User) -> BattleVote | None:
    """Return the pair that a voter has open, or a new one; None where all are decided.

    What was put off comes back last.
    """
    allowed = set(runs_for_voter(sight).values_list("pk", flat=True))
    waiting = find_open_pair(battles, user)
    if waiting is not None and {waiting.first_id, waiting.second_id} <= allowed:
        return waiting
    if waiting is not None:
        waiting.delete()
    drawn = draw_battle(sight, battles)
    try:
        with transaction.atomic():
            if drawn is not None:
                drawn.save()
            else:
                _bring_back(battles, user, allowed)
    except IntegrityError:
        pass  # Another page of this voter has drawn one at the same moment.
    return find_open_pair(battles, user)


def _bring_back(battles: Battles, user: User, allowed: set[str]) -> None:
    own = battles.votes.put_off().filter(user=user, first__in=allowed, second__in=allowed)
    oldest = own.order_by("pk").first()
    if oldest is not None:
        BattleVote.objects.filter(pk=oldest.pk, choice=LATER).update(
            choice="", shown_at=timezone.now()
        )


def cast_vote(battles: Battles, user: User, vote_id: int, choice: str, reason: str = "") -> None:
    """Decide a pair that the voter has open; a vote counts once.

    Raises ActionError where it cannot count, and NotAccepted where votes come too fast.
    """
    if choice not in CHOICES:
        raise ActionError("Choose left, right, a tie, or both bad.")
    _refuse_closed(battles)
    own, now = BattleVote.objects.filter(battles=battles, user=user, pk=vote_id), timezone.now()
    waiting = own.waiting().first()
    if waiting is None:
        raise ActionError("This pair is decided already. Here is the next one.")
    _refuse_haste(waiting, now)
    if not own.waiting().update(choice=choice, reason=reason.strip()[:1000], voted_at=now):
        raise ActionError("This pair is decided already. Here is the next one.")


def _refuse_haste(waiting: BattleVote, now: datetime) -> None:
    if now < waiting.shown_at + timedelta(seconds=FEWEST_SECONDS):
        message = f"Look at a pair for {FEWEST_SECONDS} seconds before you decide."
        raise NotAccepted("E_RATE", message, FEWEST_SECONDS)
    lately = BattleVote.objects.filter(user=waiting.user_id, voted_at__gt=now - timedelta(days=1))
    if lately.count() >= MOST_PER_DAY:
        message = f"You can decide up to {MOST_PER_DAY:,} pairs a day. Continue tomorrow."
        raise NotAccepted("E_RATE", message, 3600)


def put_off(battles: Battles, user: User, vote_id: int) -> None:
    """Keep an open pair for later: it comes back when no other is left."""
    BattleVote.objects.filter(battles=battles, user=user, pk=vote_id).waiting().update(choice=LATER)


@transaction.atomic
def undo_vote(battles: Battles, user: User) -> None:
    """Open the last pair again that a voter decided; the present one is kept for later."""
    _refuse_closed(battles)
    own = BattleVote.objects.filter(battles=battles, user=user)
    last = own.cast().order_by("-voted_at", "-pk").first()
    if last is None:
        raise ActionError("There is no vote to undo.")
    own.waiting().update(choice=LATER)
    own.filter(pk=last.pk).update(choice="", voted_at=None, shown_at=timezone.now())


def import_votes(battles: Battles, user: User, file: UploadedFile) -> int:
    """Import votes that were given elsewhere, all or none; return how many.

    Raises NotAccepted for a large file, and Refused with every problem: those of `read_votes`,
    E_FIELD without a voter, E_UNKNOWN_TOPIC, E_UNKNOWN_RUN, E_TAG for a tag of several runs, and
    E_DUP_VOTE.
    """
    refuse_large(file, LARGEST_FILE)
    read = read_votes(file.file)
    rows = VoteNames.of(battles).build_all(battles, read)
    try:
        with transaction.atomic():
            BattleVote.objects.bulk_create(rows, batch_size=500)
            AuditEvent.objects.record(user, "import votes", battles, after={"votes": len(rows)})
    except IntegrityError:
        raise ActionError("The votes have changed meanwhile. Import the file again.") from None
    return len(rows)
