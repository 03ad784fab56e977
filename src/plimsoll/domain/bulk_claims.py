# SPDX-License-Identifier: Apache-2.0

"""Apply many claims to a world at once: each changed provider and owner is replaced once, not once per claim.

The result is the same as that of `Effect.apply` for one effect after the other. A process that follows others applies nearly all
changes this way. Effects are given as plain values, so that no object has to be made of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import CONSUMERS, Usages, with_sums_added
from plimsoll.domain.values import with_fields
from plimsoll.domain.world import World

Allocations = Sequence[tuple[str, str, int]]
"""The uuid of a provider, a resource class and an amount each."""
Owner = tuple[str, str, str | None]
"""Project, user and consumer type."""


class BulkClaims:
    """Collects the effects of claims on one world. `apply` returns the world after all of them."""

    __slots__ = ("_generations", "_sums", "_used", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._used: dict[str, dict[str, int]] = {}
        """By provider: its usage after the effects so far. Providers that no longer exist are listed too."""
        self._generations: dict[str, tuple[int, str]] = {}
        """By provider: its last generation, and the time of it."""
        self._sums: dict[Owner, dict[str, int]] = {}
        """By owner: what the effects add to its sums."""

    def replace_allocations(
        self, before: Allocations, after: Allocations, owner_before: Owner | None, owner_after: Owner | None
    ) -> None:
        """Collect an AllocationsReplaced effect."""
        if before:
            self._add(before, -1, owner_before)
        if after:
            self._add(after, 1, owner_after)

    def raise_generation(self, provider: str, generation: int, at: str) -> None:
        """Collect a GenerationRaised effect. `at` has the format of ISO 8601."""
        last = self._generations.get(provider)
        before = self._world.providers[provider].generation if last is None else last[0]
        assert generation == before + 1
        self._generations[provider] = generation, at

    def apply(self) -> tuple[World, set[str]]:
        """Return the world after all effects, and the uuids of the providers that they changed."""
        world = self._world
        changed: dict[str, Provider] = {}
        providers = world.providers
        for uuid in self._used.keys() | self._generations.keys():
            if uuid not in providers:  # it was removed; `db verify` reports its allocations
                continue
            fields: dict[str, Any] = {}
            if uuid in self._used:
                fields["used"] = _checked(self._used[uuid])
            if uuid in self._generations:
                generation, at = self._generations[uuid]
                fields |= {"generation": generation, "modified_at": datetime.fromisoformat(at)}
            changed[uuid] = with_fields(providers[uuid], **fields)
        for uuid, provider in changed.items():
            providers = providers.insert(uuid, provider)
        return with_fields(world, providers=providers, usages=self._usages()), {*changed}

    def _add(self, allocations: Allocations, sign: int, owner: Owner | None) -> None:
        all_used, providers = self._used, self._world.providers
        sums = {} if owner is None else self._sums_of(owner)
        sums[CONSUMERS] = sums.get(CONSUMERS, 0) + sign
        for uuid, name, amount in allocations:
            change = sign * amount
            used = all_used.get(uuid)
            if used is None:
                used = all_used[uuid] = dict(providers[uuid].used) if uuid in providers else {}
            used[name] = used.get(name, 0) + change
            sums[name] = sums.get(name, 0) + change

    def _sums_of(self, owner: Owner) -> dict[str, int]:
        sums = self._sums.get(owner)
        if sums is None:
            sums = self._sums[owner] = {}
        return sums

    def _usages(self) -> Usages:
        usages, key = self._world.usages, self._world.semantics.key
        for (project, user, kind), sums in self._sums.items():
            usages = with_sums_added(usages, key(project), key(user), kind, sums)
        return usages


def _checked(used: dict[str, int]) -> dict[str, int]:
    """Return the usage without classes that are no longer used."""
    assert min(used.values()) >= 0
    return used if all(used.values()) else {name: amount for name, amount in used.items() if amount}
