"""Temporary outages: an unreachable backing service or a full disk."""

from __future__ import annotations

import errno
from dataclasses import dataclass

from django.db import InterfaceError, OperationalError, connection
from redis.exceptions import RedisError

# A quota and a limit on the size of files are no room either.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class StoreAway(OSError):
    """The store of files does not answer, or says that it cannot just now."""


@dataclass(frozen=True)
class Outage:
    """What a visitor is told of it; `again` is in how many seconds it is worth another try."""

    status: int
    code: str
    message: str
    again: int


AWAY = Outage(
    503,
    "E_AWAY",
    "The database is not responding. Try again in a moment: nothing will be duplicated.",
    again=10,
)
UNCOUNTED = Outage(
    503,
    "E_AWAY",
    "Sign-in is temporarily unavailable. Try again in a moment.",
    again=10,
)
NO_STORE = Outage(
    503,
    "E_AWAY",
    "File storage is not responding. Try again in a moment.",
    again=10,
)
FULL = Outage(
    507,
    "E_FULL",
    "The server’s disk is full, so nothing was saved. Try again later.",
    again=60,
)


def outage_of(error: BaseException | None) -> Outage | None:
    """The outage behind an error; None where the error would come again."""
    driver = connection.Database
    # Where a cursor on the server is closed, Django lets the driver's own errors through.
    away = (OperationalError, InterfaceError, driver.OperationalError, driver.InterfaceError)
    if isinstance(error, away):
        return AWAY
    if isinstance(error, RedisError):
        return UNCOUNTED
    if isinstance(error, StoreAway):
        return NO_STORE
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return FULL
    return None
