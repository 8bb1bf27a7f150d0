"""The files by which systemd runs a site: units, user, folders, settings, and the edge before it.

Units come from `deploy/systemd`, and the edge is that of docker compose with the ports and
folders of a host. The log goes to the journal, which rotates it; a worker makes the backups.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

# The file of a unit, and what is started: two workers from one file, and the socket with its web.
UNITS = (
    "rankfield-web.socket",
    "rankfield-web.service",
    "rankfield-worker@.service",
    "rankfield-edge.service",
)
STARTED = ("rankfield-web", "rankfield-worker@1", "rankfield-worker@2", "rankfield-edge")
# What differs on a host from the network of docker compose.
OF_THE_HOST: Mapping[str, str] = {
    "listen 8080 ": "listen 80 ",
    "listen 8443 ": "listen 443 ",
    "http://web:8000": "http://127.0.0.1:8000",
    " /certificates/": " /etc/rankfield/certificates/",
    "    # Docker's own names: web may come back with another address.\n": "",
    "    resolver 127.0.0.11 valid=10s ipv6=off;\n": "",
}
USER = 'u rankfield - "Rankfield" /var/lib/rankfield\n'
FOLDERS = """\
d /var/lib/rankfield 0700 rankfield rankfield
d /var/backups/rankfield 0700 rankfield rankfield
d /etc/rankfield/certificates 0700 rankfield rankfield
"""
MANAGE = """\
#!/bin/sh
# manage.py of this site, with its settings and as its user: rankfield-manage doctor
set -a
. /etc/rankfield/environment
set +a
cd {folder} && exec runuser -u rankfield -- .venv/bin/python manage.py "$@"
"""
ENVIRONMENT = """\
# Settings of Rankfield; docs/operating.md has them all. Restart the services after a change.
# A value with spaces is in quotes: a shell reads this file too.
SECRET_KEY={secret_key}
METRICS_TOKEN={metrics_token}
ALLOWED_HOSTS={host},127.0.0.1
CSRF_TRUSTED_ORIGINS=https://{host}
SITE_URL=https://{host}
HTTPS=1
BEHIND_PROXY=1
DATABASE_URL=postgresql:///rankfield?host=/run/postgresql
REDIS_URL=redis://127.0.0.1:6379/0
RANKFIELD_HOME=/var/lib/rankfield
BACKUP_FOLDER=/var/backups/rankfield
"""


@dataclass(frozen=True)
class HostFile:
    """A file of the host; one that holds choices of the operator is never written again."""

    path: str
    text: str
    mode: int = 0o644
    is_kept: bool = False


def list_host_files(folder: Path, host: str) -> Iterator[HostFile]:
    """Yield every file for a checkout in a folder and the name of the site."""
    deploy = folder / "deploy" / "systemd"
    for unit in UNITS:
        text = Template((deploy / unit).read_text()).substitute(folder=folder)
        yield HostFile(f"etc/systemd/system/{unit}", text)
    yield HostFile("usr/lib/sysusers.d/rankfield.conf", USER)
    yield HostFile("usr/lib/tmpfiles.d/rankfield.conf", FOLDERS)
    yield HostFile("usr/local/sbin/rankfield-manage", MANAGE.format(folder=folder), mode=0o755)
    yield HostFile("etc/rankfield/edge.conf", render_edge((folder / "edge/nginx.conf").read_text()))
    environment = ENVIRONMENT.format(
        host=host, secret_key=secrets.token_hex(32), metrics_token=secrets.token_hex(16)
    )
    yield HostFile("etc/rankfield/environment", environment, mode=0o600, is_kept=True)


def render_edge(text: str) -> str:
    """Return the edge of docker compose for a host."""
    for there, here in OF_THE_HOST.items():
        if there not in text:
            raise ValueError(f"the edge has no {there.strip()!r} any more")
        text = text.replace(there, here)
    return text


def make_folder(folder: Path) -> None:
    """Make a folder that everyone can enter, whatever the umask of this process is."""
    if not folder.exists():
        make_folder(folder.parent)
        folder.mkdir()
        folder.chmod(0o755)


def write_host_files(root: Path, folder: Path, host: str) -> Iterator[tuple[HostFile, bool]]:
    """Write each file under a root; yield it and whether it was written."""
    for file in list_host_files(folder, host):
        path = root / file.path
        writes = not (file.is_kept and path.exists())
        if writes:
            make_folder(path.parent)
            path.touch(mode=file.mode)
            path.chmod(file.mode)
            path.write_text(file.text)
        yield file, writes
