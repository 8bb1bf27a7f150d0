"""Who takes part in a benchmark, and in which team."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from leaderboard.actions.conflicts import JudgesError, find_judges, lock_people
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.registrations import (
    RegistrationDetails,
    RegistrationError,
    give_registration,
    register,
)
from leaderboard.actions.submission_rules import format_utc
from leaderboard.models import (
    AuditEvent,
    Benchmark,
    Collection,
    Grant,
    Invitation,
    JoinRequest,
    Membership,
    Participation,
    Team,
    Track,
    User,
)
from leaderboard.models.people import team_key
from leaderboard.models.tracks import new_invitation
from leaderboard.notifications import notices

ORGANISERS = "organisers"
NAME_LIMIT = 80
# Characters that are invisible in a name: Unicode's Default_Ignorable_Code_Point
# (DerivedCoreProperties.txt of 16.0, with the Hangul fillers and the variation selectors), and
# characters drawn as a blank.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\u2800\U00013441\U00013442\U00016fe4\U0001d159]"
)


class JoinError(Exception):
    """Why a user cannot take part; the user sees the text."""


class NotInvitedError(JoinError):
    """Neither an invitation nor the rules of the benchmark let the user in."""


class NameTakenError(JoinError):
    """The team name is already taken."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The team name {name} is taken. Choose another.")


@dataclass(frozen=True)
class JoinDetails:
    """A user's request to join; `team_code` is the code of a team that invites the user."""

    invitation: str = ""
    team_name: str = ""
    team_code: str = ""
    accepts_terms: bool = False
    registration: RegistrationDetails = field(default_factory=RegistrationDetails)


def can_join(benchmark: Benchmark, invitation: str = "") -> bool:
    """Whether a user may create a team without approval."""
    open_to_all = benchmark.joining == Benchmark.Joining.EVERYONE
    return open_to_all or has_invitation(benchmark, invitation)


def has_invitation(benchmark: Benchmark, code: str) -> bool:
    """Whether this is the code of the invitation link of a benchmark, or one of a person."""
    is_link = hmac.compare_digest(benchmark.invitation.encode(), code.encode())
    return is_link or find_invitation(benchmark, code) is not None


def find_invitation(benchmark: Benchmark, code: str) -> Invitation | None:
    """Return the invitation of one address to take part that has this code, while it works."""
    # A link may be changed to characters that a database cannot store.
    if not code or not code.isprintable():
        return None
    usable = benchmark.invitations.usable().to_join().select_related("invited_by")
    return usable.filter(code=code).first()


def can_join_by_run(benchmark: Benchmark) -> bool:
    """Whether a user's first run creates a team, without approval, registration or terms."""
    return can_join(benchmark) and not benchmark.terms and not benchmark.registers_teams


def find_inviting_team(benchmark: Benchmark, code: str) -> Team | None:
    """Return the team of a benchmark with this invitation code."""
    # A link may be changed to characters that a database cannot store.
    if not code or not code.isprintable():
        return None
    return benchmark.teams.filter(invitation=code, of_organisers=False).first()


@dataclass(frozen=True)
class Admission:
    """Who lets a user into a benchmark: a team, a link, everyone, or nobody yet."""

    benchmark: Benchmark
    inviting: Team | None
    is_invited: bool
    # Whether one of its tracks is open; before that nobody joins.
    is_open: bool

    @property
    def needs_approval(self) -> bool:
        """Whether the user can ask the organisers for a team."""
        asks = self.benchmark.joining == Benchmark.Joining.APPROVAL
        return asks and self.is_open and not self.is_invited

    @property
    def is_possible(self) -> bool:
        return self.is_invited or self.needs_approval


def find_admission(benchmark: Benchmark, asking: JoinDetails) -> Admission:
    """Return whether these details let a user into a benchmark."""
    inviting = find_inviting_team(benchmark, asking.team_code)
    invited = inviting is not None or can_join(benchmark, asking.invitation)
    is_open = benchmark.tracks.opened().exists()
    return Admission(benchmark, inviting, is_invited=invited and is_open, is_open=is_open)


def admit(benchmark: Benchmark, user: User, asking: JoinDetails = JoinDetails()) -> Team:
    """Return the user's team in a benchmark, joined or created if needed.

    Anyone joins whom a team or a link invites, or everyone, and who accepts the terms. Others can
    `request_to_join` where organisers approve; organisers `place_in_team`. Raises JoinError.
    """
    team = benchmark.team_of(user)
    if team is not None:
        return team
    admission = find_admission(benchmark, asking)
    if not admission.is_open:
        raise JoinError("No track of this benchmark is open yet.")
    if not admission.is_invited:
        raise NotInvitedError(JOIN_HINTS[Benchmark.Joining(benchmark.joining)])
    refuse_without_terms(benchmark, asking)
    if admission.inviting is not None:
        return _become_member(admission.inviting, user, terms_accepted_at(benchmark))
    name = clean_team_name(asking.team_name or user.username)
    with transaction.atomic():
        _use_invitation(benchmark, user, asking.invitation)
        _register(benchmark, user, asking)
        return _create_team(benchmark, user, name, terms_accepted_at(benchmark))


def _use_invitation(benchmark: Benchmark, user: User, code: str) -> None:
    """Use up the invitation of one address; of two people at once, the second is not invited."""
    personal = find_invitation(benchmark, code)
    if personal is not None and not Invitation.objects.accept(code, user):
        raise NotInvitedError("Someone else has used this invitation.")


def _register(benchmark: Benchmark, user: User, asking: JoinDetails) -> None:
    try:
        register(benchmark, user, asking.registration)
    except RegistrationError as reason:
        raise JoinError(str(reason)) from None


JOIN_HINTS = {
    Benchmark.Joining.INVITATION: "You need an invitation link to join.",
    Benchmark.Joining.APPROVAL: "The organisers approve teams. Ask on the page where you join.",
}


def refuse_without_terms(benchmark: Benchmark, asking: JoinDetails) -> None:
    if benchmark.terms and not asking.accepts_terms:
        raise JoinError("First accept the terms on the page where you join.")


def refuse_judges(benchmark: Benchmark, user: User) -> None:
    """Refuse a user who judges a track of the benchmark.  Raises JoinError."""
    judging = find_judges(benchmark, [user.pk]).first()
    if judging is not None:
        raise JoinError(str(JudgesError(judging)))


def terms_accepted_at(benchmark: Benchmark) -> datetime | None:
    """Return the time to record for terms accepted now, or None if there are no terms."""
    return timezone.now() if benchmark.terms else None


def request_to_join(benchmark: Benchmark, user: User, asking: JoinDetails) -> JoinRequest:
    """Ask the organisers for a team; a second request only changes the name.  Raises JoinError."""
    refuse_judges(benchmark, user)
    if benchmark.team_of(user) is not None:
        raise JoinError("You are in a team already.")
    if not find_admission(benchmark, asking).needs_approval:
        raise NotInvitedError("This benchmark approves no teams now.")
    refuse_without_terms(benchmark, asking)
    name = clean_team_name(asking.team_name or user.username)
    if benchmark.has_team(name):
        raise NameTakenError(name)
    with transaction.atomic():
        _register(benchmark, user, asking)
        request, is_new = JoinRequest.objects.get_or_create(
            benchmark=benchmark,
            user=user,
            defaults={"team_name": name, "accepted_terms_at": terms_accepted_at(benchmark)},
        )
        if is_new or _rename_request(request, name) or _reopen_request(request, name):
            notices.notify_join_requested(request)
    return request


def _rename_request(request: JoinRequest, name: str) -> bool:
    """Rename a waiting request; return whether its old name was taken."""
    was_taken = request.name_is_taken
    waiting = JoinRequest.objects.waiting().filter(pk=request.pk)
    changed = waiting.update(team_name=name, accepted_terms_at=terms_accepted_at(request.benchmark))
    request.refresh_from_db()
    return bool(changed) and was_taken


def _reopen_request(request: JoinRequest, name: str) -> bool:
    """Reopen an approved request of a user who has left; return whether that was done."""
    if request.benchmark.team_of(request.user) is not None:
        return False
    let_in = JoinRequest.objects.filter(pk=request.pk, state=JoinRequest.State.APPROVED)
    asked = let_in.update(
        state=JoinRequest.State.WAITING,
        team_name=name,
        accepted_terms_at=terms_accepted_at(request.benchmark),
        asked_at=timezone.now(),
        decided_at=None,
        decided_by=None,
    )
    request.refresh_from_db()
    return bool(asked)


def approve_request(request: JoinRequest, organiser: User) -> Team:
    """Create the team of a request under the name that the organiser saw.

    Raises JoinError if the name is taken, or if the request was answered or renamed since.
    """
    as_read = {"team_name": request.team_name}
    try:
        with transaction.atomic():
            if not _decide_request(request, organiser, JoinRequest.State.APPROVED, **as_read):
                raise JoinError("This request was already answered or now has another name.")
            accepted = request.accepted_terms_at
            return _create_team(request.benchmark, request.user, request.team_name, accepted)
    except NameTakenError:
        notices.notify_name_taken(request)
        raise JoinError(
            f"The team name {request.team_name} is taken. "
            f"We asked {request.user} to choose another."
        ) from None


def decline_request(request: JoinRequest, organiser: User) -> None:
    """Decline a request to join."""
    with transaction.atomic():
        _decide_request(request, organiser, JoinRequest.State.DECLINED)


def _decide_request(request: JoinRequest, organiser: User, state: str, **as_read: str) -> bool:
    """Answer a waiting request; return whether this answer counted."""
    waiting = JoinRequest.objects.waiting().filter(pk=request.pk, **as_read)
    decided = bool(waiting.update(state=state, decided_at=timezone.now(), decided_by=organiser))
    if decided:
        AuditEvent.objects.record(organiser, state, request, after={"team": request.team_name})
        notices.notify_join_answered(request, state == JoinRequest.State.APPROVED)
    return decided


def clean_team_name(name: str) -> str:
    """Return a valid team name; raises JoinError."""
    name = " ".join(name.split())
    visible = name.isprintable() and not INVISIBLE.search(name)
    if not name or len(name) > NAME_LIMIT or not visible:
        raise JoinError(f"Use 1 to {NAME_LIMIT} printable characters.")
    if team_key(name) == team_key(ORGANISERS):
        raise JoinError(f"The name {ORGANISERS} is reserved.")
    return name


def create_team(benchmark: Benchmark, leader: User, name: str) -> Team:
    """Create a team whose leader has accepted no terms; raises NameTakenError."""
    return _create_team(benchmark, leader, name, accepted=None)


def place_in_team(benchmark: Benchmark, user: User, name: str) -> Team:
    """Make a user, who accepts no terms, a member of the team of that name; raises JoinError."""
    team = benchmark.teams.filter(key=team_key(clean_team_name(name))).first()
    if team is None:
        return create_team(benchmark, user, clean_team_name(name))
    return _become_member(team, user, accepted=None)


def _create_team(benchmark: Benchmark, user: User, name: str, accepted: datetime | None) -> Team:
    try:
        with transaction.atomic():
            team = Team.objects.create(benchmark=benchmark, name=name)
            _add_member(team, user, Membership.Role.LEADER, accepted)
            give_registration(team, user)
            AuditEvent.objects.record(user, "join", team, after={"name": name})
            return team
    except IntegrityError:
        # Either one user sent two requests at once, or the name is taken.
        team = benchmark.team_of(user)
        if team is not None:
            return team
        raise NameTakenError(name) from None


def _become_member(team: Team, user: User, accepted: datetime | None) -> Team:
    try:
        with transaction.atomic():
            Team.objects.select_for_update(no_key=True).get(pk=team.pk)
            # The members may have deleted their accounts; then nobody else could lead the team.
            leads = not team.memberships.filter(role=Membership.Role.LEADER).exists()
            role = Membership.Role.LEADER if leads else Membership.Role.MEMBER
            _add_member(team, user, role, accepted)
            AuditEvent.objects.record(user, "become member", team)
            return team
    except IntegrityError:
        return team.benchmark.team_of(user) or team


def _add_member(team: Team, user: User, role: str, accepted: datetime | None) -> None:
    lock_people([user.pk])
    refuse_judges(team.benchmark, user)
    Membership.objects.create(
        benchmark=team.benchmark, team=team, user=user, role=role, accepted_terms_at=accepted
    )
    # A user who joined by a link no longer needs an answer.
    waiting = JoinRequest.objects.waiting().filter(benchmark=team.benchmark, user=user)
    waiting.update(state=JoinRequest.State.APPROVED, decided_at=timezone.now())


def leave_team(benchmark: Benchmark, user: User) -> None:
    """Leave the user's team, which keeps its runs; raises JoinError for its last leader."""
    with transaction.atomic():
        own = Membership.objects.select_related("team").get(benchmark=benchmark, user=user)
        team = Team.objects.select_for_update(no_key=True).get(pk=own.team_id)
        others = team.memberships.exclude(pk=own.pk)
        if own.role == Membership.Role.LEADER and not others.filter(role=own.role).exists():
            raise JoinError("Make someone else a leader before you leave.")
        own.delete()
        AuditEvent.objects.record(user, "leave", team)


def lock_teams_of(user: User) -> None:
    """Lock the teams of a user until the end of the transaction, so that no member changes."""
    own = Team.objects.filter(memberships__user=user).order_by("pk")
    list(own.select_for_update(no_key=True, of=("self",)))


def find_teams_led_alone(user: User) -> QuerySet[Team]:
    """Return the teams that have other members, but no leader besides the user."""
    others = Membership.objects.filter(team=OuterRef("pk")).exclude(user=user)
    led = Team.objects.filter(memberships__user=user, memberships__role=Membership.Role.LEADER)
    alone = led.filter(Exists(others)).exclude(Exists(others.filter(role=Membership.Role.LEADER)))
    return alone.select_related("benchmark").order_by("benchmark__name", "pk")


def make_leader(team: Team, leader: User, user_id: int) -> None:
    """Make a member a leader of the team."""
    with transaction.atomic():
        members = _plain_members(team, user_id)
        if members.update(role=Membership.Role.LEADER):
            AuditEvent.objects.record(leader, "make leader", team, after={"user": user_id})


def remove_member(team: Team, leader: User, user_id: int) -> None:
    """Remove a member and renew the link that the member knows; leaders cannot be removed."""
    with transaction.atomic():
        if _plain_members(team, user_id).delete()[0]:
            AuditEvent.objects.record(leader, "remove member", team, before={"user": user_id})
            renew_team_link(team, leader)


def _plain_members(team: Team, user_id: int) -> QuerySet[Membership]:
    return team.memberships.filter(user=user_id, role=Membership.Role.MEMBER)


@transaction.atomic
def renew_team_link(team: Team, leader: User) -> None:
    """Replace the team's invitation link; the old one stops working."""
    Team.objects.filter(pk=team.pk).update(invitation=new_invitation())
    AuditEvent.objects.record(leader, "renew invitation", team)


def get_or_create_team(benchmark: Benchmark, name: str) -> Team:
    """Return the team of that name, created without members if missing; for organisers."""
    name = clean_team_name(name)
    team, _ = benchmark.teams.get_or_create(key=team_key(name), defaults={"name": name})
    return team


def get_or_create_organisers_team(benchmark: Benchmark) -> Team:
    """Return the team of the baselines and other runs of the organisers."""
    team, _ = benchmark.teams.get_or_create(of_organisers=True, defaults={"name": ORGANISERS})
    return team


@transaction.atomic
def grant_runs(
    track: Track, team: Team, user: User, runs: int, today: bool, reason: str = ""
) -> Grant:
    """Grant a team more runs on a track, today (UTC) or in total, and notify it.

    Uploads are counted under the lock on the team's row, so the next upload can use the grant.
    """
    team = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    day = timezone.now().date() if today else None
    granted = team.grants.create(track=track, runs=runs, day=day, reason=reason, granted_by=user)
    after = {"runs": runs, "day": day.isoformat() if day else None, "reason": reason}
    AuditEvent.objects.record(user, "grant", granted, after=after)
    notices.notify_granted(granted)
    return granted


@transaction.atomic
def extend_deadline(
    track: Track, team: Team, user: User, closes_at: datetime | None, reason: str = ""
) -> datetime | None:
    """Give a team a later deadline than its track, or remove that deadline, and notify the team.

    Return the team's deadline; raises ActionError.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    own, _ = Participation.objects.get_or_create(team=team, track=track)
    before = own.closes_at
    if closes_at == before:
        return track.deadline_of(team)
    if closes_at is not None:
        refuse_extension(track, team, closes_at, reason)
    own.closes_at, own.extension_reason = closes_at, reason if closes_at else ""
    own.save()
    track.__dict__.pop("own_deadlines", None)
    AuditEvent.objects.record(
        user,
        "extend",
        own,
        before={"deadline": before and before.isoformat()},
        after={"deadline": closes_at and closes_at.isoformat(), "reason": reason},
    )
    notices.notify_extended(own)
    return track.deadline_of(team)


def refuse_extension(track: Track, team: Team, closes_at: datetime, reason: str) -> None:
    """Raise ActionError if a team cannot have this later deadline."""
    if team.of_organisers:
        raise ActionError("Organisers submit at any time.")
    if track.closes_at is None:
        raise ActionError("This track has no deadline.")
    if track.released_at is not None:
        raise ActionError("Scores are released, so no team can have a later deadline.")
    if track.shows_by_date:
        raise ActionError(
            "All scores of this track appear at its deadline. Change the deadline for all teams."
        )
    if closes_at <= track.closes_at:
        raise ActionError(f"Choose a time after the deadline, {format_utc(track.closes_at)}.")
    if track.planned_release is not None and closes_at > track.planned_release:
        planned = format_utc(track.planned_release)
        raise ActionError(f"Choose a time before the planned release, {planned}.")
    if not reason.strip():
        raise ActionError("Enter a reason. The team and the activity log show it.")


class OrganiserError(Exception):
    """Why an organiser cannot be added or removed; the organiser sees the text."""


def find_new_organiser(organised: Benchmark | Collection, name: str) -> User:
    """Return the user of that name, who does not organise it yet.  Raises OrganiserError."""
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise OrganiserError(f"No such user: {name}.")
    if organised.organisers().filter(pk=user.pk).exists():
        raise OrganiserError(f"{name} already organises this {organised._meta.verbose_name}.")
    return user


@transaction.atomic
def add_organiser(benchmark: Benchmark, user: User, name: str) -> User:
    """Make the user of that name an organiser of a benchmark.  Raises OrganiserError."""
    organiser = find_new_organiser(benchmark, name)
    benchmark.co_organisers.add(organiser)
    AuditEvent.objects.record(user, "add organiser", benchmark, after={"organiser": name})
    notices.notify_appointed(benchmark, organiser)
    return organiser


@transaction.atomic
def remove_organiser(benchmark: Benchmark, user: User, organiser: User) -> None:
    """Remove an organiser; if that was the owner, another organiser becomes the owner.

    Raises OrganiserError for the last one.  The lock on the benchmark keeps two organisers from
    removing each other.
    """
    benchmark = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    benchmark.co_organisers.remove(organiser)
    if benchmark.owner_id == organiser.pk:
        heir = benchmark.co_organisers.order_by("pk").first()
        if heir is None:
            raise OrganiserError("A benchmark needs an organiser. Add another first.")
        benchmark.co_organisers.remove(heir)
        Benchmark.objects.filter(pk=benchmark.pk).update(owner=heir)
    before = {"organiser": organiser.username}
    AuditEvent.objects.record(user, "remove organiser", benchmark, before=before)


def needs_second_factor(user: User) -> bool:
    """Whether this site requires a second factor of the user."""
    if settings.SECOND_FACTOR == "offered":
        return False
    organises = settings.SECOND_FACTOR == "organisers" and is_organiser(user)
    return user.is_staff or user.is_superuser or organises


def is_organiser(user: User) -> bool:
    """Whether the user organises a benchmark or a collection, or may create one."""
    return (
        user.may_organise
        or Benchmark.objects.organised_by(user).exists()
        or Collection.objects.organised_by(user).exists()
    )


def lacks_second_factor(user: User | AnonymousUser) -> bool:
    """Whether the user has to set up a second factor before using the site."""
    if not user.is_authenticated or not needs_second_factor(user):
        return False
    return not user.authenticator_set.filter(type="totp").exists()
