"""`manage.py import_benchmark FILE`: import a benchmark from a file of `export_benchmark`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from signal import SIGTERM, signal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import DataError, IntegrityError

from evaluation.conventions import SCORING_VERSION
from evaluation.problems import Problem
from leaderboard.actions import tracks
from leaderboard.actions.names import clean_slug
from leaderboard.actions.people import JoinError
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.archives.assessment_import import restore_assessment
from leaderboard.archives.battles import restore_battles
from leaderboard.archives.benchmark_import import (
    Contents,
    RestoredBenchmark,
    RestoredTrack,
    finish_benchmark,
    name_teams_alike,
    open_contents,
    restore_benchmark,
)
from leaderboard.archives.manifests import Manifest
from leaderboard.archives.nuggets import restore_nuggets
from leaderboard.archives.track_import import (
    ImportHeartbeat,
    find_differences,
    restore_announcements,
    restore_collection,
    restore_edition,
    restore_events,
    restore_judgments,
    restore_makers,
    restore_original_file,
    restore_overview,
    restore_pool,
    restore_pooled_runs,
    restore_rejected_run,
    restore_replacements,
    restore_run,
    restore_snapshot,
    restore_teams,
    restore_track,
)
from leaderboard.archives.zip_files import Archive, ArchiveError, open_archive
from leaderboard.display.numbers import counted
from leaderboard.jobs.erasure import erase_abandoned_imports, erase_benchmark, erase_collection
from leaderboard.management.migrating import migrate_first
from leaderboard.management.organisers import find_organiser
from leaderboard.management.site_command import SiteCommand
from leaderboard.management.waiting import (
    wait_for_board,
    wait_for_collection,
    wait_for_runs,
    wait_for_version,
)
from leaderboard.models import (
    Benchmark,
    Collection,
    JudgmentSet,
    Run,
    SystemVersion,
    Track,
    User,
)
from leaderboard.models.collections import ImportState
from leaderboard.models.tracks import JUDGED_MARKS, RANKS_SYSTEMS
from leaderboard.scoring.problems import load_problem

# What values of another form than ours raise where they are used or stored.
MALFORMED = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(ValidationError, IntegrityError, DataError, RecursionError),
)


@dataclass(frozen=True)
class Source:
    """The archive of a track, and the short names that track and collection get here."""

    archive: Archive
    manifest: Manifest
    track: str
    collection: str

    @property
    def follows_others(self) -> bool:
        """Whether its runs are read beside the answers or the systems of another track."""
        return self.manifest.track.fields.get("run_kind") in (*JUDGED_MARKS, RANKS_SYSTEMS)


class Command(SiteCommand):
    help = (
        "Import a benchmark from an archive: its tracks with their collections, judgments and "
        "runs, and its teams and systems. Report every score that differs from the archive."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--benchmark", help="new short name (default: as in the archive)")
        parser.add_argument("--track", help="new short name of it and of its only track")
        parser.add_argument("--collection", help="the same, for the collection of that track")
        parser.add_argument(
            "--prefix", default="", help="before the short names of its tracks and collections"
        )
        parser.add_argument("--owner", help="the organiser (default: first organiser)")

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        with refuse_unreadable(options["file"]) as archive, ExitStack() as opened:
            self.bring_benchmark(open_contents(archive, opened), options)

    def bring_benchmark(self, contents: Contents, options: dict[str, Any]) -> None:
        erase_abandoned_imports()
        slug, sources = name_contents(contents, options)
        owner = find_organiser(options["owner"])
        with ExitStack() as stack:
            collections, arrivals = self.restore_collections(sources, owner, stack)
            restored = restore_benchmark(contents.manifest, owner, slug)
            stack.enter_context(erase_benchmark_on_failure(restored.benchmark))
            found = self.restore_tracks(sources, collections, restored)
            finish_benchmark(contents.manifest, restored, found)
            for arrival in arrivals:
                arrival.finish()
        systems = counted(len(contents.manifest.systems), "system")
        self.stdout.write(f"{slug}: {counted(len(found), 'track')}, {systems}")
        counts = [
            self.count_differences(source.archive, found[source.manifest.track.slug])
            for source in sources
        ]
        if sum(counts):
            raise CommandError(explain_differences(sum(counts), sources[0].manifest))
        self.stdout.write("All scores match the archive exactly.")

    def restore_collections(
        self, sources: list[Source], owner: User, stack: ExitStack
    ) -> tuple[dict[str, Collection], list[ImportHeartbeat]]:
        """Restore the collections by their short names here; tracks of one share it here too."""
        collections: dict[str, Collection] = {}
        arrivals: list[ImportHeartbeat] = []
        for source in sources:
            if source.collection not in collections:
                collections[source.collection], arrival = self.restore_collection(
                    source.archive, source.manifest, owner, source.collection, stack
                )
                arrivals.append(arrival)
        return collections, arrivals

    def restore_tracks(
        self,
        sources: list[Source],
        collections: Mapping[str, Collection],
        restored: RestoredBenchmark,
    ) -> dict[str, RestoredTrack]:
        """Restore the tracks by their names in the archive, judges after what they judge."""
        found: dict[str, RestoredTrack] = {}
        for source in sorted(sources, key=attrgetter("follows_others")):
            ranked = found.get(source.manifest.track.fields.get("systems", ""))
            track = self.restore_track(source, collections[source.collection], restored, ranked)
            found[source.manifest.track.slug] = track
            self.tell(track)
        return found

    def restore_collection(
        self, archive: Archive, manifest: Manifest, owner: User, slug: str, stack: ExitStack
    ) -> tuple[Collection, ImportHeartbeat]:
        """Restore the collection with its judgments; if the stack fails, it goes again."""
        collection = restore_collection(archive, manifest, owner, slug)
        stack.enter_context(erase_on_failure(collection))
        arrival = stack.enter_context(ImportHeartbeat(collection))
        self.settle(collection)
        there = set(collection.judgment_sets.values_list("version", flat=True))
        for entry in manifest.judgments:
            if entry.version not in there:
                self.settle(restore_judgments(archive, entry, collection))
        for judged in manifest.judgments:
            restore_original_file(archive, judged, collection)
            restore_makers(archive, judged, collection)
        return collection, arrival

    def restore_track(
        self,
        source: Source,
        collection: Collection,
        restored: RestoredBenchmark,
        ranked: RestoredTrack | None,
    ) -> RestoredTrack:
        """Restore a track in a restored benchmark, on its collection; it may rank others."""
        manifest = name_teams_alike(source.manifest, restored)
        systems = ranked.track.slug if ranked is not None else ""
        track = restore_track(manifest, collection, source.track, restored.benchmark, systems)
        restore_teams(manifest, track)
        ids = {old: run.pk for old, run in ranked.runs.items()} if ranked is not None else {}
        runs = self.restore_runs(source.archive, manifest, track, restored.versions, ids)
        return self.restore_history(source.archive, RestoredTrack(manifest, track, runs))

    def tell(self, restored: RestoredTrack) -> None:
        track, runs = restored.track, counted(len(restored.runs), "run")
        self.stdout.write(f"{track.slug}: {runs} on {track.collection.slug}")

    def settle(self, brought: Collection | JudgmentSet) -> None:
        """Wait until a collection or new judgments are ready."""
        if isinstance(brought, Collection):
            wait_for_collection(brought)
        else:
            wait_for_version(brought)
        if brought.state != ImportState.READY:
            what = "collection is" if isinstance(brought, Collection) else "judgments are"
            problems = "; ".join(str(Problem(**problem)) for problem in brought.problems)
            raise CommandError(f"Its {what} {brought.state}: {problems}")

    def restore_runs(
        self,
        archive: Archive,
        manifest: Manifest,
        track: Track,
        versions: Mapping[str, SystemVersion],
        ids: Mapping[str, str],
    ) -> dict[str, Run]:
        """Restore and score the runs; return them by their ids in the archive."""
        runs = {
            entry.id: restore_run(archive, entry, track, versions.get(entry.id), ids)
            for entry in manifest.runs
        }
        wait_for_runs(track, runs.values())
        for run in Run.objects.filter(pk__in=[restored.pk for restored in runs.values()]):
            if not run.ranking_file:
                problems = [
                    load_problem(problem)
                    for problem in run.problems
                    if problem["severity"] == "error"
                ]
                why = "; ".join(map(str, problems)) or run.reason
                raise CommandError(f"Its run {run} is {run.state} here: {why}")
        if manifest.track.baseline in runs:
            tracks.choose_baseline(track, track.benchmark.owner, runs[manifest.track.baseline])
            wait_for_runs(track, [])
        return {old_id: Run.objects.get(pk=run.pk) for old_id, run in runs.items()}

    def restore_history(self, archive: Archive, restored: RestoredTrack) -> RestoredTrack:
        """Restore pools, assessments, editions, snapshots and events; return what there is then.

        Scores of answers are estimated from what was drawn, so editions follow their pools.
        """
        manifest, track, runs = restored.manifest, restored.track, restored.runs
        restore_nuggets(archive, manifest, track, runs)
        restore_battles(archive, manifest, track, runs)
        for judged in manifest.judgments:
            restore_pooled_runs(judged, track.collection, runs)
        for pool in manifest.pools:
            restore_pool(archive, pool, track, runs)
        for assessment in manifest.assessments:
            restore_assessment(archive, assessment, track)
        editions = {
            entry.name: restore_edition(archive, entry, track, runs) for entry in manifest.editions
        }
        for snapshot in manifest.snapshots:
            restore_snapshot(archive, snapshot, track, editions, runs)
        if manifest.layers:
            # Its board was made before there were marks.
            tracks.renew_edition(track)
            wait_for_board(track)
        restore_announcements(manifest, track)
        restore_overview(manifest, track)
        rejected = {
            entry.id: restore_rejected_run(archive, entry, track) for entry in manifest.refused
        }
        restore_replacements(manifest, runs | rejected)
        restore_events(archive, track, runs | rejected)
        return replace(restored, rejected=rejected, editions=editions)

    def count_differences(self, archive: Archive, restored: RestoredTrack) -> int:
        """Print and count the measures of runs whose scores differ from the archive in any bit."""
        found = [
            difference
            for entry in restored.manifest.editions
            for difference in find_differences(
                archive, entry, restored.editions[entry.name], restored.runs
            )
        ]
        for difference in found:
            self.stderr.write(
                f"{difference.run} ({difference.run.state}): {difference.measure} differs"
            )
        return len(found)


def explain_differences(differences: int, manifest: Manifest) -> str:
    return (
        f"{counted(differences, 'measure')} of runs differ from the archive, which was "
        f"scored by version {manifest.scoring_version}; this is {SCORING_VERSION}."
    )


@contextmanager
def refuse_unreadable(path: Path) -> Iterator[Archive]:
    """Open an archive; raises CommandError if it or anything in it cannot be restored.

    Anybody may have written it, so a value of another form than ours is its error; the option
    --traceback shows where it was met.
    """
    try:
        with path.open("rb") as file, open_archive(file) as archive:
            yield archive
    except (OSError, ArchiveError, ActionError, NotAccepted, JoinError) as reason:
        raise CommandError(f"{path}: {reason}") from None
    except MALFORMED as reason:
        raise CommandError(
            f"{path}: something in it contradicts the rest, or has an unknown form: {reason!r}"
        ) from reason


@contextmanager
def erase_on_failure(collection: Collection) -> Iterator[None]:
    """Delete what was imported so far if an error or a signal stops the import."""
    before = signal(SIGTERM, lambda *_: sys.exit(1))
    try:
        yield
    except BaseException:
        erase_collection(collection)
        raise
    finally:
        signal(SIGTERM, before)


@contextmanager
def erase_benchmark_on_failure(benchmark: Benchmark) -> Iterator[None]:
    """Delete a benchmark that has no track yet if an error or a signal stops the import.

    With tracks, it goes with their collections.
    """
    try:
        yield
    except BaseException:
        if not benchmark.tracks.exists():
            erase_benchmark(benchmark)
        raise


def name_contents(contents: Contents, options: Mapping[str, Any]) -> tuple[str, list[Source]]:
    """Return the short name of a benchmark here, and its tracks with theirs.

    Raises CommandError for names that are taken.
    """
    alone, prefix = contents.has_one_track, options["prefix"]
    if not alone and (options["track"] or options["collection"]):
        raise CommandError("--track and --collection name one track; here are more. Use --prefix.")
    slug = options["benchmark"] or options["track"] or contents.manifest.slug
    slug = unused_slug(Benchmark, slug, "--track" if alone else "--benchmark")
    ways = ("--track", "--collection") if alone else ("--prefix", "--prefix")
    sources = []
    for each in contents.tracks:
        track = options["track"] or f"{prefix}{each.manifest.track.slug}"
        collection = options["collection"] or f"{prefix}{each.manifest.collection.slug}"
        names = unused_slug(Track, track, ways[0]), unused_slug(Collection, collection, ways[1])
        sources.append(Source(each.archive, each.manifest, *names))
    return slug, sources


def unused_slug(model: type[Track | Collection | Benchmark], slug: str, option: str) -> str:
    if model.objects.filter(slug=slug).exists():
        raise CommandError(f"{slug} already exists. Rename with {option}.")
    return clean_slug(slug)
