# SPDX-License-Identifier: Apache-2.0

"""A cache of the responses to queries on one snapshot.

Several schedulers request candidates for the same flavour at the same time: the search runs once. Nothing has to be
invalidated: each snapshot has its own cache, and the next write makes a new snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

MAX_BYTES = 4 << 20
"""Size of all responses on one snapshot, with their queries. Further ones are not cached."""
MAX_QUERY_CHARS = 4096
"""Longest query that is cached. Schedulers do not repeat longer ones."""
_ENTRY_BYTES = 512
"""Overhead of an entry, besides its query and its response."""

Compute = Callable[[], tuple[bytes, bool]]
"""Returns a response and whether it may be cached: a search that used up its budget could have found more."""


class ResponseCache:
    """Thread-safe: two concurrent requests may both compute a response, with the same result."""

    __slots__ = ("_by_query", "_free_bytes", "_max_bytes")

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        """With `max_bytes=0` nothing is cached."""
        self._by_query: dict[tuple[Hashable, str], bytes] = {}
        self._free_bytes = self._max_bytes = max_bytes

    def empty(self) -> ResponseCache:
        """Return the cache of the next snapshot."""
        return ResponseCache(self._max_bytes)

    def get_or_compute(self, query: str, variant: Hashable, compute: Compute) -> bytes:
        """Return the cached response, or compute it. It depends on the snapshot, the query and `variant` only: the microversion."""
        response = self._by_query.get((variant, query))
        if response is None:
            response, cacheable = compute()
            entry_bytes = len(response) + len(query) + _ENTRY_BYTES
            if cacheable and entry_bytes <= self._free_bytes and len(query) <= MAX_QUERY_CHARS:
                self._free_bytes -= entry_bytes
                self._by_query[variant, query] = response
        return response
