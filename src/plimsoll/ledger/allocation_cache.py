# SPDX-License-Identifier: Apache-2.0

"""What was last found in SQL to be held of a provider, for as long as memory can tell that it is still so."""

from __future__ import annotations

from plimsoll.bounded_cache import BoundedCache
from plimsoll.domain.consumer import ProviderAllocations
from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import added

MAX_PROVIDERS, MAX_BYTES = 10_000, 10 << 20
CONSUMER_BYTES, AMOUNT_BYTES = 600, 450
"""At most, with names of 255 characters. To measure each of them would take longer than to add up these."""

_Found = tuple[Provider, ProviderAllocations]


class AllocationCache:
    """The last result of reading the allocations of each of some providers: hosts read their own once a minute.

    A result is current while memory has the very same provider: each change of an allocation makes another one.
    For any thread.
    """

    def __init__(self) -> None:
        self._found: BoundedCache[str, _Found] = BoundedCache(MAX_PROVIDERS, MAX_BYTES, size_of=_size_of)

    def of(self, provider: Provider) -> ProviderAllocations | None:
        found = self._found.get(provider.uuid)
        return found[1] if found is not None and found[0] is provider else None

    def keep(self, provider: Provider, found: ProviderAllocations) -> None:
        """Keep what was found when memory had this provider, or later: unless something has changed in between."""
        if _is_what_is_held_of(provider, found):
            self._found.put(provider.uuid, (provider, found))

    @property
    def size(self) -> int:
        """Bytes that all results take, by estimate."""
        return self._found.size


def _size_of(result: _Found) -> int:
    _, found = result
    amounts = sum(len(amounts) for _, amounts in found.by_consumer.values())
    return CONSUMER_BYTES * (len(found.by_consumer) + 1) + AMOUNT_BYTES * amounts


def _is_what_is_held_of(provider: Provider, found: ProviderAllocations) -> bool:
    """Who claims raises the generation of the provider, and who only lets go changes the sums."""
    sums = added(amounts for _, amounts in found.by_consumer.values())
    return found.generation == provider.generation and sums == provider.used
