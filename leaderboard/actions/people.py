"""Who takes part in a track, and in which team."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.models import (
    AuditEvent,
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
# What no reader sees in a name: Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt
# of 16.0, with the Hangul fillers and the selectors of variations), and signs drawn as a blank.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\u2800\U00013441\U00013442\U00016fe4\U0001d159]"
)


class CannotJoin(Exception):
    """Why this user cannot take part; the text is for them to read."""


class NameTaken(CannotJoin):
    def __init__(self, name: str) -> None:
        super().__init__(f"The team name {name} is taken. Choose another.")


@dataclass(frozen=True)
class Asking:
    """What somebody says who wants to take part; `team_code` is that of a team which invites."""

    invitation: str = ""
    team_name: str = ""
    team_code: str = ""
    accepts_terms: bool = False


def may_join(track: Track, invitation: str = "") -> bool:
    """Whether a team of one's own needs nobody's approval."""
    if track.joining == Track.Joining.EVERYONE:
        return True
    return hmac.compare_digest(track.invitation.encode(), invitation.encode())


def joins_by_a_run(track: Track) -> bool:
    """Whether the first run makes a team, and nobody has to ask or to accept anything before."""
    return may_join(track) and not track.terms


def team_inviting(track: Track, code: str) -> Team | None:
    # A link may have been changed into what no database stores.
    if not code or not code.isprintable():
        return None
    return track.teams.filter(invitation=code, of_organisers=False).first()


def join(track: Track, user: User, asking: Asking = Asking()) -> Team:
    """The user's team in the track, joined or made if there is none yet.  Raises CannotJoin."""
    team = track.team_of(user)
    if team is not None:
        return team
    refuse_without_terms(track, asking)
    inviting = team_inviting(track, asking.team_code)
    if inviting is not None:
        return _become_member(inviting, user)
    if not may_join(track, asking.invitation):
        raise CannotJoin(CLOSED[track.joining])
    name = checked_name(asking.team_name or user.username)
    return _new_team(track, user, name, accepted_now(track))


CLOSED = {
    Track.Joining.INVITATION: "You need an invitation link to join this track.",
    Track.Joining.APPROVAL: "The organisers approve teams. Ask on the track page.",
}


def refuse_without_terms(track: Track, asking: Asking) -> None:
    if track.terms and not asking.accepts_terms:
        raise CannotJoin("First accept this track’s terms on its page.")


def accepted_now(track: Track) -> datetime | None:
    """When the terms were accepted by somebody who does so now; None where there are none."""
    return timezone.now() if track.terms else None


def ask(track: Track, user: User, asking: Asking) -> JoinRequest:
    """Ask the organisers for a team; asked twice is asked once, for the name that was said last.
    Raises CannotJoin."""
    refuse_without_terms(track, asking)
    name = checked_name(asking.team_name or user.username)
    if track.has_team(name):
        raise NameTaken(name)
    with transaction.atomic():
        request, is_new = JoinRequest.objects.get_or_create(
            track=track,
            user=user,
            defaults={"team_name": name, "accepted_terms_at": accepted_now(track)},
        )
        if is_new or _asks_otherwise(request, name) or _asks_anew(request, name):
            notices.notify_join_requested(request)
    return request


def _asks_otherwise(request: JoinRequest, name: str) -> bool:
    """Give a request that waits this name; whether the one before could not be approved."""
    was_taken = request.name_is_taken
    waiting = JoinRequest.objects.filter(pk=request.pk, state=JoinRequest.State.WAITING)
    changed = waiting.update(team_name=name, accepted_terms_at=accepted_now(request.track))
    request.refresh_from_db()
    return bool(changed) and was_taken


def _asks_anew(request: JoinRequest, name: str) -> bool:
    """Whether somebody asks again who was let in once and has left since."""
    if request.track.team_of(request.user) is not None:
        return False
    let_in = JoinRequest.objects.filter(pk=request.pk, state=JoinRequest.State.APPROVED)
    asked = let_in.update(
        state=JoinRequest.State.WAITING,
        team_name=name,
        accepted_terms_at=accepted_now(request.track),
        asked_at=timezone.now(),
        decided_at=None,
        decided_by=None,
    )
    request.refresh_from_db()
    return bool(asked)


def approve(request: JoinRequest, organiser: User) -> Team:
    """The team that somebody asked for, by the name that was read.  Raises CannotJoin where it is
    taken meanwhile, and where the request was answered or asks for another name since."""
    as_read = {"team_name": request.team_name}
    try:
        with transaction.atomic():
            if not _decide(request, organiser, JoinRequest.State.APPROVED, **as_read):
                raise CannotJoin("This request was already answered or now has another name.")
            accepted = request.accepted_terms_at
            return _new_team(request.track, request.user, request.team_name, accepted)
    except NameTaken:
        notices.notify_name_taken(request)
        raise CannotJoin(
            f"The team name {request.team_name} is taken. "
            f"We asked {request.user} to choose another."
        ) from None


def decline(request: JoinRequest, organiser: User) -> None:
    with transaction.atomic():
        _decide(request, organiser, JoinRequest.State.DECLINED)


def _decide(request: JoinRequest, organiser: User, state: str, **as_read: str) -> bool:
    """Whether it was this answer that counted."""
    waiting = JoinRequest.objects.filter(pk=request.pk, state=JoinRequest.State.WAITING, **as_read)
    decided = bool(waiting.update(state=state, decided_at=timezone.now(), decided_by=organiser))
    if decided:
        AuditEvent.objects.record(organiser, state, request, after={"team": request.team_name})
        notices.notify_join_answered(request, state == JoinRequest.State.APPROVED)
    return decided


def checked_name(name: str) -> str:
    name = " ".join(name.split())
    visible = name.isprintable() and not INVISIBLE.search(name)
    if not name or len(name) > NAME_LIMIT or not visible:
        raise CannotJoin(f"Use 1 to {NAME_LIMIT} printable characters.")
    if team_key(name) == team_key(ORGANISERS):
        raise CannotJoin(f"The name {ORGANISERS} is reserved.")
    return name


def open_team(track: Track, leader: User, name: str) -> Team:
    """A team by a checked name whose leader has accepted no terms. Raises NameTaken."""
    return _new_team(track, leader, name, accepted=None)


def _new_team(track: Track, user: User, name: str, accepted: datetime | None) -> Team:
    try:
        with transaction.atomic():
            team = Team.objects.create(track=track, name=name)
            _enter(team, user, Membership.Role.LEADER, accepted)
            AuditEvent.objects.record(user, "join", team, after={"name": name})
            return team
    except IntegrityError:
        # Two requests of one person at once, or a name that is taken.
        team = track.team_of(user)
        if team is not None:
            return team
        raise NameTaken(name) from None


def _become_member(team: Team, user: User) -> Team:
    try:
        with transaction.atomic():
            _enter(team, user, Membership.Role.MEMBER, accepted_now(team.track))
            AuditEvent.objects.record(user, "become member", team)
            return team
    except IntegrityError:
        return team.track.team_of(user) or team


def _enter(team: Team, user: User, role: str, accepted: datetime | None) -> None:
    Membership.objects.create(
        track=team.track, team=team, user=user, role=role, accepted_terms_at=accepted
    )
    # Who got in by a link needs no answer any more.
    waiting = JoinRequest.objects.filter(track=team.track, user=user)
    waiting.filter(state=JoinRequest.State.WAITING).update(
        state=JoinRequest.State.APPROVED, decided_at=timezone.now()
    )


def leave(track: Track, user: User) -> None:
    """Leave one's team; its runs stay with it.  Raises CannotJoin for the last of its leaders."""
    with transaction.atomic():
        own = Membership.objects.select_related("team").get(track=track, user=user)
        team = Team.objects.select_for_update(no_key=True).get(pk=own.team_id)
        others = team.memberships.exclude(pk=own.pk)
        if own.role == Membership.Role.LEADER and not others.filter(role=own.role).exists():
            raise CannotJoin("Make someone else a leader before you leave.")
        own.delete()
        AuditEvent.objects.record(user, "leave", team)


def make_leader(team: Team, leader: User, user_id: int) -> None:
    """Another member leads too."""
    with transaction.atomic():
        members = team.memberships.filter(user=user_id, role=Membership.Role.MEMBER)
        if members.update(role=Membership.Role.LEADER):
            AuditEvent.objects.record(leader, "make leader", team, after={"user": user_id})


def remove_member(team: Team, leader: User, user_id: int) -> None:
    """Take somebody out of the team, who knows its link; leaders leave by themselves."""
    with transaction.atomic():
        members = team.memberships.filter(user=user_id, role=Membership.Role.MEMBER)
        if members.delete()[0]:
            AuditEvent.objects.record(leader, "remove member", team, before={"user": user_id})
            renew_team_link(team, leader)


@transaction.atomic
def renew_team_link(team: Team, leader: User) -> None:
    """Another link into the team; the one before lets nobody in from now on."""
    Team.objects.filter(pk=team.pk).update(invitation=new_invitation())
    AuditEvent.objects.record(leader, "renew invitation", team)


def team_called(track: Track, name: str) -> Team:
    """The team of that name, made without members if there is none; for organisers."""
    name = checked_name(name)
    team, _ = Team.objects.get_or_create(track=track, key=team_key(name), defaults={"name": name})
    return team


def organisers_team(track: Track) -> Team:
    """The team under which baselines and other runs of the organisers stand."""
    team, _ = Team.objects.get_or_create(
        track=track, of_organisers=True, defaults={"name": ORGANISERS}
    )
    return team


@transaction.atomic
def grant(team: Team, user: User, runs: int, today: bool, reason: str = "") -> Grant:
    """So many runs more, today (UTC) or in all; the team is told.

    Uploads count under the lock on the team's row, so what is granted counts for the next one.
    """
    team = Team.objects.select_for_update(no_key=True).select_related("track").get(pk=team.pk)
    day = timezone.now().date() if today else None
    granted = team.grants.create(runs=runs, day=day, reason=reason, granted_by=user)
    said = {"runs": runs, "day": day.isoformat() if day else None, "reason": reason}
    AuditEvent.objects.record(user, "grant", granted, after=said)
    notices.notify_granted(granted)
    return granted


class CannotAppoint(Exception):
    """Why this cannot be; the text is for the organiser."""


@transaction.atomic
def add_organiser(track: Track, user: User, name: str) -> User:
    """Let the user of that name organise the track too.  Raises CannotAppoint."""
    named = User.objects.filter(username=name, is_active=True).first()
    if named is None:
        raise CannotAppoint(f"No such user: {name}.")
    if track.organisers().filter(pk=named.pk).exists():
        raise CannotAppoint(f"{name} organises this track already.")
    track.co_organisers.add(named)
    AuditEvent.objects.record(user, "add organiser", track, after={"organiser": name})
    notices.notify_appointed(track, named)
    return named


@transaction.atomic
def remove_organiser(track: Track, user: User, organiser: User) -> None:
    """Let somebody organise no more; where it was the owner, another organiser owns the track.

    Raises CannotAppoint for the last one.  The lock on the track keeps two from removing each
    other.
    """
    track = Track.objects.select_for_update(no_key=True).get(pk=track.pk)
    track.co_organisers.remove(organiser)
    if track.owner_id == organiser.pk:
        heir = track.co_organisers.order_by("pk").first()
        if heir is None:
            raise CannotAppoint("A track needs an organiser. Add another first.")
        track.co_organisers.remove(heir)
        Track.objects.filter(pk=track.pk).update(owner=heir)
    before = {"organiser": organiser.username}
    AuditEvent.objects.record(user, "remove organiser", track, before=before)


def needs_second_factor(user: User) -> bool:
    if settings.SECOND_FACTOR == "offered":
        return False
    organises = settings.SECOND_FACTOR == "organisers" and is_organiser(user)
    return user.is_staff or user.is_superuser or organises


def is_organiser(user: User) -> bool:
    """Whether tracks or collections are in this user's hands, or may be."""
    return (
        user.may_organise
        or Track.objects.organised_by(user).exists()
        or Collection.objects.organised_by(user).exists()
    )


def lacks_second_factor(user: User | AnonymousUser) -> bool:
    """Whether this user has to set a second factor before doing anything else here."""
    if not user.is_authenticated or not needs_second_factor(user):
        return False
    return not user.authenticator_set.filter(type="totp").exists()
