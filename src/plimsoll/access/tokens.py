# SPDX-License-Identifier: Apache-2.0

"""A cache of Keystone's responses about tokens in this process, with the lifetime `token_cache_time`.

It stands in for memcached where an operator has none. keystonemiddleware's own stand-in is deprecated, grows without
bounds and looks through all it holds at each request.
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
"""Tokens kept; every host of a cloud has one or two."""
MAX_BYTES = 32 << 20
"""An answer takes 1 to 2 kB."""

Said = Mapping[str, Any]


class TokenMemory:
    """Each token is known for `seconds` from when Keystone was asked: 0 is for ever, less is not at all.

    That a token has expired is for the caller to see. Answers are kept as JSON, a tenth of what the objects take. A token
    that Keystone refused is not kept, as in keystonemiddleware: it may be good on the next attempt, when another node of
    Keystone has caught up.
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
        self._known: BoundedCache[bytes, tuple[float, bytes]] = BoundedCache(max_tokens, max_bytes)

    def get(self, token: str) -> Said | None:
        entry = self._known.get(token_hash(token))
        if entry is None or entry[0] <= self._clock():
            return None
        said: Said = orjson.loads(entry[1])
        return said

    def put(self, token: str, said: Said) -> None:
        if self._seconds < 0:
            return
        now = self._clock()
        # All are kept equally long, so that the first in is the first to expire.
        self._known.drop_oldest_while(lambda entry: entry[0] <= now)
        self._known.put(token_hash(token), (now + self._seconds, orjson.dumps(_in_brief(said))))

    def __len__(self) -> int:
        return len(self._known)

    @property
    def size(self) -> int:
        """Bytes that the entries take, by estimate."""
        return self._known.size


NO_MEMORY = TokenMemory(-1)
"""Where memcached keeps tokens."""


def token_hash(token: str) -> bytes:
    """A key for the token, so that memory contains no tokens."""
    return sha256(token.encode()).digest()


def _in_brief(said: Said) -> Said:
    """Without the addresses of the catalog, nine tenths of it all. Access rules look at the types of services."""
    token = said.get("token", {})
    if "catalog" not in token:
        return said
    types = [{"type": service["type"]} for service in token["catalog"]]
    return {**said, "token": {**token, "catalog": types}}
