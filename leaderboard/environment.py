"""Typed readers of environment variables, for settings only."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import secrets
import stat
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

SQLITE_OPTIONS = {
    # IMMEDIATE: a transaction that will write waits for the lock at its start.  DEFERRED ones fail
    # with "database is locked" when two readers both try to become the writer.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
}
POSTGRESQL_OPTIONS = {
    "options": "-c lock_timeout=5000 -c idle_in_transaction_session_timeout=60000",
    # A host that disappears sends nothing. This detects it in seconds; the default takes hours.
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",
}


def text(name: str, default: str = "") -> str:
    """The value of a variable; one that is empty is not set."""
    return os.environ.get(name, "").strip() or default


def require_package(module: str, setting: str, extra: str) -> None:
    """Refuse a setting whose packages are missing, and say how to install them."""
    try:
        missing = find_spec(module) is None
    except ModuleNotFoundError:
        missing = True
    if missing:
        raise ImproperlyConfigured(f"{setting} needs: pip install 'rankfield[{extra}]'")


def default_home(base: Path, is_checkout: bool) -> Path:
    """Return the folder of the data: `var/` of a checkout, else one of the user."""
    if is_checkout:
        return base / "var"
    return Path(text("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "rankfield"


def switch(name: str, default: bool = False) -> bool:
    value = text(name).lower()
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("0", "false", "no", "off"):
        return False
    if value:
        raise ImproperlyConfigured(f"{name} is {value!r}; use 1 or 0")
    return default


def choice(name: str, among: tuple[str, ...]) -> str:
    """One of these words; the first if the variable is not set."""
    value = text(name, among[0]).lower() or among[0]
    if value not in among:
        raise ImproperlyConfigured(f"{name} is {value!r}; use one of {', '.join(among)}")
    return value


def number(name: str, default: int) -> int:
    value = text(name)
    try:
        return int(value) if value else default
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; use a whole number") from None


def words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def networks(name: str) -> list[Network]:
    """Addresses and networks, such as `127.0.0.1` and `10.2.0.0/16`."""
    found = []
    for word in words(name):
        try:
            found.append(ipaddress.ip_network(word))
        except ValueError as reason:
            raise ImproperlyConfigured(f"{name}: {reason}") from None
    return found


def pairs(name: str) -> list[tuple[str, str]]:
    """Pairs `left=right`; the left side may have an equals sign of its own.

    >>> os.environ["LABELS"] = "lab=harbours/Crumbs, editors=organise"
    >>> pairs("LABELS")
    [('lab', 'harbours/Crumbs'), ('editors', 'organise')]
    """
    found = [word.rpartition("=") for word in words(name)]
    for left, _, right in found:
        if not left or not right:
            raise ImproperlyConfigured(f"{name} has a part that is not LEFT=RIGHT")
    return [(left.strip(), right.strip()) for left, _, right in found]


def secret(name: str, path: Path) -> str:
    """The secret of that name, or the one kept in `path`, made at the first start."""
    if value := text(name):
        return value
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_urlsafe(50))
    return path.read_text().strip()


def private_folder(path: Path) -> Path:
    """Make a folder that only this account can open, and let new files be for it alone.

    A folder that everybody may write to, such as /tmp, and one of another account stay unchanged:
    `doctor` reports them.
    """
    os.umask(0o077)
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = path.stat()
    is_shared = found.st_mode & stat.S_ISVTX
    if found.st_uid == os.geteuid() and not is_shared and found.st_mode & 0o077:
        path.chmod(0o700)
    return path


def name_provider(issuer: str) -> str:
    """Return the name under which people of an issuer of ID tokens are stored.

    >>> name_provider(""), name_provider("https://id.example.org/")
    ('oidc', 'oidc-777514328c38')
    """
    digest = hashlib.sha256(issuer.rstrip("/").encode()).hexdigest()[:12]
    return f"oidc-{digest}" if issuer else "oidc"


def database(url: str, home: Path) -> dict[str, object]:
    """Return Django's settings of the database at `url`, by default SQLite in `home`.

    `postgresql://user:word@host:5432/name`, `postgresql:///name?host=/run/socket`,
    `sqlite:////folder/file.sqlite3`.  PostgreSQL gets all other parameters after the `?`.
    """
    if not url:
        return _sqlite(home / "rankfield.sqlite3")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite(Path(unquote(parts.path[1:])))
    if parts.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured("DATABASE_URL starts with postgresql:// or sqlite://")
    options = dict(parse_qsl(parts.query))
    host, port = options.pop("host", ""), options.pop("port", "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path[1:]),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host or unquote(parts.hostname or ""),
        "PORT": port or str(parts.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**POSTGRESQL_OPTIONS, **options},
    }


def _sqlite(path: Path) -> dict[str, object]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": dict(SQLITE_OPTIONS),
    }
