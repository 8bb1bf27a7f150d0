"""Per-process cache of values, keyed by version."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memory(Generic[Key, Value]):
    """The values that were read last; whatever changes a value has to change its key.

    Values are shared by all who ask, so nobody may change them.

    >>> squares: Memory[int, int] = Memory(most=2)
    >>> squares.recall([2, 3], lambda keys: {key: key**2 for key in keys})
    {2: 4, 3: 9}
    >>> squares.recall([3, 4], lambda keys: {key: key**2 for key in keys if key != 3})
    {3: 9, 4: 16}
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: dict[Key, Value] = {}
        self._lock = Lock()

    def recall(
        self, keys: Iterable[Key], read: Callable[[Sequence[Key]], Mapping[Key, Value]]
    ) -> dict[Key, Value]:
        """The values by their keys; those that are not held are read together, and held."""
        with self._lock:
            found = {key: self._held[key] for key in keys if key in self._held}
        missing = [key for key in keys if key not in found]
        if missing:
            found |= read(missing)
            self._hold(found)
        return found

    def forget(self) -> None:
        with self._lock:
            self._held.clear()

    def _hold(self, found: Mapping[Key, Value]) -> None:
        """What was asked for last goes last."""
        with self._lock:
            for key, value in found.items():
                self._held.pop(key, None)
                self._held[key] = value
            for key in list(self._held)[: -self.most]:
                del self._held[key]
