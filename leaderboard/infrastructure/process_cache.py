"""Per-process cache of values, keyed by version."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class ProcessCache(Generic[Key, Value]):
    """Cache the values used last; a value that changes needs another key.

    All callers share the values, so no caller may change them.

    >>> squares: ProcessCache[int, int] = ProcessCache(most=2)
    >>> squares.get_many([2, 3], lambda keys: {key: key**2 for key in keys})
    {2: 4, 3: 9}
    >>> squares.get_many([3, 4], lambda keys: {key: key**2 for key in keys if key != 3})
    {3: 9, 4: 16}
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: dict[Key, Value] = {}
        self._lock = Lock()

    def get_many(
        self, keys: Iterable[Key], read: Callable[[Sequence[Key]], Mapping[Key, Value]]
    ) -> dict[Key, Value]:
        """Return the values by key; missing values are read in one call and stored."""
        with self._lock:
            found = {key: self._values[key] for key in keys if key in self._values}
        missing = [key for key in keys if key not in found]
        if missing:
            found |= read(missing)
            self._store(found)
        return found

    def clear(self) -> None:
        """Delete all values."""
        with self._lock:
            self._values.clear()

    def _store(self, found: Mapping[Key, Value]) -> None:
        """Store values as the most recently used, and delete the oldest beyond the limit."""
        with self._lock:
            for key, value in found.items():
                self._values.pop(key, None)
                self._values[key] = value
            for key in list(self._values)[: -self.most]:
                del self._values[key]
