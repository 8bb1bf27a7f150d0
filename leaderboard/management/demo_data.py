"""Demo data: sample accounts, a track and runs of real rankers."""

from __future__ import annotations

import json
import os
import platform
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.actions import people, tracks, uploads
from leaderboard.actions.uploads import CollectionFiles, RunDetails
from leaderboard.management.demo_judging import begin_judging
from leaderboard.management.sample import FOLDER
from leaderboard.management.sample.rankers import SampleRun, runs
from leaderboard.management.waiting import wait_until
from leaderboard.models import Collection, Run, Track, User
from leaderboard.models.collections import ImportState
from leaderboard.runs.facts import Figure, clean_facts

COLLECTION = TRACK = "harbours"
NAME = "Harbours, tides and lighthouses"
LICENCE = "BSD 3-Clause, with the source of Rankfield"
POOL_NOTE = (
    "The first ten documents of eleven runs, all but random, and 36 relevant documents "
    "that the assessor knew and no run had among its first ten."
)
BASELINE = "bm25"
# Runs of the organisers: the baseline, and one that shows how low scores can be.
ORGANISERS_RUNS = {BASELINE, "random"}
IMPORT_SECONDS = 120


@dataclass(frozen=True)
class Account:
    name: str
    password: str
    part: str
    team: str = ""


def load_sample() -> list[Account]:
    """Create what is missing of the sample: everything at first, later nothing."""
    accounts = load_accounts()
    ada, ben, cat, dan, eve = (find_or_create_user(account) for account in accounts)
    track = Track.objects.filter(slug=TRACK).first()
    if track is None:
        track = tracks.open_track(build_track(find_or_import_collection(ada)), ada)
        for user, account in ((ben, accounts[1]), (cat, accounts[2])):
            people.join_track(track, user, people.JoinDetails(team_name=account.team))
    if not track.runs.exists():
        submit_runs(track, ada, [ben, cat])
    if not track.assessments.exists():
        begin_judging(track, ada, [dan, eve])
    return accounts


def load_accounts() -> list[Account]:
    """Return names and passwords, which are created once and kept in a file."""
    path = Path(settings.RANKFIELD_HOME) / "demo-accounts.json"
    known = json.loads(path.read_text()) if path.exists() else []
    names = {account["name"] for account in known}
    new = [asdict(account) for account in new_accounts() if account.name not in names]
    if new:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump([*known, *new], file)
    return [Account(**account) for account in [*known, *new]]


def new_accounts() -> list[Account]:
    """Return the accounts of the demo with new passwords."""
    return [
        Account("ada", generate_password(), "organises the track"),
        Account("ben", generate_password(), "takes part as Nordlicht", "Nordlicht"),
        Account("cat", generate_password(), "takes part as Kestrel", "Kestrel"),
        Account("dan", generate_password(), "judges documents"),
        Account("eve", generate_password(), "judges documents too"),
    ]


def generate_password() -> str:
    return secrets.token_urlsafe(9)


def find_or_create_user(account: Account) -> User:
    user, made = User.objects.get_or_create(
        username=account.name, defaults={"can_organise": account.name == "ada"}
    )
    if made:
        user.set_password(account.password)
        user.save(update_fields=["password"])
    return user


def find_or_import_collection(owner: User) -> Collection:
    collection = Collection.objects.filter(slug=COLLECTION).first()
    if collection is None:
        collection = Collection(slug=COLLECTION, name=NAME, owner=owner, asks_first=False)
        collection.description = (FOLDER / "ABOUT.txt").read_text()
        collection.licence = LICENCE
        collection.shares_documents = True
        uploads.accept_collection(collection, read_sample_files())
    wait_until_ready(collection)
    collection.judgment_sets.update(pool_depth=10, note=POOL_NOTE)
    return collection


def read_sample_files() -> CollectionFiles:
    return CollectionFiles(
        topics=read_sample_file("topics.trec"),
        documents=read_sample_file("documents.jsonl"),
        judgments=read_sample_file("qrels.txt"),
    )


def read_sample_file(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (FOLDER / name).read_bytes())


def wait_until_ready(collection: Collection) -> None:
    def has_ended() -> bool:
        collection.refresh_from_db()
        return collection.state in (ImportState.READY, ImportState.REFUSED, ImportState.FAILED)

    if not wait_until(has_ended, IMPORT_SECONDS):
        raise RuntimeError("no worker has imported the sample collection")
    if collection.state != ImportState.READY:
        raise RuntimeError(f"the sample collection was {collection.state}")


def build_track(collection: Collection) -> Track:
    return Track(
        slug=TRACK,
        name=NAME,
        collection=collection,
        judgment_set=collection.judgment_sets.get(),
        description=collection.description,
        measures=["AP", "nDCG@10", "P@10", "RR", "R@100"],
        primary_measure="AP",
        disclosure=Track.Disclosure.OPEN,
        depth=100,
    )


def submit_runs(track: Track, organiser: User, participants: list[User]) -> None:
    """Submit the baseline first, then the other runs by the two teams in turn."""
    made = {run.tag: run for run in runs(FOLDER)}
    baseline = submit_run(track, organiser, made.pop(BASELINE))
    tracks.choose_baseline(track, organiser, baseline)
    for place, run in enumerate(made.values()):
        user = organiser if run.tag in ORGANISERS_RUNS else participants[place % 2]
        submit_run(track, user, run)


def submit_run(track: Track, user: User, run: SampleRun) -> Run:
    file = SimpleUploadedFile(f"{run.tag}.run", run.text)
    details = RunDetails(description=run.description, facts=clean_facts(sample_facts(run)))
    return uploads.accept_run(track, user, file, details).run


def sample_facts(run: SampleRun) -> dict[str, Any]:
    """Return the facts of a sample run; its time was measured on this machine."""
    return {
        "topic_fields": list(run.fields),
        "stage": run.stage,
        "llm": False,
        "judgments_used": False,
        "closed": False,
        "hardware": f"{os.cpu_count()} processors, {platform.machine()}, "
        f"Python {platform.python_version()}",
        "efficiency": [asdict(Figure("seconds_per_topic", run.seconds, "s", "tool"))],
    }
