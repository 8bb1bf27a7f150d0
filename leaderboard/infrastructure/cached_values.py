"""Values in a cache: JSON or bytes, never code.

Django's own caches use pickle, so anyone who can write to them can run code in a web process.
"""

from __future__ import annotations

import json
import time
from typing import IO, Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.filebased import FileBasedCache

BYTES, JSON = b"b", b"j"
MISSING = object()


class JsonOrBytes:
    """A serializer for Django's Redis cache.

    >>> [JsonOrBytes().loads(JsonOrBytes().dumps(value)) for value in (b"x", [0.5], True)]
    [b'x', [0.5], True]
    >>> JsonOrBytes().dumps((1, 2))
    Traceback (most recent call last):
    TypeError: a cache keeps JSON and bytes, not (1, 2)
    """

    def dumps(self, value: object) -> int | bytes:
        """Return the stored form of a value; Redis counts only plain integers, so they stay."""
        if type(value) is int:
            return value
        if isinstance(value, bytes):
            return BYTES + value
        text = json.dumps(value, allow_nan=False)
        if json.loads(text) != value:
            raise TypeError(f"a cache keeps JSON and bytes, not {value!r}")
        return JSON + text.encode()

    def loads(self, data: bytes) -> Any:
        """Return the value of stored data.  Raises ValueError for data from elsewhere."""
        kind, rest = data[:1], data[1:]
        if kind == BYTES:
            return rest
        return json.loads(rest) if kind == JSON else int(data)


class JsonFiles(FileBasedCache):
    """Django's cache in files, without pickle: a line with the expiry time, then the value."""

    values = JsonOrBytes()

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        try:
            with open(self._key_to_file(key, version), "rb") as file:
                return default if self._is_expired(file) else self.values.loads(file.read())
        except (FileNotFoundError, ValueError):
            return default

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        value = self.get(key, MISSING, version)
        if value is MISSING:
            return False
        self.set(key, value, timeout, version)
        return True

    def _write_content(self, file: IO[bytes], timeout: Any, value: object) -> None:
        data = self.values.dumps(value)
        file.write(json.dumps(self.get_backend_timeout(timeout)).encode() + b"\n")
        file.write(data if isinstance(data, bytes) else str(data).encode())

    def _is_expired(self, file: IO[bytes]) -> bool:
        """Delete an expired file, or one that Django wrote with pickle before this class."""
        try:
            ends = json.loads(file.readline())
        except ValueError:
            ends = 0
        expired = ends is not None and ends < time.time()
        if expired:
            self._delete(file.name)
        return expired
