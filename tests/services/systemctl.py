#!/usr/bin/python3
"""What systemd does with units, where no systemd runs: start them, and start them again.

A test copies this file into a folder with a Debian.  `enable --now` and `start` start each unit,
and `stop` ends it.  A process beside each holds its socket and starts it again when it ends.  It
reads command, user, folder, environment and pause of a unit, and ignores what needs the real one:
limits and order.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from configparser import ConfigParser
from contextlib import suppress
from pathlib import Path
from shlex import split

UNITS = Path("/etc/systemd/system")
FIRST = 3
# A socket is given to the process that its own number is said of.
GIVE = 'LISTEN_PID=$$ exec "$@"'


def read(name: str) -> ConfigParser:
    said = ConfigParser(interpolation=None, strict=False)
    said.optionxform = str  # type: ignore[assignment,method-assign]
    said.read(UNITS / name)
    return said


def start(unit: str) -> None:
    """With a keeper in a session of its own, whose number a file keeps."""
    words = [sys.executable, __file__, "keep", unit]
    with open(f"/var/log/{unit}.log", "a") as log:
        keeper = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    keeper_file(unit).write_text(str(keeper.pid))


def stop(unit: str) -> None:
    """Its keeper ends it and then itself."""
    keeper = int(keeper_file(unit).read_text())
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(keeper, signal.SIGTERM)
        while Path(f"/proc/{keeper}/cmdline").read_bytes():
            time.sleep(0.05)


def keeper_file(unit: str) -> Path:
    return Path(f"/run/{unit}.keeper")


def keep(unit: str) -> None:
    """Run it again and again, until this process is told to end."""
    name, at, _ = unit.partition("@")
    listener = listen(f"{name}.socket")
    over = False

    def end(*_: object) -> None:
        nonlocal over
        over = True
        process.terminate()

    while not over:
        service = read(f"{name}{at}.service")["Service"]
        process = run(service, listener)
        signal.signal(signal.SIGTERM, end)
        process.wait()
        time.sleep(0 if over else float(service["RestartSec"]))


def listen(name: str) -> socket.socket | None:
    """Where a unit has a socket, it is there before the unit and stays."""
    if not (UNITS / name).exists():
        return None
    said = read(name)["Socket"]
    host, port = said["ListenStream"].split(":")
    return socket.create_server((host, int(port)), backlog=int(said["Backlog"]))


def run(service, listener: socket.socket | None) -> subprocess.Popen[bytes]:
    environment = {"PATH": "/usr/bin:/usr/sbin", "LANG": "C.UTF-8"}
    if "EnvironmentFile" in service:
        lines = split(Path(service["EnvironmentFile"]).read_text(), comments=True)
        environment |= dict(line.split("=", 1) for line in lines)
    words, handles = split(service["ExecStart"]), ()
    if listener is not None:
        os.dup2(listener.fileno(), FIRST)
        words, handles = ["sh", "-c", GIVE, "sh", *words], (FIRST,)
        environment["LISTEN_FDS"] = "1"
    return subprocess.Popen(
        words,
        cwd=service.get("WorkingDirectory", "/"),
        env=environment,
        user=service["User"],
        group=service["User"],
        extra_groups=[],
        start_new_session=True,
        pass_fds=handles,
    )


if __name__ == "__main__":
    verb, *units = sys.argv[1:]
    if units[:1] == ["--now"]:
        assert verb == "enable", sys.argv
        verb, units = "start", units[1:]
    for unit in units:
        {"start": start, "stop": stop, "keep": keep}[verb](unit)
