"""Systems as a viewer may see them: their versions, and the runs of each by track."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q
from django.http import Http404

from leaderboard.boards.disclosure import BenchmarkSight, Sight
from leaderboard.models import Edition, Run, System, SystemVersion
from leaderboard.models.benchmarks import SystemQuerySet
from leaderboard.models.runs import ON_THE_BOARD, RunQuerySet
from leaderboard.scoring.scores import load_measure_means
from leaderboard.scoring.version_verdicts import (
    VersionVerdict,
    compare_version,
    find_measure,
)


@dataclass(frozen=True)
class TrackCell:
    """A version on one track: its run with the state and mean that the viewer may see, if any."""

    sight: Sight
    run: Run | None = None
    state: str = ""
    measure: str = ""
    mean: float | None = None

    @property
    def digits(self) -> int:
        """How many decimals of the mean may be shown."""
        return self.sight.decimals or 4

    @property
    def is_done(self) -> bool:
        return self.run is None or self.sight.is_finished(self.run)


@dataclass(frozen=True)
class VisibleVersion:
    """A version with a cell for every track that the viewer may know, in the benchmark's order."""

    version: SystemVersion
    cells: list[TrackCell]

    @property
    def answered(self) -> list[TrackCell]:
        return [cell for cell in self.cells if cell.run is not None]

    @property
    def missing(self) -> list[TrackCell]:
        return [cell for cell in self.cells if cell.run is None]

    @property
    def is_done(self) -> bool:
        return all(cell.is_done for cell in self.cells)

    @property
    def commit_link(self) -> str:
        return self.version.system.benchmark.link_of_commit(self.version.commit)

    @property
    def commit(self) -> str:
        return self.version.commit


@dataclass(frozen=True)
class VisibleSystem:
    """A system under the name of its team, with its versions, the newest first."""

    system: System
    team: str
    is_own: bool
    versions: list[VisibleVersion]

    @property
    def newest(self) -> VisibleVersion | None:
        return next(iter(self.versions), None)


def visible_runs_of_systems(sight: BenchmarkSight) -> RunQuerySet:
    """Return the runs of systems that exist for this viewer, known as runs of one system.

    Where a track hides names, a run of others stands apart: its system would name its team.
    """
    seen = Q(pk__in=[])
    for track_sight in sight.sights:
        of_track = Q(track=track_sight.track)
        if track_sight.is_organiser:
            seen |= of_track
        elif sight.shows(track_sight):
            seen |= of_track & ON_THE_BOARD
    if sight.team is not None:
        known = [track_sight.track for track_sight in sight.sights]
        seen |= Q(team=sight.team, track__in=known)
    return Run.objects.filter(seen, version__system__benchmark=sight.benchmark)


def visible_systems(sight: BenchmarkSight) -> SystemQuerySet:
    """Return the systems with a run that this viewer may see; organisers and teams see theirs."""
    systems = System.objects.filter(benchmark=sight.benchmark)
    if sight.is_organiser:
        return systems
    shown = visible_runs_of_systems(sight).values("version__system")
    return systems.filter(Q(pk__in=shown) | Q(team=sight.team, team__isnull=False))


def load_systems(sight: BenchmarkSight, systems: Iterable[System]) -> list[VisibleSystem]:
    """Return these systems as the viewer may see them, with as few queries as for one."""
    systems = list(systems)
    runs = visible_runs_of_systems(sight).filter(version__system__in=systems)
    by_place: dict[int, dict[int, Run]] = defaultdict(dict)
    # Of several runs on one track, the one that counts: the latest that is not withdrawn.
    for run in runs.select_related("team", "track").order_by("received_at", "pk"):
        kept = by_place[run.version_id].get(run.track_id)
        if kept is None or not run.withdrawn_at or kept.withdrawn_at:
            by_place[run.version_id][run.track_id] = run
    means = _Means(sight)
    versions: dict[int, list[VisibleVersion]] = defaultdict(list)
    for version in SystemVersion.objects.filter(system__in=systems):
        found = by_place.get(version.pk, {})
        system = next(one for one in systems if one.pk == version.system_id)
        if not found and not sight.is_organiser and not sight.owns(system):
            continue
        version.system, system.benchmark = system, sight.benchmark
        cells = [means.cell(seen, found.get(seen.track.pk)) for seen in sight.sights]
        versions[system.pk].append(VisibleVersion(version, cells))
    names = _load_team_names(sight)
    return [
        VisibleSystem(one, names.get(one.team_id, ""), sight.owns(one), versions[one.pk])
        for one in systems
    ]


def _load_team_names(sight: BenchmarkSight) -> dict[int, str]:
    """Return the names of teams that the viewer may know, from tracks that hide none."""
    if any(not seen.hides_names for seen in sight.sights):
        return dict(sight.benchmark.teams.values_list("pk", "name"))
    return {} if sight.team is None else {sight.team.pk: sight.team.name}


class _Means:
    """The cells of a benchmark's tracks; the means of a track are read once."""

    def __init__(self, sight: BenchmarkSight) -> None:
        self.benchmark = sight.benchmark
        self.read: dict[int, dict[str, float | None]] = {}

    def cell(self, sight: Sight, run: Run | None) -> TrackCell:
        if run is None:
            return TrackCell(sight)
        run.track = sight.track
        state, edition = sight.state_of(run), sight.shown_edition
        measure = find_measure(self.benchmark.measure, sight.track)
        if edition is None or not measure or not sight.can_see_means_of(run):
            return TrackCell(sight, run, state)
        if edition.pk not in self.read:
            self.read[edition.pk] = dict(load_measure_means(edition, measure))
        mean = sight.round_mean(measure, self.read[edition.pk].get(run.pk))
        return TrackCell(sight, run, state, measure, mean)


def system_or_404(sight: BenchmarkSight, system_id: int) -> VisibleSystem:
    """Return a system that the viewer may see, or raise 404."""
    system = visible_systems(sight).filter(pk=system_id).first()
    if system is None:
        raise Http404("no such system")
    return load_systems(sight, [system])[0]


def version_or_404(sight: BenchmarkSight, system_id: int, label: str) -> VisibleVersion:
    """Return a version of a system that the viewer may see, or raise 404."""
    versions = system_or_404(sight, system_id).versions
    found = next((seen for seen in versions if seen.version.label == label), None)
    if found is None:
        raise Http404("no such version")
    return found


def find_verdict(sight: BenchmarkSight, version: SystemVersion) -> VersionVerdict | None:
    """Compare a version with main over the tracks whose scores this viewer sees."""
    return compare_version(version, list(_scored_editions(sight)))


def _scored_editions(sight: BenchmarkSight) -> Iterable[Edition]:
    for seen in sight.sights:
        if seen.edition is not None and sight.shows(seen):
            seen.edition.track = seen.track
            yield seen.edition
