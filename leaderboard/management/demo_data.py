"""Demo data: sample accounts, tracks and runs of real rankers."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.actions import people, submissions, tracks
from leaderboard.actions.submissions import RunDetails
from leaderboard.management.demo_answers import ANSWERS, make_sample_answers
from leaderboard.management.demo_benchmark import BENCHMARK, make_sample_benchmark
from leaderboard.management.demo_judging import begin_judging
from leaderboard.management.demo_nuggets import make_sample_nuggets
from leaderboard.management.demo_samples import HARBOURS, open_sample_track, sample_facts
from leaderboard.management.sample.rankers import SampleRun, runs
from leaderboard.models import Benchmark, Run, Track, User
from leaderboard.runs.facts import clean_facts

BASELINE = "bm25"
# Runs of the organisers: the baseline, and one that shows how low scores can be.
ORGANISERS_RUNS = {BASELINE, "random"}


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
    teams = [(accounts[1], ben), (accounts[2], cat)]
    track = Track.objects.filter(slug=HARBOURS.slug).first()
    if track is None:
        track = open_sample_track(HARBOURS, ada)
        for account, user in teams:
            people.admit(track.benchmark, user, people.JoinDetails(team_name=account.team))
    if not track.runs.exists():
        submit_runs(track, ada, [ben, cat])
    users = {account.team: user for account, user in teams}
    if not Benchmark.objects.filter(slug=BENCHMARK).exists():
        make_sample_benchmark(track, ada, users)
    if not Track.objects.filter(slug=ANSWERS.slug).exists():
        make_sample_answers(track.collection, ada, users)
    answers = Track.objects.get(slug=ANSWERS.slug)
    if not answers.nugget_versions.exists():
        make_sample_nuggets(answers, ada)
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
        Account("ada", generate_password(), "organises the tracks and their benchmark"),
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


def submit_runs(track: Track, organiser: User, participants: list[User]) -> None:
    """Submit the baseline first, then the other runs by the two teams in turn."""
    made = {run.tag: run for run in runs(HARBOURS.folder)}
    baseline = submit_run(track, organiser, made.pop(BASELINE))
    tracks.choose_baseline(track, organiser, baseline)
    for place, run in enumerate(made.values()):
        user = organiser if run.tag in ORGANISERS_RUNS else participants[place % 2]
        submit_run(track, user, run)


def submit_run(track: Track, user: User, run: SampleRun) -> Run:
    file = SimpleUploadedFile(f"{run.tag}.run", run.text)
    details = RunDetails(description=run.description, facts=clean_facts(sample_facts(run)))
    return submissions.accept_run(track, user, file, details).run
