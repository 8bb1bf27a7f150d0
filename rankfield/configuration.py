"""Which site a program calls, and with which token.

Both come from the environment, else from `rankfield/config.toml` in the folder of settings, with
the lines `url = "https://..."` and `token = "rf_..."`. A token may also be in the keyring of the
system, which is optional: pip install keyring.
"""

from __future__ import annotations

import os
import sys
import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rankfield.errors import SiteError

SERVICE = "rankfield"


@dataclass(frozen=True)
class Configuration:
    """The URL of a site and a token; empty if they are nowhere."""

    url: str
    token: str


def read_configuration(url: str = "") -> Configuration:
    """Return the site to call and its token: for `url`, or else for the first site stated.

    A token that is stated with a URL is for that site alone.
    """
    environment = Configuration(
        os.environ.get("RANKFIELD_URL", ""), os.environ.get("RANKFIELD_TOKEN", "")
    )
    stated = (environment, read_file(configuration_file()))
    url = plain_url(next(filter(None, (url, *(place.url for place in stated))), ""))
    tokens = (place.token for place in stated if plain_url(place.url) in ("", url))
    return Configuration(url, next(filter(None, tokens), "") or read_keyring(url))


def plain_url(url: str) -> str:
    return url.rstrip("/")


def configuration_file() -> Path:
    """Return where settings are: `~/.config`, or what the system has instead.

    That is APPDATA on Windows. XDG_CONFIG_HOME comes first everywhere.
    """
    folder = os.environ.get("XDG_CONFIG_HOME")
    if not folder and sys.platform == "win32":
        folder = os.environ.get("APPDATA")
    return (Path(folder) if folder else Path.home() / ".config") / SERVICE / "config.toml"


def read_file(path: Path) -> Configuration:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        found = {}
    except (OSError, ValueError) as error:
        raise SiteError(f"{path} cannot be read: {error}") from None
    return Configuration(str(found.get("url", "")), str(found.get("token", "")))


def write_file(path: Path, kept: Configuration) -> None:
    """Write the file of settings anew, for its owner alone."""
    lines = [f"url = {quoted(kept.url)}"] + ([f"token = {quoted(kept.token)}"] * bool(kept.token))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def quoted(text: str) -> str:
    """Return a text as a string of TOML.

    >>> quoted('a"b')
    '"a\\\\"b"'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def find_keyring() -> Any:
    """Return the library keyring, None where it is not installed."""
    try:
        return import_module("keyring")
    except ModuleNotFoundError:
        return None


def read_keyring(url: str) -> str:
    """Return the token of a site that the keyring has; empty without one, or if it is locked."""
    keyring = find_keyring() if url else None
    if keyring is None:
        return ""
    try:
        return str(keyring.get_password(SERVICE, url) or "")
    except keyring.errors.KeyringError:
        return ""


def write_keyring(url: str, token: str) -> None:
    """Keep the token of a site in the keyring.  Raises SiteError where there is none."""
    keyring = find_keyring()
    if keyring is None:
        raise SiteError("keyring is not installed: pip install 'rankfield[keyring]', or use --file")
    try:
        keyring.set_password(SERVICE, url, token)
    except keyring.errors.KeyringError as error:
        raise SiteError(f"the keyring does not keep the token: {error}. Use --file.") from None


def delete_token(url: str) -> bool:
    """Remove the token of a site from keyring and file; return whether there was one."""
    keyring, path = find_keyring(), configuration_file()
    was_kept = bool(read_keyring(url))
    if was_kept:
        keyring.delete_password(SERVICE, url)
    stated = read_file(path)
    if not stated.token or plain_url(stated.url) not in ("", url):
        return was_kept
    write_file(path, Configuration(stated.url, ""))
    return True
