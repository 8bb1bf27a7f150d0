"""During an upgrade of several hosts, web and workers of two versions share one database."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.services.machines import Postgres, Redis, ServerSite, folder
from tests.services.scene import scored_run
from tests.upgrades import code_of, commit_before_the_last_migration

pytestmark = [pytest.mark.night, pytest.mark.services, pytest.mark.xdist_group("services")]


class MixedSite(ServerSite):
    """A site of which one kind of process, web or work, runs the code of before."""

    def __init__(self, home: Path, postgres: Postgres, redis: Redis, older: str, code: Path):
        super().__init__(home, postgres, redis)
        self.environment["DATABASE_URL"] = postgres.with_database(f"older_{older}")
        self.older, self.code = older, code

    def checkout_of(self, name: str) -> Path:
        return self.code if name == self.older else super().checkout_of(name)

    def errors(self) -> str:
        lines = [*self.said("web").splitlines(), *self.said("work").splitlines()]
        return "\n".join(line for line in lines if '"level": "ERROR"' in line)


@pytest.mark.parametrize("older", ["web", "work"])
def test_a_run_is_submitted_and_scored_across_versions(older, postgres, redis):
    with ExitStack() as stack:
        code = stack.enter_context(code_of(commit_before_the_last_migration()))
        site = MixedSite(stack.enter_context(folder()), postgres, redis, older, code)
        stack.callback(site.close)
        site.manage("migrate", "-v0")
        site.open(workers=1)
        token = site.manage("create_token", "ada", "--organiser")
        run = scored_run(site, token, "bread")
        [row] = site.ask("/tracks/bread/leaderboard", token)["standings"]
        assert row["run"] == run and 0 < row["scores"]["AP"] <= 1
        assert site.errors() == ""
