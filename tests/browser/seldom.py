"""What few tracks have, made in the process of a site so that links lead to its pages."""

from __future__ import annotations

from evaluation.reading.judging.machine_replies import MachineReply
from leaderboard.actions import battles, questions, registrations
from leaderboard.actions.uploads import accept_judgments
from leaderboard.collections.machine_replies import keep_replies
from leaderboard.models import (
    Battles,
    Benchmark,
    Collection,
    JudgmentSet,
    MachineCard,
    Run,
    System,
    Track,
    User,
)
from tests.benchmark_scene import join_tracks
from tests.builders import (
    QRELS,
    make_reported,
    make_run,
    make_track,
    store_nuggets,
    store_replies,
    upload,
    work,
)


def make_seldom(answers: Track) -> None:
    """Nuggets with marks and replies, and battles, on a track of answers; judges as runs; two
    versions of a machine; a benchmark of two dated tracks that asks its teams, has a question,
    a system and reported scores."""
    ada, bread = User.objects.get(username="ada"), answers.collection
    store_nuggets(answers)
    answers.nugget_versions.update(state="ready")
    store_replies(answers)
    battles.save_battles(Battles(track=answers, voters="signed in"), ada)
    make_run(make_track(bread, "judges", run_kind="judgments"), ada, QRELS)
    add_version(bread, ada)
    tracks = [make_track(bread, slug, dated=day) for slug, day in DAYS.items()]
    for track in tracks:
        make_run(track, ada)
    benchmark = join_tracks(tracks, slug="years", name="Years")
    add_system(benchmark)
    registrations.ask_teams(benchmark, ada, ["affiliation"], "")
    registrations.write_agreement(benchmark, ada, "Do not pass it on.")
    questions.ask(benchmark, ada, "How deep?", True)
    make_reported(benchmark)


DAYS = {"early": "2025-03", "late": "2026-03"}


def add_system(benchmark: Benchmark) -> None:
    """Call all runs of a benchmark one system."""
    runs = Run.objects.filter(track__benchmark=benchmark)
    system = System.objects.create(benchmark=benchmark, team=runs[0].team, name="oven")
    runs.update(version=system.versions.create(label="1", created_by=benchmark.owner))


def add_version(collection: Collection, user: User) -> None:
    """One more version of the machine that graded m1."""
    accept_judgments(collection, upload("m2", QRELS), "m2", user, asks_first=False)
    work()
    version = JudgmentSet.objects.get(collection=collection, version="m2")
    JudgmentSet.objects.filter(pk=version.pk).update(made_by=JudgmentSet.MadeBy.MACHINE)
    MachineCard.objects.create(judgment_set=version, model="GPT-4o", prompt="Grade this.")
    keep_replies(version, [MachineReply("1", "d1", "It says so.")])
