"""A track that is alone in its benchmark: from its first day, or once it has left another."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from leaderboard.actions.names import unused_slug
from leaderboard.jobs.erasure import erase_benchmark
from leaderboard.models import Benchmark, Grant, Participation, Run, Team, Track, User
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
    rules = {name: getattr(benchmark, name) for name in (*RULES, "invitation")}
    own = make_own_benchmark(track, benchmark.owner, **rules)
    own.co_organisers.set(benchmark.co_organisers.all())
    Track.objects.filter(pk=track.pk).update(benchmark=own, position=0, phase="", group="")
    for team in benchmark.teams.prefetch_related("memberships"):
        _copy_team(team, own, track)


def _copy_team(team: Team, own: Benchmark, track: Track) -> None:
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


@transaction.atomic
def dissolve_benchmark(benchmark: Benchmark) -> None:
    """Delete a benchmark once each of its tracks stands alone."""
    for track in benchmark.tracks.in_order():
        part_track(track, benchmark)
    erase_benchmark(benchmark)
