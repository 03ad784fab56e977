# SPDX-License-Identifier: Apache-2.0

"""Providers with everything about them.

The JSON of a provider is cached until the provider changes: providers are immutable, and a change makes a new object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plimsoll.api.v1.times import format_time
from plimsoll.bounded_cache import BoundedCache
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.http.response import encode_json

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
        encoded = self._encoded(one)
        _cache.put(self._variant + one.uuid, (one, encoded))
        return encoded

    def _encoded(self, one: Provider) -> bytes:
        return encode_json(_shown(one, self._members))


def _size(entry: tuple[Provider, bytes]) -> int:
    return len(entry[1]) + _PROVIDER_BYTES


_cache: BoundedCache[str, tuple[Provider, bytes]] = BoundedCache(1_000_000, MAX_CACHED_BYTES, size_of=_size)


def _shown(one: Provider, members: Sequence[str]) -> dict[str, Any]:
    return {name: MEMBERS[name](one) for name in members}


def _inventories(one: Provider) -> dict[str, Any]:
    return {name: _figures(each, one.used_of(name)) for name, each in one.inventories.items()}


def _figures(inventory: Inventory, used: int) -> dict[str, Any]:
    return {
        "total": inventory.total,
        "reserved": inventory.reserved,
        "min_unit": inventory.min_unit,
        "max_unit": inventory.max_unit,
        "step_size": inventory.step_size,
        "allocation_ratio": inventory.allocation_ratio,
        "capacity": inventory.capacity,
        "used": used,
        "free": inventory.free(used),
        "largest": inventory.largest(used),
    }


MEMBERS: Mapping[str, Callable[[Provider], Any]] = {
    "uuid": lambda one: one.uuid,
    "name": lambda one: one.name,
    "generation": lambda one: one.generation,
    "root": lambda one: one.root,
    "parent": lambda one: one.parent,
    "inventories": _inventories,
    "traits": Provider.listed_traits,
    "aggregates": lambda one: sorted(one.aggregates),
    "updated_at": lambda one: format_time(one.modified_at),
}
"""The members of a provider, in the order of the document."""
