# SPDX-License-Identifier: Apache-2.0

"""What was last found in SQL to be held of a provider, for as long as memory can tell that it is still so."""

from __future__ import annotations

import threading

from plimsoll.domain.consumer import ProviderAllocations
from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import added

MOST_CONSUMERS = 10_000
"""Whose holdings are kept at most: some megabytes."""


class LastFound:
    """What was last found to be held of some providers: hosts ask for their own once a minute, most find no change.

    It is so as long as memory has the very same provider: whatever changes who holds what of one makes another of it.
    For any thread.
    """

    def __init__(self) -> None:
        self._found_by_uuid: dict[str, tuple[Provider, ProviderAllocations]] = {}
        self._consumers = 0
        self._keeping = threading.Lock()

    def of(self, provider: Provider) -> ProviderAllocations | None:
        found = self._found_by_uuid.get(provider.uuid)
        return found[1] if found is not None and found[0] is provider else None

    def keep(self, provider: Provider, found: ProviderAllocations) -> None:
        """What was found when memory had this provider, or later: unless something has changed in between."""
        if len(found.by_consumer) >= MOST_CONSUMERS or not _is_what_is_held_of(provider, found):
            return
        with self._keeping:
            self._forget(provider.uuid)
            self._found_by_uuid[provider.uuid] = provider, found
            self._consumers += len(found.by_consumer) + 1
            while self._consumers > MOST_CONSUMERS:
                self._forget(next(iter(self._found_by_uuid)))

    def _forget(self, uuid: str) -> None:
        forgotten = self._found_by_uuid.pop(uuid, None)
        if forgotten is not None:
            self._consumers -= len(forgotten[1].by_consumer) + 1


def _is_what_is_held_of(provider: Provider, found: ProviderAllocations) -> bool:
    """Who claims raises the generation of the provider, and who only lets go changes the sums."""
    sums = added(amounts for _, amounts in found.by_consumer.values())
    return found.generation == provider.generation and sums == provider.used
