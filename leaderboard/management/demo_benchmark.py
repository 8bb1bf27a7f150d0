"""The benchmark of the demo: systems that answer on two tracks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.actions import benchmark_setup
from leaderboard.actions.run_files import list_run_files
from leaderboard.actions.submissions import SystemDetails, submit_version
from leaderboard.actions.systems import change_system
from leaderboard.management.demo_samples import GARDENS, HARBOURS, open_sample_track, sample_facts
from leaderboard.management.sample.rankers import SampleRun, runs
from leaderboard.models import Benchmark, System, SystemVersion, Track, User
from leaderboard.runs.facts import clean_facts

BENCHMARK = "harbours-and-gardens"
NAME = "Harbours and gardens"
DESCRIPTION = (
    "Which of these systems is best on both collections? On each alone it is another one. "
    "Every collection counts the same."
)


@dataclass(frozen=True)
class SampleSystem:
    """A system of a team; "" are the organisers, whose system is the baseline.

    `versions` names the ranker of each version by its label, the oldest first.
    """

    team: str
    name: str
    versions: Mapping[str, str]
    tracks: tuple[str, ...] = (HARBOURS.slug, GARDENS.slug)
    description: str = ""


SYSTEMS = (
    SampleSystem("", "bm25", {"1": "bm25"}),
    SampleSystem(
        "Nordlicht",
        "okapi",
        {"1": "bm25-unstemmed", "2": "bm25-narrative"},
        description="BM25. Version 1 took words as written; version 2 reads the whole topic.",
    ),
    SampleSystem("Nordlicht", "rrf", {"1": "rrf"}),
    SampleSystem("Kestrel", "bm25-rm3", {"1": "bm25-rm3"}),
    SampleSystem("Kestrel", "lm-dirichlet", {"1": "lm-dirichlet"}),
    SampleSystem("Kestrel", "lsa", {"1": "lsa"}, (HARBOURS.slug,)),
)


def make_sample_benchmark(harbours: Track, organiser: User, users: Mapping[str, User]) -> None:
    """Make the benchmark and submit its systems; `users` are the members of the teams by name.

    Their runs on the harbours are there already and become part of the systems.
    """
    gardens = Track.objects.filter(slug=GARDENS.slug).first()
    gardens = gardens or open_sample_track(GARDENS, organiser)
    benchmark = Benchmark(slug=BENCHMARK, name=NAME, description=DESCRIPTION)
    benchmark_setup.make_benchmark(organiser, benchmark, [harbours, gardens])
    made = {
        sample.slug: {run.tag: run for run in runs(sample.folder, tags_of(sample.slug))}
        for sample in (HARBOURS, GARDENS)
    }
    for system in SYSTEMS:
        user = users.get(system.team, organiser)
        for label, tag in system.versions.items():
            files = {track: made[track][tag] for track in system.tracks}
            version = submit_files(
                benchmark, user, files, SystemDetails(system.name, version=label)
            )
        if system.description:
            change_system(version.system, user, system.name, system.description)
    baseline = System.objects.get(benchmark=benchmark, name=SYSTEMS[0].name)
    benchmark_setup.change_benchmark(benchmark, organiser, {"baseline": baseline})


def tags_of(track: str) -> set[str]:
    """Return the rankers that answer on a track."""
    return {tag for one in SYSTEMS if track in one.tracks for tag in one.versions.values()}


def submit_files(
    benchmark: Benchmark, user: User, made: Mapping[str, SampleRun], details: SystemDetails
) -> SystemVersion:
    files = [SimpleUploadedFile(f"{track}.run", run.text) for track, run in made.items()]
    first = next(iter(made.values()))
    facts = clean_facts(sample_facts(first))
    shared = SystemDetails(
        details.name, version=details.version, description=first.description, facts=facts
    )
    sent = list_run_files(files)
    return submit_version(benchmark, user, list(benchmark.tracks.in_order()), sent, shared).version
