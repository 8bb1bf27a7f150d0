"""A track that is alone in its benchmark: from its first day, or once it has left another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from leaderboard.actions.names import unused_slug
from leaderboard.jobs.erasure import erase_benchmark
from leaderboard.models import (
    Agreement,
    Benchmark,
    Grant,
    Participation,
    Registration,
    Run,
    Team,
    Track,
    User,
)
from leaderboard.models.track_settings import setting_fields

# What organisers of a track alone decide of its benchmark.
RULES = tuple(model_field.name for model_field in setting_fields(Benchmark))
# What belongs to a team on each of its tracks.
ON_A_TRACK = (Run, Participation, Grant)


def make_own_benchmark(track: Track, owner: User, **rules: Any) -> Benchmark:
    """Save the benchmark of a track that stands alone, with these rules."""
    slug = unused_slug(track.slug, Benchmark)
    return Benchmark.objects.create(slug=slug, name=track.name, owner=owner, **rules)


def part_track(track: Track, benchmark: Benchmark) -> None:
    """Give a track a benchmark of its own, with copies of the people and rules of this one."""
    copied = (*RULES, "invitation", "asked", "question", "reminds_teams")
    rules = {name: getattr(benchmark, name) for name in copied}
    own = make_own_benchmark(track, benchmark.owner, **rules)
    own.co_organisers.set(benchmark.co_organisers.all())
    Track.objects.filter(pk=track.pk).update(
        benchmark=own, position=0, phase="", group="", dated="", is_private=False
    )
    for changed in (benchmark, own):
        changed.renew_addresses()
    agreements = copy_agreements(benchmark, own)
    for team in benchmark.teams.prefetch_related("memberships"):
        copied_team = _copy_team(team, own, track)
        _copy_registration(team, copied_team, agreements)


def copy_agreements(benchmark: Benchmark, own: Benchmark) -> dict[int, Agreement]:
    """Copy what teams sign; return the copies by the keys of the originals."""
    copies = {}
    for agreement in benchmark.agreements.all():
        key = agreement.pk
        agreement.pk, agreement.benchmark = None, own
        agreement.save(force_insert=True)
        copies[key] = agreement
    return copies


def _copy_registration(team: Team, copied: Team, agreements: Mapping[int, Agreement]) -> None:
    registration = Registration.objects.filter(team=team).first()
    if registration is None:
        return
    signatures = list(registration.signatures.all())
    registration.pk, registration.team, registration.benchmark = None, copied, copied.benchmark
    registration.save(force_insert=True)
    for signature in signatures:
        signature.pk, signature.registration = None, registration
        signature.agreement = agreements[signature.agreement_id]
        signature.save(force_insert=True)


def _copy_team(team: Team, own: Benchmark, track: Track) -> Team:
    """Copy a team with its members, and give the copy what the team has on the track."""
    copied = Team.objects.create(
        benchmark=own,
        name=team.name,
        of_organisers=team.of_organisers,
        created_at=team.created_at,
    )
    for member in team.memberships.all():
        member.pk, member.team, member.benchmark = None, copied, own
        member.save(force_insert=True)
    for rows in ON_A_TRACK:
        rows.objects.filter(team=team, track=track).update(team=copied)
    return copied


@transaction.atomic
def dissolve_benchmark(benchmark: Benchmark) -> None:
    """Delete a benchmark once each of its tracks stands alone."""
    for track in benchmark.tracks.in_order():
        part_track(track, benchmark)
    erase_benchmark(benchmark)
