"""Who takes part in a track, and in which team."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from leaderboard.actions.benchmark_teams import enlist, find_row, rows_of, spread, spread_team
from leaderboard.actions.conflicts import (
    JudgesError,
    find_judges,
    find_tracks_beside,
    lock_people,
)
from leaderboard.actions.submission_rules import ActionError, format_utc
from leaderboard.models import (
    AuditEvent,
    Benchmark,
    Collection,
    Grant,
    JoinRequest,
    Membership,
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
    """Neither an invitation nor the rules of the track let the user in."""


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


def can_join(track: Track, invitation: str = "") -> bool:
    """Whether a user may create a team without approval."""
    return track.joining == Track.Joining.EVERYONE or has_invitation(track, invitation)


def has_invitation(place: Track | Benchmark, code: str) -> bool:
    """Whether this is the code of the invitation link of a track or a benchmark."""
    return hmac.compare_digest(place.invitation.encode(), code.encode())


def can_join_by_run(track: Track) -> bool:
    """Whether a user's first run creates a team, without approval or terms to accept."""
    return can_join(track) and not track.terms


def find_inviting_team(place: Track | Benchmark, code: str) -> Team | None:
    """Return the team of a track, or a row of it in a benchmark, with this invitation code."""
    # A link may be changed to characters that a database cannot store.
    if not code or not code.isprintable():
        return None
    teams = Team.objects.filter(invitation=code, of_organisers=False).select_related("track")
    if isinstance(place, Track):
        return teams.filter(track=place).first()
    return teams.filter(benchmark_team__benchmark=place, track__is_draft=False).first()


@dataclass(frozen=True)
class Admission:
    """Who lets a user into a track or a benchmark: a team, a link, everyone, or nobody yet.

    `track` has the rules: the track itself, or the first open one of a benchmark, if there is one.
    """

    track: Track | None
    inviting: Team | None
    is_invited: bool

    @property
    def needs_approval(self) -> bool:
        """Whether the user can ask the organisers for a team."""
        asks = self.track is not None and self.track.joining == Track.Joining.APPROVAL
        return asks and not self.is_invited

    @property
    def is_possible(self) -> bool:
        return self.is_invited or self.needs_approval


def find_admission(place: Track | Benchmark, asking: JoinDetails) -> Admission:
    """Return whether these details let a user into a track or a benchmark."""
    inviting = find_inviting_team(place, asking.team_code)
    if inviting is not None:
        return Admission(inviting.track, inviting, is_invited=True)
    track = place if isinstance(place, Track) else find_track_to_join(place)
    invited = track is not None and can_join(track, asking.invitation)
    return Admission(track, None, is_invited=invited)


def find_track_to_join(benchmark: Benchmark) -> Track | None:
    """Return the track whose rules let people join a benchmark: its first that is open."""
    return benchmark.tracks().filter(is_draft=False).first()


def admit(place: Track | Benchmark, user: User, asking: JoinDetails = JoinDetails()) -> Team:
    """Return the user's team in a track or a benchmark, joined or created if needed.

    Here alone is decided who may join: anyone whom a team or a link invites, or everyone, and who
    accepts the terms. Others can `request_to_join` where organisers approve. Raises JoinError.
    """
    admission = find_admission(place, asking)
    track = admission.track
    if track is None:
        raise JoinError("No track of this benchmark is open yet.")
    team = track.team_of(user) or find_row(track, user)
    if team is None:
        if not admission.is_invited:
            raise NotInvitedError(JOIN_HINTS[track.joining])
        refuse_without_terms(track, asking)
        team = _let_in(user, admission.inviting, track, asking.team_name)
    if isinstance(place, Benchmark) and team.benchmark_team_id is None:
        _link_with_benchmark(team, place)
    return team


def _let_in(user: User, inviting: Team | None, track: Track, team_name: str) -> Team:
    if inviting is not None:
        return _become_member(inviting, user)
    name = clean_team_name(team_name or user.username)
    return _create_team(track, user, name, terms_accepted_at(track))


def _link_with_benchmark(team: Team, benchmark: Benchmark) -> None:
    """Make a team that came with its track, such as from an archive, one of the benchmark."""
    try:
        spread(benchmark)
    except ActionError as reason:
        raise JoinError(str(reason)) from None
    team.refresh_from_db()


JOIN_HINTS = {
    Track.Joining.INVITATION: "You need an invitation link to join this track.",
    Track.Joining.APPROVAL: "The organisers approve teams. Ask on the track page.",
}


def refuse_without_terms(track: Track, asking: JoinDetails) -> None:
    if track.terms and not asking.accepts_terms:
        raise JoinError("First accept this track’s terms on its page.")


def refuse_judges(track: Track, user: User) -> None:
    """Refuse a user who judges the track, or another track of its benchmark.  Raises JoinError."""
    judging = find_judges(find_tracks_beside(track), [user.pk]).first()
    if judging is not None:
        raise JoinError(str(JudgesError(judging)))


def terms_accepted_at(track: Track) -> datetime | None:
    """Return the time to record for terms accepted now, or None if there are no terms."""
    return timezone.now() if track.terms else None


def request_to_join(track: Track, user: User, asking: JoinDetails) -> JoinRequest:
    """Ask the organisers for a team; a second request only changes the name.  Raises JoinError."""
    refuse_without_terms(track, asking)
    refuse_judges(track, user)
    name = clean_team_name(asking.team_name or user.username)
    if track.has_team(name):
        raise NameTakenError(name)
    with transaction.atomic():
        request, is_new = JoinRequest.objects.get_or_create(
            track=track,
            user=user,
            defaults={"team_name": name, "accepted_terms_at": terms_accepted_at(track)},
        )
        if is_new or _rename_request(request, name) or _reopen_request(request, name):
            notices.notify_join_requested(request)
    return request


def _rename_request(request: JoinRequest, name: str) -> bool:
    """Rename a waiting request; return whether its old name was taken."""
    was_taken = request.name_is_taken
    waiting = JoinRequest.objects.filter(pk=request.pk, state=JoinRequest.State.WAITING)
    changed = waiting.update(team_name=name, accepted_terms_at=terms_accepted_at(request.track))
    request.refresh_from_db()
    return bool(changed) and was_taken


def _reopen_request(request: JoinRequest, name: str) -> bool:
    """Reopen an approved request of a user who has left; return whether that was done."""
    if request.track.team_of(request.user) is not None:
        return False
    let_in = JoinRequest.objects.filter(pk=request.pk, state=JoinRequest.State.APPROVED)
    asked = let_in.update(
        state=JoinRequest.State.WAITING,
        team_name=name,
        accepted_terms_at=terms_accepted_at(request.track),
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
            return _create_team(request.track, request.user, request.team_name, accepted)
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
    waiting = JoinRequest.objects.filter(pk=request.pk, state=JoinRequest.State.WAITING, **as_read)
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


def create_team(track: Track, leader: User, name: str) -> Team:
    """Create a team whose leader has accepted no terms; raises NameTakenError."""
    return _create_team(track, leader, name, accepted=None)


def _create_team(track: Track, user: User, name: str, accepted: datetime | None) -> Team:
    try:
        with transaction.atomic():
            if track.has_team(name):
                raise IntegrityError(name)
            team = Team.objects.create(track=track, name=name)
            _add_member(team, user, Membership.Role.LEADER, accepted)
            enlist(team)
            AuditEvent.objects.record(user, "join", team, after={"name": name})
            return team
    except IntegrityError:
        # Either one user sent two requests at once, or the name is taken.
        team = track.team_of(user)
        if team is not None:
            return team
        raise NameTakenError(name) from None


def _become_member(team: Team, user: User) -> Team:
    try:
        with transaction.atomic():
            Team.objects.select_for_update(no_key=True).get(pk=team.pk)
            # The members may have deleted their accounts; then nobody else could lead the team.
            leads = not team.memberships.filter(role=Membership.Role.LEADER).exists()
            role = Membership.Role.LEADER if leads else Membership.Role.MEMBER
            _add_member(team, user, role, terms_accepted_at(team.track))
            if team.benchmark_team is not None:
                spread_team(team.benchmark_team)
            AuditEvent.objects.record(user, "become member", team)
            return team
    except IntegrityError:
        return team.track.team_of(user) or team


def _add_member(team: Team, user: User, role: str, accepted: datetime | None) -> None:
    lock_people([user.pk])
    refuse_judges(team.track, user)
    Membership.objects.create(
        track=team.track, team=team, user=user, role=role, accepted_terms_at=accepted
    )
    # A user who joined by a link no longer needs an answer.
    waiting = JoinRequest.objects.filter(track=team.track, user=user)
    waiting.filter(state=JoinRequest.State.WAITING).update(
        state=JoinRequest.State.APPROVED, decided_at=timezone.now()
    )


def leave_team(track: Track, user: User) -> None:
    """Leave the user's team, which keeps its runs; raises JoinError for its last leader."""
    with transaction.atomic():
        own = Membership.objects.select_related("team").get(track=track, user=user)
        team = Team.objects.select_for_update(no_key=True).get(pk=own.team_id)
        others = team.memberships.exclude(pk=own.pk)
        if own.role == Membership.Role.LEADER and not others.filter(role=own.role).exists():
            raise JoinError("Make someone else a leader before you leave.")
        Membership.objects.filter(team__in=rows_of(team), user=user).delete()
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
    return alone.select_related("track").order_by("track__name", "pk")


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
    """Return the rows of a member who is no leader, on all tracks of the team's benchmark."""
    members = Membership.objects.filter(team__in=rows_of(team), user=user_id)
    return members.filter(role=Membership.Role.MEMBER)


@transaction.atomic
def renew_team_link(team: Team, leader: User) -> None:
    """Replace the team's invitation links; the old ones stop working."""
    for row in rows_of(team):
        Team.objects.filter(pk=row.pk).update(invitation=new_invitation())
    AuditEvent.objects.record(leader, "renew invitation", team)


def get_or_create_team(track: Track, name: str) -> Team:
    """Return the team of that name, created without members if missing; for organisers."""
    name = clean_team_name(name)
    with transaction.atomic():
        key = team_key(name)
        team, is_new = Team.objects.get_or_create(track=track, key=key, defaults={"name": name})
        if is_new:
            enlist(team)
    return team


def get_or_create_organisers_team(track: Track) -> Team:
    """Return the team of the baselines and other runs of the organisers."""
    team, _ = Team.objects.get_or_create(
        track=track, of_organisers=True, defaults={"name": ORGANISERS}
    )
    enlist(team)
    return team


@transaction.atomic
def grant_runs(team: Team, user: User, runs: int, today: bool, reason: str = "") -> Grant:
    """Grant a team more runs, today (UTC) or in total, and notify it.

    Uploads are counted under the lock on the team's row, so the next upload can use the grant.
    """
    team = Team.objects.select_for_update(no_key=True).select_related("track").get(pk=team.pk)
    day = timezone.now().date() if today else None
    granted = team.grants.create(runs=runs, day=day, reason=reason, granted_by=user)
    after = {"runs": runs, "day": day.isoformat() if day else None, "reason": reason}
    AuditEvent.objects.record(user, "grant", granted, after=after)
    notices.notify_granted(granted)
    return granted


@transaction.atomic
def extend_deadline(
    team: Team, user: User, closes_at: datetime | None, reason: str = ""
) -> datetime | None:
    """Give a team a later deadline than its track, or remove that deadline, and notify the team.

    Return the team's deadline; raises ActionError.
    """
    team = Team.objects.select_for_update(no_key=True).select_related("track").get(pk=team.pk)
    before = team.closes_at
    if closes_at == before:
        return team.track.deadline_of(team)
    if closes_at is not None:
        refuse_extension(team, closes_at, reason)
    team.closes_at, team.extension_reason = closes_at, reason if closes_at else ""
    Team.objects.filter(pk=team.pk).update(
        closes_at=team.closes_at, extension_reason=team.extension_reason
    )
    AuditEvent.objects.record(
        user,
        "extend",
        team,
        before={"deadline": before and before.isoformat()},
        after={"deadline": closes_at and closes_at.isoformat(), "reason": reason},
    )
    notices.notify_extended(team)
    return team.track.deadline_of(team)


def refuse_extension(team: Team, closes_at: datetime, reason: str) -> None:
    """Raise ActionError if a team cannot have this later deadline."""
    track = team.track
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


def find_new_organiser(organised: Track | Benchmark, name: str) -> User:
    """Return the user of that name, who does not organise it yet.  Raises OrganiserError."""
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise OrganiserError(f"No such user: {name}.")
    if organised.organisers().filter(pk=user.pk).exists():
        raise OrganiserError(f"{name} already organises this {organised._meta.verbose_name}.")
    return user


@transaction.atomic
def add_organiser(track: Track, user: User, name: str) -> User:
    """Make the user of that name an organiser of the track.  Raises OrganiserError."""
    organiser = find_new_organiser(track, name)
    track.co_organisers.add(organiser)
    AuditEvent.objects.record(user, "add organiser", track, after={"organiser": name})
    notices.notify_appointed(track, organiser)
    return organiser


@transaction.atomic
def remove_organiser(track: Track, user: User, organiser: User) -> None:
    """Remove an organiser; if that was the owner, another organiser becomes the owner.

    Raises OrganiserError for the last one.  The lock on the track keeps two organisers from
    removing each other.
    """
    track = Track.objects.select_for_update(no_key=True).get(pk=track.pk)
    track.co_organisers.remove(organiser)
    if track.owner_id == organiser.pk:
        heir = track.co_organisers.order_by("pk").first()
        if heir is None:
            raise OrganiserError("A track needs an organiser. Add another first.")
        track.co_organisers.remove(heir)
        Track.objects.filter(pk=track.pk).update(owner=heir)
    before = {"organiser": organiser.username}
    AuditEvent.objects.record(user, "remove organiser", track, before=before)


def needs_second_factor(user: User) -> bool:
    """Whether this site requires a second factor of the user."""
    if settings.SECOND_FACTOR == "offered":
        return False
    organises = settings.SECOND_FACTOR == "organisers" and is_organiser(user)
    return user.is_staff or user.is_superuser or organises


def is_organiser(user: User) -> bool:
    """Whether the user organises a track or a collection, or may create one."""
    return (
        user.may_organise
        or Track.objects.organised_by(user).exists()
        or Collection.objects.organised_by(user).exists()
    )


def lacks_second_factor(user: User | AnonymousUser) -> bool:
    """Whether the user has to set up a second factor before using the site."""
    if not user.is_authenticated or not needs_second_factor(user):
        return False
    return not user.authenticator_set.filter(type="totp").exists()
