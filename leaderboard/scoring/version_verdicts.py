"""A version of a system compared with the main branch of its team, over several tracks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from django.db.models import Count
from django.utils import timezone

from evaluation.answers.any_measure import parse_measure
from evaluation.significance import Difference, holm
from leaderboard.display.numbers import counted, p_in_words, signed
from leaderboard.infrastructure.process_cache import ProcessCache
from leaderboard.models import Edition, Run, SystemVersion, Track
from leaderboard.models.jobs import Progress, Publish
from leaderboard.notifications import notices
from leaderboard.scoring.contests import Contest, Part, compute_differences, explain_missing_mean
from leaderboard.scoring.families import match_measure
from leaderboard.scoring.scores import load_measure_means
from leaderboard.scoring.verdicts import verdict_of
from leaderboard.sight.tracks import TrackSight

# How many tracks a sentence names before it counts them.
MOST_NAMED = 3
CACHE_SIZE = 64


@dataclass(frozen=True)
class TrackVerdict:
    """The two versions on one track: the means of their runs, and the test of the difference."""

    track: Track
    measure: str
    run: str
    other_run: str
    mean: float | None
    other_mean: float | None
    difference: float | None
    p: float | None
    verdict: str
    unit: str


@dataclass(frozen=True)
class VersionVerdict:
    """A version against an earlier one, over `tracks` of one phase that both have runs on.

    `branch` is that of the other version, "" if that is the benchmark's baseline. Without a mean
    over these tracks `difference` is None. `num_tracks` is how many the phase has.
    """

    version: SystemVersion
    other: SystemVersion
    branch: str
    tracks: list[TrackVerdict]
    num_tracks: int
    difference: float | None = None
    p: float | None = None
    verdict: str = ""

    @property
    def against(self) -> str:
        return f"{self.branch or 'the baseline'} ({self.other})"

    @property
    def is_whole(self) -> bool:
        return len(self.tracks) == self.num_tracks

    @property
    def sentence(self) -> str:
        """The comparison as notices, webhooks and the API say it; the page says the same."""
        by_track = "; ".join(filter(None, map(self._tracks_with, WORDS)))
        if self.verdict == "":
            return f"{self.version} against {self.against}: {by_track}."
        figures = f"{signed(self.difference, 4)}, {p_in_words(self.p)}"
        where = f"over {counted(len(self.tracks), 'track')}"
        if not self.is_whole:
            where = f"over {len(self.tracks)} of {counted(self.num_tracks, 'track')}"
        return (
            f"{self.version} {VERBS[self.verdict]} {self.against} {where}: {figures}; {by_track}."
        )

    def _tracks_with(self, verdict: str) -> str:
        """Say on which tracks this is the verdict; "" on none."""
        names = [track.track.slug for track in self.tracks if track.verdict == verdict]
        if not names:
            return ""
        few = len(names) <= MOST_NAMED
        return f"{WORDS[verdict]} on {', '.join(names) if few else counted(len(names), 'track')}"


VERBS = {
    "better": "is significantly better than",
    "worse": "is significantly worse than",
    "not significant": "does not differ significantly from",
}
WORDS = {
    "better": "better",
    "worse": "worse",
    "not significant": "no significant difference",
    "": "not tested",
}


def compare_version(version: SystemVersion, editions: Sequence[Edition]) -> VersionVerdict | None:
    """Compare a version with the newest one of main before it, else with the benchmark's baseline.

    Only these editions count: those whose scores the reader sees, in the order of the benchmark.
    They are narrowed to the last phase that the version has a scored run in.  None if there is
    nothing to compare with.
    """
    benchmark = version.system.benchmark
    runs = find_runs(version, editions)
    phases = [edition.track.phase for edition in editions]
    answered = {edition.track.phase for edition in editions if edition.track_id in runs}
    phase = next((name for name in reversed(list(dict.fromkeys(phases))) if name in answered), None)
    of_phase = [edition for edition in editions if edition.track.phase == phase]
    measures = {edition.pk: find_measure(benchmark.measure, edition.track) for edition in of_phase}
    shared = [edition for edition in of_phase if edition.track_id in runs and measures[edition.pk]]
    other = find_main_version(version, shared) if shared else None
    if other is None:
        return None
    parts = tuple(Part(edition, measures[edition.pk]) for edition in shared)
    other_runs = find_runs(other, shared)
    contest = Contest(
        parts,
        tuple(tuple(of[edition.track_id] for edition in shared) for of in (other_runs, runs)),
        baseline=other_runs[shared[0].track_id],
    )
    tests = cached_tests.get_many([contest], _compute_tests)[contest]
    tracks = [
        _describe_track(edition, part.measure, other_runs, runs, test)
        for edition, part, test in zip(shared, parts, tests.alone, strict=True)
    ]
    is_main = bool(benchmark.main_branch) and other.branch == benchmark.main_branch
    found = VersionVerdict(version, other, other.branch if is_main else "", tracks, len(of_phase))
    return found if tests.whole is None else _with_benchmark(found, tests.whole, contest.direction)


def find_measure(asked: str, track: Track) -> str:
    """Return the measure that counts on a track: the benchmark's or its primary one; "" if none."""
    return (match_measure(asked, track.measures) or "") if asked else track.primary_measure


def find_runs(version: SystemVersion, editions: Sequence[Edition]) -> dict[int, str]:
    """Return the ids of the scored runs of a version on these boards, by track."""
    runs = Run.objects.on_the_board().filter(
        version=version,
        track__in=[edition.track_id for edition in editions],
        score_sets__edition__in=[edition.pk for edition in editions],
    )
    return dict(runs.values_list("track", "pk"))


def find_main_version(version: SystemVersion, editions: Sequence[Edition]) -> SystemVersion | None:
    """Return the newest earlier version of main with runs on all these boards, or the baseline's.

    One of the same system goes before those of the team's other systems.
    """
    benchmark = version.system.benchmark
    runs = Run.objects.on_the_board().filter(
        track__in=[edition.track_id for edition in editions],
        score_sets__edition__in=[edition.pk for edition in editions],
    )
    counts = runs.order_by().values("version").annotate(answered=Count("track", distinct=True))
    complete = counts.filter(answered=len(editions)).values("version")
    versions = SystemVersion.objects.filter(pk__in=complete).exclude(pk=version.pk)
    versions = versions.select_related("system")
    if benchmark.main_branch:
        main = list(
            versions.filter(
                system__team=version.system.team_id,
                branch=benchmark.main_branch,
                created_at__lt=version.created_at,
            )
        )
        if main:
            return next((one for one in main if one.system_id == version.system_id), main[0])
    return versions.filter(system=benchmark.baseline_id).first()


@dataclass(frozen=True)
class _Tests:
    """The test over all tracks, None where they have no mean, and that on each track."""

    whole: Difference | None
    alone: list[Difference]


# Scores of an edition never change, so neither do the tests of its runs.
cached_tests: ProcessCache[Contest, _Tests] = ProcessCache(CACHE_SIZE)


def _compute_tests(contests: Sequence[Contest]) -> dict[Contest, _Tests]:
    return {contest: _compute_test(contest) for contest in contests}


def _compute_test(contest: Contest) -> _Tests:
    whole = None
    if not explain_missing_mean([part.measure for part in contest.parts]):
        [whole] = compute_differences(contest).values()
    return _Tests(whole, _test_each(contest))


def _test_each(contest: Contest) -> list[Difference]:
    """Test each track alone; p is adjusted by Holm over those with enough topics."""
    tests: list[Difference] = []
    for part, (other, run) in zip(contest.parts, contest.columns, strict=True):
        tests += compute_differences(Contest((part,), ((other,), (run,)), other)).values()
    decided = [
        test.p is not None and scored.defined().can_decide()
        for test, scored in zip(tests, contest.collected, strict=True)
    ]
    adjusted = iter(holm(np.array([test.p for test in compress(tests, decided)])).tolist())
    return [
        replace(test, p_adjusted=next(adjusted) if is_decided else None)
        for test, is_decided in zip(tests, decided, strict=True)
    ]


def _with_benchmark(found: VersionVerdict, test: Difference, direction: int) -> VersionVerdict:
    verdict = verdict_of(test, test.topics, direction)
    return replace(found, difference=test.difference, p=test.p_adjusted, verdict=verdict)


def _describe_track(
    edition: Edition,
    measure: str,
    other_runs: dict[int, str],
    runs: dict[int, str],
    test: Difference,
) -> TrackVerdict:
    means, track = load_measure_means(edition, measure), edition.track
    run, other = runs[track.pk], other_runs[track.pk]
    return TrackVerdict(
        track=track,
        measure=measure,
        run=run,
        other_run=other,
        mean=means.get(run),
        other_mean=means.get(other),
        difference=test.difference,
        p=test.p_adjusted,
        verdict=verdict_of(test, test.topics, parse_measure(measure).direction),
        unit=test.unit,
    )


def announce_version(version_id: str, progress: Progress) -> Publish:
    """Notify the team once that all runs of a version are done, with what its members may see."""
    versions = SystemVersion.objects.select_related("system__benchmark", "system__team")
    version = versions.filter(pk=int(version_id)).first()
    if version is None or version.runs.unfinished().exists():
        return lambda: None
    found = compare_version(version, find_public_editions(version))
    sentence = found.sentence if found is not None else ""

    def publish() -> None:
        waiting = SystemVersion.objects.filter(pk=version.pk, announced_at=None)
        if waiting.update(announced_at=timezone.now()):
            notices.notify_version_done(version, sentence)

    return publish


def find_public_editions(version: SystemVersion) -> list[Edition]:
    """Return the boards of the benchmark whose scores every member of a team sees, under names."""
    tracks = version.system.benchmark.tracks.in_order().filter(is_draft=False)
    members = version.system.team.memberships.all()
    editions = []
    for track in tracks.select_related("edition"):
        if TrackSight.of_members(track, members).can_see_snapshots and track.edition is not None:
            track.edition.track = track
            editions.append(track.edition)
    return editions
