"""Which site a program calls, and with which token: from the environment, else from a file.

The file is `rankfield/config.toml` in `~/.config`, with the lines `url = "https://..."` and
`token = "rf_..."`.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from rankfield.errors import SiteError


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
    url = _plain(next(filter(None, (url, *(place.url for place in stated))), ""))
    tokens = (place.token for place in stated if _plain(place.url) in ("", url))
    return Configuration(url, next(filter(None, tokens), ""))


def _plain(url: str) -> str:
    return url.rstrip("/")


def configuration_file() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "rankfield" / "config.toml"


def read_file(path: Path) -> Configuration:
    try:
        found = tomllib.loads(path.read_text())
    except FileNotFoundError:
        found = {}
    except (OSError, ValueError) as error:
        raise SiteError(f"{path} cannot be read: {error}") from None
    return Configuration(str(found.get("url", "")), str(found.get("token", "")))
