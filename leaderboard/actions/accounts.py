"""The account of a user: its email and sign-on, the export of what the site has, its deletion."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.people import find_teams_led_alone, lock_teams_of
from leaderboard.actions.refusals import ActionError
from leaderboard.models import (
    Assessment,
    Assessor,
    Assignment,
    AuditEvent,
    BattleVote,
    BattleVoter,
    Benchmark,
    Collection,
    Download,
    Invitation,
    Mark,
    Membership,
    Message,
    Registration,
    Run,
    StoppedAddress,
    SystemVersion,
    User,
)

GONE = "deleted user"


@transaction.atomic
def switch_mails(user: User, on: bool) -> None:
    """Switch email notices on or off; an address that was refused is tried again."""
    User.objects.filter(pk=user.pk).update(mails=on)
    if on:
        _stopped_addresses(user).delete()


def find_stopped_address(user: User) -> StoppedAddress | None:
    """Return the address of a user that gets no email, and why."""
    return _stopped_addresses(user).first()


def _stopped_addresses(user: User) -> QuerySet[StoppedAddress]:
    own = EmailAddress.objects.filter(user=user).values_list("email", flat=True)
    return StoppedAddress.objects.filter(email__in=[address.lower() for address in own])


@transaction.atomic
def change_profile(user: User, display_name: str, affiliation: str, orcid: str) -> None:
    """Change who the person of an account is; the name to sign in with stays."""
    if (display_name, affiliation, orcid) == (user.get_full_name(), user.affiliation, user.orcid):
        return
    # Single sign-on may have stored two names; here it is one.
    names = {"first_name": display_name, "last_name": ""}
    profile = {**names, "affiliation": affiliation, "orcid": orcid}
    User.objects.filter(pk=user.pk).update(**profile)
    AuditEvent.objects.record(user, "change", user)


def disconnect_provider(user: User, provider: str) -> None:
    """End the connection with a provider.  Raises ActionError without a password."""
    if not user.has_usable_password():
        raise ActionError("Set a password first: you could not sign in otherwise.")
    SocialAccount.objects.filter(user=user, provider=provider).delete()


@transaction.atomic
def forget_second_factor(user: User, by: User | None) -> None:
    """Remove the second factor of a user who lost phone and recovery codes.

    `by` is missing for the command of the server.  Raises ActionError for a user without one.
    """
    removed, _ = user.authenticator_set.all().delete()
    if not removed:
        raise ActionError(f"{user} has no second factor.")
    AuditEvent.objects.record(by, "forget second factor", user)


@transaction.atomic
def create_password_link(user: User, by: User | None) -> str:
    """Return the path of a page where the user sets a new password, for sites without email.

    It works once, until the user signs in or PASSWORD_RESET_TIMEOUT is over; nobody else learns the
    password.  `by` is missing for the command of the server.  Raises ActionError for a user who
    cannot sign in.
    """
    if not user.is_active:
        raise ActionError(f"{user} cannot sign in: the account is disabled.")
    AuditEvent.objects.record(by, "reset password", user)
    key = default_token_generator.make_token(user)
    return reverse("account_reset_password_from_key", args=[user_pk_to_url_str(user), key])


def export_account(user: User) -> dict[str, Any]:
    """Return everything that the site has about a user, as plain values."""
    runs = Run.objects.filter(submitted_by=user).select_related("track", "team")
    versions = SystemVersion.objects.filter(created_by=user).select_related("system__benchmark")
    return {
        "account": {
            "username": user.username,
            "first_name": user.first_name,
            "last_name": user.last_name,
            "affiliation": user.affiliation,
            "orcid": user.orcid,
            "email": user.email,
            "joined": user.date_joined.isoformat(),
            "last_login": user.last_login.isoformat() if user.last_login else None,
        },
        "email_addresses": list(
            EmailAddress.objects.filter(user=user).values("email", "verified", "primary")
        ),
        "single_sign_on": [
            {"subject": row.uid, "said": row.extra_data, "since": row.date_joined.isoformat()}
            for row in SocialAccount.objects.filter(user=user)
        ],
        "teams": [
            {
                "benchmark": membership.benchmark.slug,
                "team": membership.team.name,
                "role": membership.role,
                "joined": membership.joined_at.isoformat(),
            }
            for membership in user.memberships.select_related("benchmark", "team").order_by("pk")
        ],
        "runs": [
            {
                "id": run.pk,
                "track": run.track.slug,
                "team": run.team.name,
                "tag": run.tag,
                "filename": run.filename,
                "sha256": run.sha256,
                "received": run.received_at.isoformat(),
                "description": run.description,
                "facts": run.facts,
            }
            for run in runs.order_by("received_at", "pk")
        ],
        "systems": [
            {
                "benchmark": version.system.benchmark.slug,
                "system": version.system.name,
                "description": version.system.description,
                "facts": version.system.facts,
                "version": version.label,
                "commit": version.commit,
                "branch": version.branch,
                "configuration": version.configuration,
                "created": version.created_at.isoformat(),
            }
            for version in versions.order_by("created_at", "pk")
        ],
        "votes": [_export_vote(vote) for vote in user.battle_votes.cast().order_by("pk")],
        "judging": [_export_assessor(assessor) for assessor in user.assessors.order_by("pk")],
        "registrations": [_export_registration(each) for each in user.registrations.all()],
        "questions": [
            {"benchmark": row.benchmark.slug, "text": row.text, "asked": row.asked_at.isoformat()}
            for row in user.questions.select_related("benchmark")
        ],
        "messages": [
            {"benchmark": row.benchmark.slug, "text": row.text, "at": row.created_at.isoformat()}
            for row in Message.objects.filter(created_by=user).select_related("benchmark")
        ],
        "invitations": [
            {
                "benchmark": row.benchmark.slug,
                "email": row.email if row.accepted_by_id == user.pk else "of someone else",
                "at": row.created_at.isoformat(),
            }
            for row in Invitation.objects.filter(
                Q(invited_by=user) | Q(accepted_by=user)
            ).select_related("benchmark")
        ],
        "downloads": [
            {"collection": row.collection.slug, "file": row.file, "at": row.at.isoformat()}
            for row in Download.objects.filter(user=user).select_related("collection")
        ],
        "tokens": [
            {"name": token.name, "scopes": token.scopes, "created": token.created_at.isoformat()}
            for token in user.tokens.all()
        ],
        "notices": [
            {"text": notice.text, "address": notice.address, "at": notice.at.isoformat()}
            for notice in user.notices.all()
        ],
        "activity": [
            {
                "act": event.act,
                "target": f"{event.target_kind} {event.target_id}",
                "at": event.at.isoformat(),
            }
            for event in AuditEvent.objects.filter(actor=user).order_by("at")
        ],
    }


def _export_vote(vote: BattleVote) -> dict[str, Any]:
    """Return what a user preferred, without the runs: those were hidden."""
    return {
        "track": vote.battles.track.slug,
        "topic": vote.topic.number,
        "vote": vote.choice,
        "reason": vote.reason,
        "at": vote.voted_at.isoformat() if vote.voted_at else None,
    }


def _export_assessor(assessor: Assessor) -> dict[str, Any]:
    """Return what a user judged in an assessment, with docnos once it is closed."""
    assessment = assessor.assessment
    notes = assessor.assignments.exclude(notes="").values_list("topic__number", "notes")
    marks = assessor.marks.select_related("document__assignment__topic").order_by("pk")
    is_closed = assessment.state == Assessment.State.CLOSED
    return {
        "track": assessment.track.slug,
        "assessment": assessment.name,
        "pseudonym": assessor.name,
        "joined": assessor.joined_at.isoformat(),
        "notes": dict(notes),
        "marks": [_export_mark(mark, is_closed) for mark in marks],
    }


def _export_registration(registration: Registration) -> dict[str, Any]:
    signatures = registration.signatures.select_related("agreement")
    return {
        "benchmark": registration.benchmark.slug,
        "person": registration.person,
        **registration.answers,
        "sent": registration.sent_at.isoformat(),
        "signed": [
            {"version": row.agreement.version, "name": row.name, "at": row.signed_at.isoformat()}
            for row in signatures
        ],
    }


def _export_mark(mark: Mark, is_closed: bool) -> dict[str, Any]:
    docno = {"docno": mark.document.docno} if is_closed else {}
    return {
        "topic": mark.document.assignment.topic.number,
        **docno,
        "kind": mark.kind,
        "grade": mark.grade,
        "reason": mark.reason,
        "rationale": mark.rationale,
        "seconds": mark.seconds,
        "at": mark.at.isoformat(),
    }


def count_marks(user: User) -> int:
    """Return how many marks the user gave as an assessor."""
    return Mark.objects.filter(assessor__user=user).count()


def count_runs(user: User) -> int:
    """Return how many runs the user submitted."""
    return Run.objects.filter(submitted_by=user).count()


@dataclass(frozen=True)
class Duty:
    """What a user has to hand over before the account is deleted; a team is one of a benchmark."""

    kind: str
    name: str
    benchmark: Benchmark | None = None


def list_duties(user: User) -> list[Duty]:
    """Return what only this user organises or leads, which someone else must take over first."""
    return [
        *(Duty("benchmark", str(benchmark)) for benchmark in Benchmark.objects.filter(owner=user)),
        *(Duty("collection", str(row)) for row in Collection.objects.filter(owner=user)),
        *(Duty("team", team.name, team.benchmark) for team in find_teams_led_alone(user)),
    ]


@transaction.atomic
def delete_account(user: User) -> None:
    """Delete what identifies a user; runs stay with the team, marks under their pseudonym.

    The row stays without a name, because runs and the trail refer to it.  Raises ActionError for
    the owner of a benchmark or collection, and for the only leader of a team with members.
    """
    # Someone who leaves a benchmark at the same moment could make the user its owner.
    benchmarks = Benchmark.objects.filter(co_organisers=user).order_by("pk")
    list(benchmarks.select_for_update(no_key=True, of=("self",)))
    # Of two leaders who leave at the same moment, one sees that nobody else leads.
    lock_teams_of(user)
    if list_duties(user):
        raise ActionError("Hand over or delete your benchmarks, collections and teams first.")
    AuditEvent.objects.record(user, "delete", user)
    _forget_name(user.username)
    Membership.objects.filter(user=user).delete()
    _stopped_addresses(user).delete()
    addresses = EmailAddress.objects.filter(user=user).values_list("email", flat=True)
    own = Q(accepted_by=user) | Q(email__in=[address.lower() for address in addresses])
    Invitation.objects.filter(own).delete()
    EmailAddress.objects.filter(user=user).delete()
    Authenticator.objects.filter(user=user).delete()
    SocialAccount.objects.filter(user=user).delete()
    _leave_assessments(user)
    _leave_battles(user)
    for benchmark in benchmarks:
        benchmark.co_organisers.remove(user)
    for collection in Collection.objects.filter(co_organisers=user):
        collection.co_organisers.remove(user)
    # Organisers keep who signed for a team that takes part.
    user.registrations.filter(team=None).delete()
    user.registrations.update(answers={})
    Download.objects.filter(user=user).update(user=None)
    user.questions.update(user=None)
    user.tokens.all().delete()
    user.notices.all().delete()
    user.username = f"deleted-{secrets.token_hex(6)}"
    user.first_name = user.last_name = user.email = user.affiliation = user.orcid = ""
    user.is_active = user.is_staff = user.is_superuser = user.can_organise = False
    user.set_unusable_password()
    user.save()


def _leave_battles(user: User) -> None:
    """Keep the votes of a user under a random name."""
    BattleVoter.objects.filter(user=user).delete()
    user.battle_votes.waiting().delete()
    user.battle_votes.put_off().delete()
    user.battle_votes.update(user=None, name=f"voter-{secrets.token_hex(6)}")


def _leave_assessments(user: User) -> None:
    """Part a user from the pseudonyms; what the user has not begun to judge is free for others."""
    assessors = Assessor.objects.filter(user=user)
    Assignment.objects.filter(assessor__in=assessors, drawn_at=None).delete()
    Assignment.objects.filter(assessor__in=assessors).update(notes="")
    assessors.active().update(removed_at=timezone.now())
    assessors.update(user=None)


def _forget_name(username: str) -> None:
    """Replace the name in the details of the trail, where it is a whole value."""
    named = Q(before__icontains=username) | Q(after__icontains=username)
    for event in AuditEvent.objects.filter(named):
        for values in (event.before, event.after):
            if isinstance(values, dict):
                values.update({key: GONE for key in values if values[key] == username})
        event.save(update_fields=["before", "after"])
