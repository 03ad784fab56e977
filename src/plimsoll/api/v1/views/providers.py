# SPDX-License-Identifier: Apache-2.0

"""Providers with everything about them.

The JSON of a provider is cached until the provider changes: providers are immutable, and a change makes a new object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

import orjson

from plimsoll.api.v1.times import format_time
from plimsoll.bounded_cache import BoundedCache
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.http.response import compact, encode_json

MAX_CACHED_BYTES = 64 << 20
"""Bytes of JSON in the cache: about 50,000 providers."""
_PROVIDER_BYTES = 256
"""The part of a provider that only the cache may keep alive, after the provider has changed."""


def provider(one: Provider, revision: str) -> bytes:
    return encode_json({"revision": revision} | _shown(one, tuple(MEMBERS)))


class ProviderEncoder:
    """Encodes the chosen members of providers, with the cache or without."""

    def __init__(self, fields: Sequence[str] | None, *, cached: bool) -> None:
        """`fields` has the names of the members; None for all."""
        self._members = tuple(name for name in MEMBERS if fields is None or name in fields)
        self._is_cached = cached
        # The key of a provider begins with the chosen members, as the digits of a bit set.
        self._variant = f"{sum(1 << at for at, name in enumerate(MEMBERS) if name in self._members):x}."

    def __call__(self, several: Sequence[Provider]) -> list[bytes]:
        if not self._is_cached:
            return [self._encoded(one) for one in several]
        variant, cached = self._variant, _cache.get
        found = [cached(variant + one.uuid) for one in several]
        return [
            entry[1] if entry is not None and entry[0] is one else self._store(one)
            for one, entry in zip(several, found, strict=True)
        ]

    def _store(self, one: Provider) -> bytes:
        encoded = compact(self._encoded(one))
        _cache.put(self._variant + one.uuid, (one, encoded))
        return encoded

    def _encoded(self, one: Provider) -> bytes:
        return encode_json(_shown(one, self._members))


def _size(entry: tuple[Provider, bytes]) -> int:
    return len(entry[1]) + _PROVIDER_BYTES


_cache: BoundedCache[str, tuple[Provider, bytes]] = BoundedCache(1_000_000, MAX_CACHED_BYTES, size_of=_size)


def _shown(one: Provider, members: Sequence[str]) -> dict[str, Any]:
    return {name: MEMBERS[name](one) for name in members}


def _inventories(one: Provider) -> orjson.Fragment:
    """Return the inventories as JSON."""
    used = one.used_of
    figures = [
        _figures(
            *(name, each.total, each.reserved, each.min_unit, each.max_unit, each.step_size),
            *(each.allocation_ratio, used(name)),
        )
        for name, each in one.inventories.items()
    ]
    return orjson.Fragment(b"{%b}" % b",".join(figures))


# Most hosts of a cloud have one of a few inventories, and one of a few hundred usages of each.
@lru_cache(maxsize=4096)
def _figures(
    name: str,
    total: int,
    reserved: int,
    min_unit: int,
    max_unit: int,
    step_size: int,
    allocation_ratio: float,
    used: int,
) -> bytes:
    """Return the JSON of an inventory, after its name."""
    inventory = Inventory(total, reserved, min_unit, max_unit, step_size, allocation_ratio)
    capacity, free, largest = inventory.amounts(used)
    figures = {
        "total": total,
        "reserved": reserved,
        "min_unit": min_unit,
        "max_unit": max_unit,
        "step_size": step_size,
        "allocation_ratio": allocation_ratio,
        "capacity": capacity,
        "used": used,
        "free": free,
        "largest": largest,
    }
    return orjson.dumps(name) + b":" + encode_json(figures)


MEMBERS: Mapping[str, Callable[[Provider], Any]] = {
    "uuid": attrgetter("uuid"),
    "name": attrgetter("name"),
    "generation": attrgetter("generation"),
    "root": attrgetter("root"),
    "parent": attrgetter("parent"),
    "inventories": _inventories,
    "traits": Provider.listed_traits,
    "aggregates": lambda one: sorted(one.aggregates),
    "updated_at": lambda one: format_time(one.modified_at),
}
"""The members of a provider, in the order of the document."""
