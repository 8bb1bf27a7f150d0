"""A Debian in a folder, with processes, mounts and a network of its own, so that it has every port.

No systemd runs there: `systemctl.py` starts what the units say.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.services.machines import ROOT, children, command_of, folder, until
from tests.services.terminals import answer_twice

# The environment variable that tells a program beside it which Debian there is.
HERE = "RANKFIELD_DEBIAN"
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
ENVIRONMENT = {
    # How this machine reaches its index of packages.
    **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
    "PIP_CERT": "/root/ca.pem",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "DEBIAN_FRONTEND": "noninteractive",
    "LANG": "C.UTF-8",
    "HOME": "/root",
}


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

    def meet(self, *words: str, **environment: str) -> str:
        """What a program of this machine says that finds the site at its name."""
        inside = ["nsenter", "-t", str(self.process), "--mount", "--net", f"--wd={ROOT}"]
        surroundings = {
            **os.environ,
            **environment,
            "SSL_CERT_FILE": str(self.root / CERTIFICATE),
            HERE: f"{self.root} {self.process}",
        }
        done = subprocess.run([*inside, *words], env=surroundings, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout}{done.stderr}{self.logs()}"
        return done.stdout


def debian_here() -> Debian:
    """The one beside which this process was started, by `Debian.meet`."""
    root, process = os.environ[HERE].split()
    return Debian(Path(root), int(process))


@contextmanager
def empty_debian() -> Iterator[Debian]:
    """What its installer leaves: systemd, and how to reach the network."""
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
