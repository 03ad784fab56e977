# SPDX-License-Identifier: Apache-2.0

"""A reference model of Placement in plain Python: dictionaries and sums, no optimisation.

Every sum is computed from the single allocations, and every tree walk follows parents. No value is stored twice, so
none can be inconsistent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Amounts = dict[str, dict[str, int]]
"""Amounts by class, by provider."""


@dataclass
class PlainInventory:
    total: int
    reserved: int
    ratio: float
    min_unit: int
    max_unit: int
    step_size: int


@dataclass
class PlainProvider:
    name: str
    parent: str | None
    generation: int = 0
    inventories: dict[str, PlainInventory] = field(default_factory=dict)
    traits: set[str] = field(default_factory=set)
    aggregates: set[str] = field(default_factory=set)


@dataclass
class PlainConsumer:
    generation: int
    holds: Amounts
    project: str


@dataclass
class PlainPlacement:
    """Each method returns True on success. It returns False, and changes nothing, if the request is refused."""

    providers: dict[str, PlainProvider] = field(default_factory=dict)
    consumers: dict[str, PlainConsumer] = field(default_factory=dict)

    def used(self, provider: str, name: str) -> int:
        return sum(c.holds.get(provider, {}).get(name, 0) for c in self.consumers.values())

    def used_by(self, project: str) -> dict[str, int]:
        used: dict[str, int] = {}
        for consumer in self.consumers.values():
            for amounts in consumer.holds.values() if consumer.project == project else ():
                for name, amount in amounts.items():
                    used[name] = used.get(name, 0) + amount
        return used

    def root(self, uuid: str) -> str:
        while (parent := self.providers[uuid].parent) is not None:
            uuid = parent
        return uuid

    def create(self, uuid: str, name: str, parent: str | None) -> bool:
        taken = uuid in self.providers or name in {p.name for p in self.providers.values()}
        if taken or (parent is not None and parent not in self.providers):
            return False
        self.providers[uuid] = PlainProvider(name, parent)
        return True

    def move(self, uuid: str, parent: str | None) -> bool:
        if uuid not in self.providers or (parent is not None and parent not in self.providers):
            return False
        above = parent
        while above is not None:
            if above == uuid:
                return False
            above = self.providers[above].parent
        self.providers[uuid].parent = parent
        return True

    def delete(self, uuid: str) -> bool:
        if uuid not in self.providers:
            return False
        if any(p.parent == uuid for p in self.providers.values()):
            return False
        if any(uuid in c.holds for c in self.consumers.values()):
            return False
        del self.providers[uuid]
        return True

    def set_inventories(self, uuid: str, generation: int, inventories: dict[str, PlainInventory]) -> bool:
        provider = self.providers.get(uuid)
        if provider is None or provider.generation != generation:
            return False
        if any(int((i.total - i.reserved) * i.ratio) < 0 for i in inventories.values()):
            return False
        if any(self.used(uuid, name) for name in provider.inventories if name not in inventories):
            return False
        provider.inventories = dict(inventories)
        provider.generation += 1
        return True

    def set_traits(self, uuid: str, traits: set[str]) -> bool:
        provider = self.providers.get(uuid)
        if provider is None:
            return False
        if provider.traits != traits:
            provider.traits = set(traits)
            provider.generation += 1
        return True

    def set_aggregates(self, uuid: str, generation: int, aggregates: set[str]) -> bool:
        provider = self.providers.get(uuid)
        if provider is None or provider.generation != generation:
            return False
        provider.aggregates = set(aggregates)
        provider.generation += 1
        return True

    def claim(self, claims: dict[str, tuple[int | None, Amounts]], project: str) -> bool:
        """Claims by consumer, all for one project: the expected generation, and the new allocations."""
        for uuid, (generation, _) in claims.items():
            known = self.consumers.get(uuid)
            if generation != (known.generation if known else None):
                return False
        if any(provider not in self.providers for _, wanted in claims.values() for provider in wanted):
            return False
        before = self.consumers
        after = dict(before)
        for uuid, (_, wanted) in claims.items():
            after[uuid] = PlainConsumer(0, wanted, project)
        if not self._fits(before, after, claims):
            return False
        touched: set[str] = set()
        for uuid, (_, wanted) in claims.items():
            known = before.get(uuid)
            held = known.holds if known else {}
            touched |= set(wanted or held)
            if wanted:
                after[uuid] = PlainConsumer((known.generation if known else 0) + 1, wanted, project)
            elif held or known is None:
                del after[uuid]
            else:
                after[uuid] = PlainConsumer(known.generation, {}, project)
        self.consumers = after
        for provider in touched:
            self.providers[provider].generation += 1
        return True

    def _fits(
        self,
        before: dict[str, PlainConsumer],
        after: dict[str, PlainConsumer],
        claims: dict[str, tuple[int | None, Amounts]],
    ) -> bool:
        for _, wanted in claims.values():
            for provider, resources in wanted.items():
                for name, amount in resources.items():
                    inventory = self.providers[provider].inventories.get(name)
                    if inventory is None:
                        return False
                    if not inventory.min_unit <= amount <= inventory.max_unit or amount % inventory.step_size:
                        return False
                    now = sum(c.holds.get(provider, {}).get(name, 0) for c in after.values())
                    was = sum(c.holds.get(provider, {}).get(name, 0) for c in before.values())
                    if now > (inventory.total - inventory.reserved) * inventory.ratio and now > was:
                        return False
        return True

    def release(self, uuid: str) -> bool:
        known = self.consumers.get(uuid)
        if known is None or not known.holds:
            return False
        del self.consumers[uuid]
        return True
