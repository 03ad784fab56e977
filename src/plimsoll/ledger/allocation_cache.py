# SPDX-License-Identifier: Apache-2.0

"""A cache of the allocations of single providers, as read from SQL. Memory detects when an entry is stale."""

from __future__ import annotations

from plimsoll.bounded_cache import BoundedCache
from plimsoll.domain.consumer import ProviderAllocations
from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import added

MAX_PROVIDERS, MAX_BYTES = 10_000, 10 << 20
CONSUMER_BYTES, AMOUNT_BYTES = 600, 450
"""Upper bounds, for names of 255 characters. Measuring each entry would take longer than adding these up."""

_Entry = tuple[Provider, ProviderAllocations]


class AllocationCache:
    """The last result of reading a provider's allocations: compute hosts read their own once a minute.

    An entry is current while the snapshot has the identical Provider object: each change of an allocation makes a new
    one. Thread-safe.
    """

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._cache: BoundedCache[str, _Entry] = BoundedCache(MAX_PROVIDERS, MAX_BYTES, size_of=_size_of)

    def get(self, provider: Provider) -> ProviderAllocations | None:
        """Return the allocations of this provider, or None if they are not cached or stale."""
        entry = self._cache.get(provider.uuid)
        return entry[1] if entry is not None and entry[0] is provider else None

    def put(self, provider: Provider, found: ProviderAllocations) -> None:
        """Cache allocations that were read while the snapshot had this provider, unless they changed in between."""
        if self._enabled and _matches(provider, found):
            self._cache.put(provider.uuid, (provider, found))

    @property
    def size(self) -> int:
        """The estimated size of all entries, in bytes."""
        return self._cache.size


def _size_of(entry: _Entry) -> int:
    _, found = entry
    amounts = sum(len(amounts) for _, amounts in found.by_consumer.values())
    return CONSUMER_BYTES * (len(found.by_consumer) + 1) + AMOUNT_BYTES * amounts


def _matches(provider: Provider, found: ProviderAllocations) -> bool:
    """True if the allocations belong to this provider: a claim raises its generation, a release changes its sums."""
    sums = added(amounts for _, amounts in found.by_consumer.values())
    return found.generation == provider.generation and sums == provider.used
