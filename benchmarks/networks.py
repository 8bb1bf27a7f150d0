"""Hosts on one machine: network namespaces, joined to ours by a bridge."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

# What is shared listens here; the hosts are .2, .3 and so on.
NETWORK, BRIDGE = "10.213.77", "rankfield0"
OURS = f"{NETWORK}.1"


def can_have_hosts() -> bool:
    """Whether this machine lets us: iproute2 is there, and we are root and may add a namespace."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    tried = subprocess.run(["ip", "netns", "add", "rankfield-tried"], capture_output=True)
    if not tried.returncode:
        _ip("netns", "del", "rankfield-tried")
    return not tried.returncode


@contextmanager
def own_hosts(number: int) -> Iterator[list[str]]:
    """Yield the names of so many namespaces that reach `OURS`; all are gone afterwards."""
    with ExitStack() as stack:
        _ip("link", "add", BRIDGE, "type", "bridge")
        stack.callback(_ip, "link", "del", BRIDGE)
        _ip("addr", "add", f"{OURS}/24", "dev", BRIDGE)
        _ip("link", "set", BRIDGE, "up")
        yield [_add_host(stack, place) for place in range(number)]


def _add_host(stack: ExitStack, place: int) -> str:
    name, here, there = f"rankfield-{place}", f"rankfield-h{place}", f"rankfield-n{place}"
    _ip("netns", "add", name)
    stack.callback(_ip, "netns", "del", name)
    _ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
    _ip("link", "set", here, "master", BRIDGE, "up")
    _ip("-n", name, "addr", "add", f"{NETWORK}.{place + 2}/24", "dev", there)
    for device in (there, "lo"):
        _ip("-n", name, "link", "set", device, "up")
    return name


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
