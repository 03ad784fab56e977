# SPDX-License-Identifier: Apache-2.0

"""A cache that is bounded in entries and in bytes, for keys that clients choose.

`functools.lru_cache` counts entries only: 1,024 header values of 64 kB are 64 MB. A cache whose key or value contains
text of a request is a `BoundedCache`, or a function with `bounded_cache`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MAX_KEY_BYTES = 2048
"""Keys that clients repeat are shorter. A longer key costs more memory than recomputing its value is worth."""

_WITHOUT_PARTS = (str, bytes, int, float, type(None))
_ENTRY_BYTES = 128
"""The size of a dictionary's slot and of the tuple of an entry, rounded up."""


class BoundedCache(Generic[K, V]):
    """A thread-safe mapping that drops its oldest entries when it exceeds `max_entries` or `max_bytes`.

    An entry whose key exceeds `max_key_bytes`, or that alone exceeds `max_bytes`, is not stored. Reads take no lock and do
    not change the order, so the entry that was stored first is dropped first, however often it is read.
    """

    def __init__(
        self,
        max_entries: int,
        max_bytes: int,
        *,
        max_key_bytes: int = MAX_KEY_BYTES,
        size_of: Callable[[V], int] | None = None,
        values: dict[K, V] | None = None,
    ) -> None:
        """`size_of` is needed for values that are not plain data: `deep_size` ignores the parts of other objects.

        `values` is the dictionary to use for the entries.
        """
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._max_key_bytes = max_key_bytes
        self._size_of: Callable[[V], int] = size_of or deep_size
        self._values: dict[K, V] = {} if values is None else values
        self._sizes: dict[K, int] = {}
        self.get: Callable[[K], V | None] = self._values.get
        """The value of a key, or None. The dictionary's own method: several caches are read per request."""
        self._bytes = 0
        self._lock = threading.Lock()

    def put(self, key: K, value: V) -> None:
        """Store the value, in place of the one that this key has."""
        key_bytes = deep_size(key)
        size = _ENTRY_BYTES + key_bytes + self._size_of(value)
        with self._lock:
            self._drop(key)
            if key_bytes > self._max_key_bytes or size > self._max_bytes:
                return
            while len(self._values) >= self._max_entries or self._bytes + size > self._max_bytes:
                self._drop(next(iter(self._values)))
            self._values[key], self._sizes[key] = value, size
            self._bytes += size

    def drop_oldest_while(self, condition: Callable[[V], bool]) -> None:
        """Drop entries, the oldest first, up to the first one whose value does not meet the condition."""
        with self._lock:
            while self._values:
                key = next(iter(self._values))
                if not condition(self._values[key]):
                    return
                self._drop(key)

    def values(self) -> list[V]:
        """Return all values, the oldest first."""
        with self._lock:
            return list(self._values.values())

    def __len__(self) -> int:
        return len(self._values)

    @property
    def size(self) -> int:
        """Bytes that the entries take, by estimate."""
        return self._bytes

    def _drop(self, key: K) -> None:
        self._values.pop(key, None)
        self._bytes -= self._sizes.pop(key, 0)


def bounded_cache(
    max_entries: int,
    max_bytes: int,
    *,
    max_key_bytes: int = MAX_KEY_BYTES,
    size_of: Callable[[Any], int] | None = None,
) -> Callable[[Callable[[K], V]], Callable[[K], V]]:
    """Decorate a function of one hashable argument to cache its results; exceptions are not cached.

    Arguments that are equal share an entry, 1 and True for instance, as with `lru_cache`.
    """

    def decorate(function: Callable[[K], V]) -> Callable[[K], V]:
        class Results(dict[K, V]):
            def __missing__(self, argument: K) -> V:
                result = function(argument)
                cache.put(argument, result)
                return result

        results = Results()
        cache = BoundedCache[K, V](
            max_entries, max_bytes, max_key_bytes=max_key_bytes, size_of=size_of, values=results
        )
        # The dictionary's own method: a cache hit calls no Python function.
        return results.__getitem__

    return decorate


def deep_size(value: object) -> int:
    """Return the bytes that plain data takes with all its parts: texts, numbers, sequences, mappings and sets.

    A shared part counts each time. Any other object counts without its parts.
    """
    total = 0
    pending = [value]
    while pending:
        part = pending.pop()
        total += sys.getsizeof(part)
        if isinstance(part, _WITHOUT_PARTS):
            continue
        if isinstance(part, Mapping):
            pending.extend(part.keys())
            pending.extend(part.values())
        elif isinstance(part, tuple | list | AbstractSet):
            pending.extend(part)
    return total
