"""A month of a site: runs and marks each day, backups, an upgrade and a restore; nothing is lost.

The first half of the month is run by the code before the last migration. Days pass because
everything that has a date gets older (`ageing.py`), so nothing of the product is replaced.
"""

from __future__ import annotations

import random
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from tests.builders import upload
from tests.services import ageing, judging_scene
from tests.services.conftest import servers_by_day
from tests.services.machines import ROOT, Site, folder, until
from tests.services.people import Person, organiser, sign_up
from tests.services.scene import scored_run
from tests.services.test_keeping import host_like, rows_of, whole
from tests.upgrades import code_of, commit_before_the_last_migration

pytestmark = [pytest.mark.services, pytest.mark.night, pytest.mark.xdist_group("services")]

DAYS, UPGRADED, RESTORED = 30, 15, 20
# The retention times of this month; a session and a short token end within it too.
KEPT = {"BACKUP_HOURS": "24", "BACKUP_KEEP": "7", "REFUSED_KEPT_DAYS": "7", "ROWS_KEPT_DAYS": "10"}
SESSION, SHORT_TOKEN = 14, 7
PASS_DAYS = Path(ageing.__file__).read_text() + "\npass_days()\n"
JUDGING = Path(judging_scene.__file__).read_text() + "\nmake('dan')\n"
A_DAY_OF_MARKS = 14
BROKEN_RUN = "1 Q0 d1 1 high ben-broken\n"
OUR_ERROR = '"level": "ERROR", "logger": "leaderboard'
# What may only grow, as the database has it.
GROWING = {
    "activity": "select id, act, target_kind, target_id from leaderboard_auditevent",
    "marks": "select key, kind, grade, document_id from leaderboard_mark",
    "runs": "select id, tag, sha256, file, ranking_file from leaderboard_run "
    "where state <> 'refused'",
    "scores": "select s.run_id, m.measure, m.mean, m.by_topic from leaderboard_score m "
    "join leaderboard_scoreset s on s.id = m.score_set_id",
    "attempts": "select target_id, state, attempts from leaderboard_job where kind = 'check_run'",
}


@dataclass
class Month:
    """A site of its own, whose code and whose people change in the course of the month."""

    site: Site
    code: Path
    day: int = 0
    sent: dict[str, str] = field(default_factory=dict)
    seen: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in GROWING})
    board: dict[str, float] = field(default_factory=dict)

    @property
    def backups(self) -> Path:
        return Path(self.site.environment["BACKUP_FOLDER"])

    def open(self) -> None:
        self.site.open()
        self.nights = self.site.start("nights", "shell", "-v0", "-c", PASS_DAYS, stdin=PIPE)

    def close(self) -> None:
        self.nights.communicate()
        self.site.close()

    def begin(self) -> None:
        self.open()
        self.ada = organiser(self.site, "ada")
        self.ben, self.cat, self.dan = (sign_up(self.site, name) for name in ("ben", "cat", "dan"))
        scored_run(self.site, self.ada.token, "bread")
        self.ada.ask("/tracks/bread", {"quota_per_day": 1}, method="PATCH")
        self.site.manage("shell", "-c", JUDGING)
        self.short = short_token(self.ben)
        self.broken = submitted(self.ben, BROKEN_RUN)["id"]
        until(lambda: self.ben.ask(f"/runs/{self.broken}")["state"] == "refused", "it is refused")

    def live_through_a_day(self) -> None:
        """It passes, a backup is made by schedule, and people do what they do each day."""
        before = whole(self.backups)
        self.pass_a_day()
        until(lambda: whole(self.backups)[-1:] > before[-1:], f"the backup of day {self.day}")
        for person in (self.ben, self.cat):
            text = run_of(person, self.day)
            self.sent[submitted(person, text)["id"]] = text
        self.judge(A_DAY_OF_MARKS)
        until(lambda: all(map(self.is_scored, self.sent)), f"the runs of day {self.day} are scored")
        self.note()
        self.day += 1

    def pass_a_day(self) -> None:
        passed = self.site.said("nights").count("passed")
        print(file=self.nights.stdin, flush=True)
        until(lambda: self.site.said("nights").count("passed") > passed, "a day passes")

    def is_scored(self, run: str) -> bool:
        return self.ada.ask(f"/runs/{run}")["state"] == "scored"

    def judge(self, most: int) -> None:
        """Dan judges so many documents, topic after topic."""
        [assessment] = self.dan.ask("/assessments")["items"]
        for each in assessment["assignments"]:
            path = f"/assignments/{each['id']}"
            given = self.dan.ask(f"{path}/next?most={most}")["documents"] if most else []
            keys = [one["document"] for one in given]
            marks = [{"key": f"m{key}", "document": key, "grade": key % 3} for key in keys]
            if marks:
                results = self.dan.ask(f"{path}/marks", {"marks": marks})["results"]
                assert [result["code"] for result in results] == [""] * len(marks)
            most -= len(marks)

    def note(self) -> None:
        """What was there yesterday is there, and what is new counts from now on."""
        for name, sql in GROWING.items():
            now = rows_of(self.site, sql)
            assert self.seen[name] <= now, f"{name} lost on day {self.day}"
            self.seen[name] = now
        standings = self.ada.ask("/tracks/bread/leaderboard")["standings"]
        now = {row["run"]: row["scores"]["AP"] for row in standings}
        assert self.board.items() <= now.items(), f"the board of day {self.day}"
        self.board = now

    def upgrade(self, backup: Path) -> str:
        """By the command of the page, with web and workers stopped; what it says."""
        self.close()
        self.code = ROOT
        said = self.site.manage("upgrade", str(backup))
        self.open()
        return said


def short_token(person: Person) -> str:
    page = person.send("/account/", name="week", scopes=["read"], days=str(SHORT_TOKEN)).text
    return page.split('<pre id="secret">')[1].split("<")[0]


def submitted(person: Person, text: str) -> Any:
    return person.ask("/tracks/bread/runs", file=upload("run.txt", text))


def run_of(person: Person, day: int) -> str:
    """A run of twelve documents of each topic; no two days give the same order."""
    chance = random.Random(f"{person.name} {day}")
    return "".join(
        f"{topic} Q0 d{docno} {rank} {20 - rank} {person.name}-{day}\n"
        for topic in (1, 2, 3)
        for rank, docno in enumerate(chance.sample(range(1, 13), 12), start=1)
    )


@pytest.fixture
def month(site: Site) -> Iterator[Month]:
    with ExitStack() as stack:
        code = stack.enter_context(code_of(commit_before_the_last_migration()))
        host = stack.enter_context(host_like(site))
        host.environment |= KEPT | {
            "BACKUP_FOLDER": str(stack.enter_context(folder())),
            "LOG_FORMAT": "json",
        }
        lived = Month(host, code)
        host.checkout_of = lambda _: lived.code
        stack.callback(lived.close)
        lived.begin()
        yield lived


@servers_by_day
def test_nothing_is_lost_in_a_month(month: Month, site: Site, tmp_path: Path) -> None:
    for day in range(DAYS):
        if day == UPGRADED:
            said = month.upgrade(tmp_path / "before-upgrade")
            assert "no row is missing" in said, said
        month.live_through_a_day()
        if day == RESTORED:
            with host_like(site) as drill:
                comes_back(month, drill)

    assert len(month.sent) == 2 * DAYS and len(month.board) == 2 * DAYS + 1
    documents = judging_scene.TOPICS * judging_scene.DOCUMENTS
    assert len(month.seen["marks"]) == min(DAYS * A_DAY_OF_MARKS, documents)
    for run, text in month.sent.items():
        request = month.site.request(f"/runs/{run}/file", month.ada.token)
        assert urllib.request.urlopen(request).read().decode() == text
    assert "BAD" not in month.site.manage("doctor", "--hash")
    ended_in_time(month)
    with host_like(site) as other:
        scored_anew(month, other)


def comes_back(month: Month, drill: Site) -> None:
    """The last backup, on a host that has never run."""
    assert "Restored the backup of" in drill.manage("restore", str(whole(month.backups)[-1]))
    assert "BAD" not in drill.manage("doctor", "--hash")
    for name in ("runs", "scores", "activity", "marks"):
        kept = rows_of(drill, GROWING[name])
        assert kept and kept <= month.seen[name], name


def ended_in_time(month: Month) -> None:
    """What may end has ended: a session, a token, a rejected file, old backups and old jobs."""
    site = month.site
    assert month.ben.open("/account/").address.startswith("/account/login/")
    assert status_of(site, "/me", month.short) == 401
    broken = f"select state, file from leaderboard_run where id = '{month.broken}'"
    assert site.rows(broken) == [("refused", "")]
    assert len(whole(month.backups)) == int(KEPT["BACKUP_KEEP"])
    [(jobs,)] = site.rows("select count(*) from leaderboard_job where kind = 'back_up'")
    assert jobs <= int(KEPT["ROWS_KEPT_DAYS"]) + 1
    assert site.rows("select kind, reason from leaderboard_job where state = 'failed'") == []
    assert not [path for path in site.home.glob("*.log") if OUR_ERROR in path.read_text()]


def status_of(site: Site, path: str, token: str) -> int:
    try:
        return urllib.request.urlopen(site.request(path, token)).status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def scored_anew(month: Month, other: Site) -> None:
    """Elsewhere, from the runs as they were sent, every score is the same."""
    archive = month.site.home / "bread.zip"
    month.site.manage("export_benchmark", "bread", str(archive))
    said = other.manage("import_benchmark", str(archive))
    assert "All scores match the archive exactly." in said
