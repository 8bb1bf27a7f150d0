"""Commands that ask at a terminal."""

from __future__ import annotations

import os
import pty
from collections.abc import Mapping
from contextlib import suppress


def answer_twice(words: list[str], answer: str, environment: Mapping[str, str]) -> str:
    """Run a command that asks twice, such as for a password; what it says at the end."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(words[0], words, environment)
    said = b""
    for _ in range(2):
        while not said.rstrip().endswith(b":"):
            said += os.read(terminal, 1000)
        os.write(terminal, f"{answer}\n".encode())
        said = b""
    with suppress(OSError):
        while piece := os.read(terminal, 1000):
            said += piece
    assert os.waitpid(child, 0)[1] == 0, said
    return said.decode()
