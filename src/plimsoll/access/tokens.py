# SPDX-License-Identifier: Apache-2.0

"""What Keystone said about tokens, remembered by this process for as long as `token_cache_time` says.

It stands in for memcached where an operator has none. keystonemiddleware's own stand-in is deprecated, grows without
bounds and looks through all it holds at each request.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

REMEMBERED_AT_MOST = 10_000
"""Tokens kept; every host of a cloud has one or two."""

Said = Mapping[str, Any]


class TokenMemory:
    """Each token is known for `seconds` from when Keystone was asked: 0 is for ever, less is not at all.

    That a token has expired is for the caller to see.
    """

    def __init__(
        self, seconds: int, most: int = REMEMBERED_AT_MOST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds or math.inf
        self._most = most
        self._clock = clock
        # All are kept equally long, so the first in is the first to go.
        self._known: dict[bytes, tuple[float, Said]] = {}
        self._changing = threading.Lock()

    def get(self, token: str) -> Said | None:
        until, said = self._known.get(_key(token), (0.0, None))
        return said if self._clock() < until else None

    def put(self, token: str, said: Said) -> None:
        if self._seconds < 0:
            return
        with self._changing:
            now = self._clock()
            self._known.pop(_key(token), None)
            while self._known and (len(self._known) >= self._most or self._oldest()[0] <= now):
                del self._known[next(iter(self._known))]
            self._known[_key(token)] = now + self._seconds, _in_brief(said)

    def _oldest(self) -> tuple[float, Said]:
        return next(iter(self._known.values()))


def _key(token: str) -> bytes:
    """Whoever sees our memory is not to find tokens there."""
    return sha256(token.encode()).digest()


def _in_brief(said: Said) -> Said:
    """Without the addresses of the catalog, nine tenths of it all. Access rules look at the types of services."""
    token = said.get("token", {})
    if "catalog" not in token:
        return said
    types = [{"type": service["type"]} for service in token["catalog"]]
    return {**said, "token": {**token, "catalog": types}}
