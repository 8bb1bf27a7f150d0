"""docs/how-to/install-on-debian.md, followed command by command in an empty Debian.

The Debian lies in a folder, with processes, mounts and a network of its own, so that it has every
port.  No systemd runs there: `systemctl.py` starts what the units say.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services.machines import ROOT, children, command_of, folder, until
from tests.services.terminals import answer_twice

PAGE = (ROOT / "docs" / "how-to" / "install-on-debian.md").read_text()
BLOCKS = [
    re.sub(r"^ {4}", "", block, flags=re.M).splitlines()
    for block in re.findall(r"^ *```sh\n(.+?)^ *```$", PAGE, re.M | re.S)
]
INSTALL, CHECK = [line for block in BLOCKS[:-1] for line in block], BLOCKS[-1]
HOST = "rankfield.example.org"
CERTIFICATE = "etc/rankfield/certificates/fullchain.pem"
PASSWORD = "sourdough, rye and oven"
# What runs in a Debian before anyone types: its own devices, names and network.
BEGIN = f"""
mount --rbind /dev $0/dev
mount -t proc proc $0/proc
echo 127.0.0.1 localhost {HOST} > $0/etc/hosts
chmod 644 $0/etc/hosts
mount --bind $0/etc/hosts /etc/hosts
ip link set lo up
sysctl -qw net.ipv4.ip_unprivileged_port_start=0
exec sleep infinity
"""
# What the packages of Debian start by themselves where systemd runs. PostgreSQL was installed where
# another one may have had its port.
STARTED_BY_DEBIAN = """
install -d -o redis /run/redis
runuser -u redis -- redis-server /etc/redis/redis.conf --supervised no
sed -i 's/^port = .*/port = 5432/' /etc/postgresql/*/main/postgresql.conf
pg_ctlcluster $(pg_lsclusters -h | cut -d' ' -f1,2) start
"""
SUBMIT = """
from tests.services.machines import Path, Site
from tests.services.scene import scored_run
site = Site(Path("."), "https://{host}")
print(scored_run(site, "{token}", "bread"))
"""


@dataclass(frozen=True)
class Debian:
    root: Path
    process: int

    def words(self, command: str, *namespaces: str) -> list[str]:
        """How this machine has a command typed there."""
        inside = ["nsenter", "-t", str(self.process), "--mount", "--pid", *namespaces]
        # As a new Debian has it, whatever this machine has.
        return [*inside, "chroot", str(self.root), "bash", "-ec", f"umask 022\n{command}"]

    def type(self, command: str) -> str:
        """Run a command as root; downloads alone use the network of this machine."""
        downloads = re.search(r"apt-get|pip install", command)
        words = self.words(command, *([] if downloads else ["--net"]))
        done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}{self.logs()}"
        return done.stdout

    def succeeds(self, command: str) -> bool:
        words = self.words(command, "--net")
        return subprocess.run(words, env=ENVIRONMENT, capture_output=True).returncode == 0

    def logs(self) -> str:
        paths = sorted((self.root / "var/log").glob("rankfield-*.log"))
        return "".join(f"\n{path.name}:\n{path.read_text()[-3000:]}" for path in paths)

    def follow(self, command: str) -> None:
        """Type a command of the page, and answer where it asks."""
        if "createsuperuser" in command:
            self.wait_for(f"curl -fs --cacert /{CERTIFICATE} https://{HOST}/healthz")
            answer_twice(self.words(command, "--net"), PASSWORD, ENVIRONMENT)
            return
        self.type(command.replace("REPOSITORY", "/root/rankfield.git"))
        if "apt-get install" in command:
            self.type(STARTED_BY_DEBIAN)

    def wait_for(self, command: str) -> None:
        try:
            until(lambda: self.succeeds(command), command, 300)
        except AssertionError as error:
            raise AssertionError(f"{error}{self.logs()}") from None

    def submit(self, home: Path) -> str:
        """Have a first run scored, over TLS; its id."""
        token = self.type("rankfield-manage create_token ada --organiser").split()[-1]
        script = SUBMIT.format(host=HOST, token=token)
        inside = ["nsenter", "-t", str(self.process), "--mount", "--net"]
        done = subprocess.run(
            [*inside, sys.executable, ROOT / "manage.py", "shell", "-v", "0", "-c", script],
            env={**os.environ, "RANKFIELD_HOME": str(home), "SSL_CERT_FILE": self.certificate},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{done.stderr}{self.logs()}"
        return done.stdout

    @property
    def certificate(self) -> str:
        return str(self.root / CERTIFICATE)


ENVIRONMENT = {
    # How this machine reaches its index of packages.
    **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
    "PIP_CERT": "/root/ca.pem",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "DEBIAN_FRONTEND": "noninteractive",
    "LANG": "C.UTF-8",
    "HOME": "/root",
}


@pytest.fixture
def debian() -> Iterator[Debian]:
    """An empty Debian, with what its installer leaves: systemd, and how to reach the network."""
    if shutil.which("debootstrap") is None or os.getuid():
        pytest.skip("no debootstrap on this machine, or not root: apt-get install debootstrap")
    with ExitStack() as stack:
        root = stack.enter_context(folder())
        words = ["debootstrap", "--variant=minbase", "--include=systemd", "bookworm", str(root)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        shutil.copy("/etc/ssl/certs/ca-certificates.crt", root / "root/ca.pem")
        shutil.copy(Path(__file__).with_name("systemctl.py"), root / "usr/local/bin/systemctl")
        (root / "usr/local/bin/systemctl").chmod(0o755)
        # What packages start would be outside of its network.
        (root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (root / "usr/sbin/policy-rc.d").chmod(0o755)
        clone = ["git", "clone", "-q", "--bare", f"file://{ROOT}", f"{root}/root/rankfield.git"]
        subprocess.run(clone, check=True)
        apart = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
        holder = subprocess.Popen([*apart, "bash", "-ec", BEGIN, str(root)])
        stack.callback(holder.wait)
        stack.callback(holder.kill)
        until(lambda: [*map(command_of, children(holder.pid))] == ["sleep infinity "], "it is up")
        yield Debian(root, children(holder.pid)[0])


def test_twelve_commands_install_a_site():
    assert len(INSTALL) == 12 and not re.search(r"&&|;|\|", "".join(INSTALL))


@pytest.mark.night
@pytest.mark.services
@pytest.mark.xdist_group("services")
def test_the_page_leads_from_an_empty_debian_to_a_scored_run_in_15_minutes(debian, tmp_path):
    begun = time.monotonic()
    for command in INSTALL:
        debian.follow(command)
    assert time.monotonic() - begun < 15 * 60
    debian.wait_for("ls -d /var/backups/rankfield/*Z")
    doctor, *_, metrics, backups = [debian.type(command) for command in CHECK]
    assert "BAD" not in doctor and "rankfield_workers_alive 2\n" in metrics
    assert backups.startswith("rankfield-2")
    assert debian.submit(tmp_path)
