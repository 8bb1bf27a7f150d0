"""Temporary outages: an unreachable backing service or a full disk."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from functools import cache

from django.db import InterfaceError, OperationalError, connection

# A disk quota and a limit on the size of files count as a full disk.
DISK_FULL_CODES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class StorageUnavailableError(OSError):
    """The file store does not answer or reports a fault."""


@dataclass(frozen=True)
class Outage:
    """The response to an outage; `retry_after` is in seconds."""

    status: int
    code: str
    message: str
    retry_after: int


DATABASE_DOWN = Outage(
    503,
    "E_AWAY",
    "The database is not responding. Try again in a moment: nothing will be duplicated.",
    retry_after=10,
)
REDIS_DOWN = Outage(
    503,
    "E_AWAY",
    "Sign-in is temporarily unavailable. Try again in a moment.",
    retry_after=10,
)
STORAGE_DOWN = Outage(
    503,
    "E_AWAY",
    "File storage is not responding. Try again in a moment.",
    retry_after=10,
)
DISK_FULL = Outage(
    507,
    "E_FULL",
    "The server’s disk is full, so nothing was saved. Try again later.",
    retry_after=60,
)
READ_ONLY = Outage(
    503,
    "E_AWAY",
    "This site is read-only for a while, so nothing was saved. Try again later.",
    retry_after=600,
)


@cache
def redis_error() -> type[Exception]:
    """Return what the client of Redis raises; most commands and many servers never load it."""
    from redis.exceptions import RedisError

    return RedisError


def find_outage(error: BaseException | None) -> Outage | None:
    """Return the outage behind an error; None for an error that a retry would repeat."""
    driver = connection.Database
    # When Django closes a server-side cursor, it does not wrap the driver's own errors.
    away = (OperationalError, InterfaceError, driver.OperationalError, driver.InterfaceError)
    if isinstance(error, away):
        return DATABASE_DOWN
    if isinstance(error, redis_error()):
        return REDIS_DOWN
    if isinstance(error, StorageUnavailableError):
        return STORAGE_DOWN
    if isinstance(error, OSError) and error.errno in DISK_FULL_CODES:
        return DISK_FULL
    return None
