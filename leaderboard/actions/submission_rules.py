"""Checks that reject a request under the rules of the track or the site.

Each `refuse_` function checks one rule and raises NotAccepted if it is broken.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from leaderboard.actions.refusals import NotAccepted
from leaderboard.display.numbers import counted, mebibytes
from leaderboard.display.phases import phase_of
from leaderboard.models import Benchmark, Run, Team, Track
from leaderboard.runs.facts import missing_facts
from leaderboard.runs.quotas import Quota, find_benchmark_quota, find_freed_place, find_quota
from leaderboard.runs.stored_bytes import (
    bytes_of_benchmark,
    bytes_of_team,
    exceeds_benchmark,
    exceeds_site,
    exceeds_team,
    limit_of_benchmark,
)


def refuse_large(file: UploadedFile, limit: int) -> None:
    """Refuse a file above the size limit."""
    refuse_size(file.size or 0, limit)


def refuse_size(size: int, limit: int) -> None:
    if size > limit:
        raise NotAccepted("E_SIZE", f"The file has {size:,} bytes; the limit is {limit:,}.")


def refuse_full_team(team: Team, size: int) -> None:
    """Refuse a file beyond the team's storage; call this with the team's row locked."""
    if exceeds_team(team, size):
        raise NotAccepted(
            "E_QUOTA",
            f"Your team’s files may take {mebibytes(settings.TEAM_BYTES)} in total, "
            f"and {mebibytes(bytes_of_team(team))} are used. Ask the administrators for more.",
        )


def refuse_full_benchmark(benchmark: Benchmark, size: int) -> None:
    """Refuse a file beyond the storage of a benchmark."""
    if exceeds_benchmark(benchmark, size):
        raise NotAccepted(
            "E_FULL",
            f"The files of this benchmark may take {mebibytes(limit_of_benchmark(benchmark))} in "
            f"total, and {mebibytes(bytes_of_benchmark(benchmark))} are used, so nothing was "
            "saved. Its organisers can ask the administrators for more.",
        )


def refuse_full_site(size: int) -> None:
    """Refuse a file beyond the site's storage."""
    if exceeds_site(size):
        raise NotAccepted(
            "E_FULL",
            f"This site keeps at most {mebibytes(settings.SITE_BYTES)} of files, so nothing was "
            "saved. Ask its administrators for more.",
        )


def refuse_outside_dates(track: Track, now: datetime, team: Team | None = None) -> None:
    """Refuse a run before the track opens or after it closes for the team."""
    if track.accepts_runs(now, team):
        return
    is_closed = track.state(now, team) == Track.State.CLOSED
    remedy = " Ask the organisers whether they still accept your run." if is_closed else ""
    raise NotAccepted("E_CLOSED", f"{phase_of(track, now, team)}{remedy}")


def refuse_without_facts(track: Track, facts: dict[str, Any]) -> None:
    """Refuse a run without the facts that the track requires."""
    missing = missing_facts(track.required_facts, facts)
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise NotAccepted("E_FIELD", f"facts: this track requires {names}.")


def format_utc(instant: datetime) -> str:
    return f"{instant:%d %b %Y, %H:%M} UTC"


def refuse_over_quota(
    track: Track, team: Team, received_at: datetime, replaced: Run | None = None
) -> None:
    """Refuse a run beyond the quota; the team's row is locked, so two runs never share a place."""
    freed = find_freed_place(replaced)
    _refuse_beyond(find_quota(track, team, received_at, freed), received_at)


def refuse_over_benchmark_quota(
    team: Team, received_at: datetime, replaced: Run | None = None
) -> None:
    """Refuse a run beyond the quota of the team's benchmark; the team's row is locked."""
    quota = find_benchmark_quota(team, received_at, find_freed_place(replaced))
    _refuse_beyond(quota, received_at)


def _refuse_beyond(quota: Quota, received_at: datetime) -> None:
    if quota.left_in_all == 0:
        raise NotAccepted(
            "E_QUOTA",
            f"Your team has used {quota.in_all} of {counted(quota.in_all, 'run')}{quota.where}. "
            "Replace one of them, or ask the organisers for more.",
        )
    if quota.left_today != 0:
        return
    if timezone.now() >= quota.next_day:
        day = f"{received_at:%d %b %Y}"
        raise NotAccepted(
            "E_QUOTA",
            f"Your team used {quota.today} of {counted(quota.today, 'run')}{quota.where} on {day}.",
        )
    raise NotAccepted(
        "E_QUOTA",
        f"Your team has used {quota.today} of {counted(quota.today, 'run')}{quota.where} "
        "for today. The quota resets at 00:00 UTC. Submit it then, or replace a run of today.",
        seconds_between(received_at, quota.next_day),
    )


def lock_team(team_id: int) -> Team:
    """Return a team with its row locked; raises NotAccepted if it was merged with another one."""
    locked = Team.objects.select_related("benchmark").select_for_update(no_key=True, of=("self",))
    team = locked.filter(pk=team_id).first()
    if team is None:
        raise NotAccepted("E_CONFLICT", "Your team was merged with another one. Try again.")
    return team


def refuse_after_refusals(track: Track, team: Team, received_at: datetime) -> None:
    """Refuse a run after too many rejected files today; `check` finds the errors offline."""
    midnight = received_at.replace(hour=0, minute=0, second=0, microsecond=0)
    today = Run.objects.filter(track=track, team=team, received_at__gte=midnight)
    refused = today.filter(state=Run.State.REFUSED).count()
    if refused >= track.attempts_per_day:
        raise NotAccepted(
            "E_QUOTA",
            f"{refused} of your team’s files were rejected today. "
            "Check the next one with `python -m evaluation check`, then retry tomorrow.",
            seconds_between(received_at, midnight + timedelta(days=1)),
        )


def seconds_between(now: datetime, then: datetime) -> int:
    return int((then - now).total_seconds()) + 1


def refuse_repeated_tag(run: Run) -> None:
    """Refuse a run with a tag that its team already used, if the track forbids that."""
    if run.track.repeated_tags != Track.Refusal.REFUSE or not run.tag:
        return
    same = Run.objects.active().filter(track=run.track_id, team=run.team_id, tag=run.tag)
    if same.exclude(pk__in=[run.pk, run.replaces_id]).exists():
        raise NotAccepted("E_CONFLICT", f"Your team already has a run {run.tag}.")


def refuse_repeated_file(run: Run) -> None:
    """Refuse to restore a run whose file the team submitted again later."""
    same = Run.objects.active().filter(track=run.track_id, team=run.team_id, sha256=run.sha256)
    again = same.filter(version=run.version_id).exclude(pk=run.pk).first()
    if again is not None:
        raise NotAccepted("E_CONFLICT", f"The same file was submitted later as run {again.pk}.")


def refuse_repeated_version(run: Run) -> None:
    """Refuse to restore a run whose version has another run on the track by now."""
    if run.version_id is None:
        return
    same = Run.objects.active().filter(version=run.version_id, track=run.track_id)
    other = same.exclude(pk=run.pk).first()
    if other is not None:
        raise NotAccepted("E_CONFLICT", f"Run {other} took its place in the version of its system.")


def refuse_late_replacement(track: Track, team: Team, received_at: datetime) -> None:
    """Refuse to replace a run after the deadline, even where late runs are accepted."""
    if track.is_late(received_at, team):
        until = format_utc(track.deadline_of(team))
        raise NotAccepted(
            "E_CLOSED",
            f"Runs could be replaced until the deadline, {until}. "
            "Ask the organisers whether they still accept your run.",
        )


def refuse_repeated_replacement(run: Run) -> None:
    """Refuse a run if another one replaces the same run; the team's row is locked."""
    if run.replaces_id is None:
        return
    others = Run.objects.active().filter(replaces=run.replaces_id).exclude(pk=run.pk)
    other = others.first()
    if other is not None:
        raise NotAccepted("E_CONFLICT", f"Run {other} already replaces this run.")


def refuse_replaced(run: Run) -> None:
    """Refuse to restore a run whose replacement, or the run that it replaced, counts."""
    replacement = Run.objects.replacement_of(run)
    if replacement is not None:
        raise NotAccepted("E_CONFLICT", f"Run {replacement} replaced it. Withdraw that run first.")
    replaced = Run.objects.active().filter(pk=run.replaces_id).first()
    if replaced is not None:
        raise NotAccepted("E_CONFLICT", f"Run {replaced}, which it replaced, is back. Withdraw it.")
