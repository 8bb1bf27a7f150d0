#!/usr/bin/python3
"""What `systemctl enable --now` does, where no systemd runs: start what each unit says.

A test copies this file into a folder with a Debian.  It reads command, user, folder and environment
of a unit, and ignores what needs the real one: limits, order, and starting again.
"""

from __future__ import annotations

import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from shlex import split


def start(unit: str) -> None:
    name, at, instance = unit.partition("@")
    said = ConfigParser(interpolation=None, strict=False)
    said.optionxform = str  # type: ignore[assignment,method-assign]
    said.read_string(Path(f"/etc/systemd/system/{name}{at}.service").read_text())
    service = said["Service"]
    environment = {"PATH": "/usr/bin:/usr/sbin", "LANG": "C.UTF-8", "INSTANCE": instance}
    if "EnvironmentFile" in service:
        lines = split(Path(service["EnvironmentFile"]).read_text(), comments=True)
        environment |= dict(line.split("=", 1) for line in lines)
    with open(f"/var/log/{unit}.log", "a") as log:
        subprocess.Popen(
            split(service["ExecStart"]),
            cwd=service.get("WorkingDirectory", "/"),
            env=environment,
            user=service["User"],
            group=service["User"],
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


if __name__ == "__main__":
    assert sys.argv[1:3] == ["enable", "--now"], sys.argv
    for unit in sys.argv[3:]:
        start(unit)
