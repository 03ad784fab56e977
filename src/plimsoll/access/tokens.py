# SPDX-License-Identifier: Apache-2.0

"""A cache of Keystone's responses about tokens in this process, with the lifetime `token_cache_time`.

It replaces memcached where the operator has none. keystonemiddleware's own in-process cache is deprecated, grows without
bounds and scans all its entries at each request.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import orjson

from plimsoll.bounded_cache import BoundedCache

MAX_TOKENS = 10_000
"""Tokens in the cache. Every host of a cloud has one or two."""
MAX_BYTES = 32 << 20
"""A response of Keystone takes 1 to 2 kB."""

TokenData = Mapping[str, Any]


class TokenCache:
    """Caches each response for `seconds`; 0 means without end, a negative number disables the cache.

    The caller must check whether the token has expired. Responses are stored as JSON, a tenth of the size of the objects.
    A token that Keystone refused is not cached, as in keystonemiddleware: it may be valid at the next attempt, when
    another node of Keystone has caught up.
    """

    def __init__(
        self,
        seconds: int,
        max_tokens: int = MAX_TOKENS,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds or math.inf
        self._clock = clock
        self._cache: BoundedCache[bytes, tuple[float, bytes]] = BoundedCache(max_tokens, max_bytes)

    def get(self, token: str) -> TokenData | None:
        entry = self._cache.get(token_hash(token))
        if entry is None or entry[0] <= self._clock():
            return None
        token_data: TokenData = orjson.loads(entry[1])
        return token_data

    def put(self, token: str, token_data: TokenData) -> None:
        if self._seconds < 0:
            return
        now = self._clock()
        # All entries have the same lifetime, so the oldest expires first.
        self._cache.drop_oldest_while(lambda entry: entry[0] <= now)
        # Copied, because a short text that orjson has made occupies 4 kB.
        entry = now + self._seconds, bytes(memoryview(orjson.dumps(_without_endpoints(token_data))))
        self._cache.put(token_hash(token), entry)


NO_TOKEN_CACHE = TokenCache(-1)
"""For use with memcached, where keystonemiddleware caches the tokens."""


def token_hash(token: str) -> bytes:
    """Return a cache key for the token, so that the cache contains no tokens."""
    return sha256(token.encode()).digest()


def _without_endpoints(token_data: TokenData) -> TokenData:
    """Remove the endpoints from the catalog: nine tenths of the data. Access rules need the service types only."""
    token = token_data.get("token", {})
    if "catalog" not in token:
        return token_data
    types = [{"type": service["type"]} for service in token["catalog"]]
    return {**token_data, "token": {**token, "catalog": types}}
