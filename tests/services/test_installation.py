"""docs/how-to/install-on-debian.md, followed command by command in an empty Debian.

What stands then is broken by every fault of the list that servers have.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator

import pytest

from tests.services.debian import HOST, Debian, empty_debian
from tests.services.machines import ROOT

PAGE = (ROOT / "docs" / "how-to" / "install-on-debian.md").read_text()
BLOCKS = [
    re.sub(r"^ {4}", "", block, flags=re.M).splitlines()
    for block in re.findall(r"^ *```sh\n(.+?)^ *```$", PAGE, re.M | re.S)
]
INSTALL, CHECK = [line for block in BLOCKS[:-1] for line in block], BLOCKS[-1]
SUBMIT = """
from tests.services.machines import Path, Site
from tests.services.scene import scored_run
site = Site(Path("."), "https://{host}")
print(scored_run(site, "{token}", "bread"))
"""


@pytest.fixture(scope="module")
def installed() -> Iterator[tuple[Debian, float]]:
    """A Debian on which every command was typed, and the seconds that they took."""
    if shutil.which("debootstrap") is None or os.getuid():
        pytest.skip("no debootstrap on this machine, or not root: apt-get install debootstrap")
    with empty_debian() as debian:
        begun = time.monotonic()
        for command in INSTALL:
            debian.follow(command)
        yield debian, time.monotonic() - begun


def test_twelve_commands_install_a_site():
    assert len(INSTALL) == 12 and not re.search(r"&&|;|\|", "".join(INSTALL))


@pytest.mark.night
@pytest.mark.services
@pytest.mark.xdist_group("services")
def test_the_page_leads_from_an_empty_debian_to_a_scored_run_in_15_minutes(installed, tmp_path):
    debian, seconds = installed
    assert seconds < 15 * 60
    debian.wait_for("ls -d /var/backups/rankfield/*Z")
    doctor, *_, metrics, backups = [debian.type(command) for command in CHECK]
    assert "BAD" not in doctor and "rankfield_workers_alive 2\n" in metrics
    assert backups.startswith("rankfield-2")
    token = debian.type("rankfield-manage create_token ada --organiser").split()[-1]
    script = SUBMIT.format(host=HOST, token=token)
    words = (sys.executable, "manage.py", "shell", "-v", "0", "-c", script)
    assert debian.meet(*words, RANKFIELD_HOME=str(tmp_path))


@pytest.mark.night
@pytest.mark.services
@pytest.mark.xdist_group("services")
def test_every_fault_of_servers_is_made_on_the_installation_and_all_holds(installed):
    debian, _ = installed
    said = debian.meet(sys.executable, "-m", "tests.faults", "--profile", "installed")
    assert said.count("1 of 1") > 20 and "WRONG" not in said
