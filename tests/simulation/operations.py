# SPDX-License-Identifier: Apache-2.0

"""The writes of simulated clients: how each is sent to the service, and what it does in the plain model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from plimsoll.domain.actor import Actor
from plimsoll.domain.inventory import MAX_INT, Inventory
from plimsoll.domain.rules.allocations import ANY_GENERATION, Claim, ExpectedGeneration
from plimsoll.service import aggregates, allocations, inventories, providers
from plimsoll.service.placement import Placement
from tests.model.plain import PlainInventory, PlainPlacement

RESOURCE_CLASS = "VCPU"


@dataclass(frozen=True)
class Write(ABC):
    request_id: str

    @property
    def actor(self) -> Actor:
        return Actor("u", "p", self.request_id)

    @abstractmethod
    def submit(self, placement: Placement) -> object:
        """Send the write to the service. Returns a Refusal if it is refused."""

    @abstractmethod
    def apply(self, plain: PlainPlacement) -> bool:
        """Change the plain model. False, and nothing is changed, if the rules refuse it."""


@dataclass(frozen=True)
class ClaimWrite(Write):
    consumer: str
    amounts: tuple[tuple[str, int], ...]
    """Amounts by provider. None clears the consumer."""
    generation: ExpectedGeneration
    project: str
    type: str | None

    def submit(self, placement: Placement) -> object:
        wanted = {provider: {RESOURCE_CLASS: amount} for provider, amount in self.amounts}
        claim = Claim(self.consumer, wanted, self.project, "u", self.type, self.generation)
        return allocations.claim(placement, self.actor, [claim])

    def apply(self, plain: PlainPlacement) -> bool:
        wanted = {provider: {RESOURCE_CLASS: amount} for provider, amount in self.amounts}
        if self.generation is ANY_GENERATION:
            known = plain.consumers.get(self.consumer)
            generation = None if known is None else known.generation
        else:
            generation = self.generation
        return plain.claim({self.consumer: (generation, wanted)}, self.project)


@dataclass(frozen=True)
class ReleaseWrite(Write):
    consumer: str

    def submit(self, placement: Placement) -> object:
        return allocations.release(placement, self.actor, self.consumer)

    def apply(self, plain: PlainPlacement) -> bool:
        return plain.release(self.consumer)


@dataclass(frozen=True)
class InventoryWrite(Write):
    provider: str
    generation: int
    total: int

    def submit(self, placement: Placement) -> object:
        wanted = {RESOURCE_CLASS: Inventory(self.total)}
        return inventories.replace(
            placement, self.actor, self.provider, self.generation, wanted, reserve_all=True
        )

    def apply(self, plain: PlainPlacement) -> bool:
        wanted = {RESOURCE_CLASS: PlainInventory(self.total, 0, 1.0, 1, MAX_INT, 1)}
        return plain.set_inventories(self.provider, self.generation, wanted)


@dataclass(frozen=True)
class AggregatesWrite(Write):
    provider: str
    generation: int
    aggregates: frozenset[str]

    def submit(self, placement: Placement) -> object:
        return aggregates.set_for_provider(
            placement, self.actor, self.provider, self.aggregates, self.generation
        )

    def apply(self, plain: PlainPlacement) -> bool:
        return plain.set_aggregates(self.provider, self.generation, set(self.aggregates))


@dataclass(frozen=True)
class CreateWrite(Write):
    provider: str

    def submit(self, placement: Placement) -> object:
        return providers.create(placement, self.actor, self.provider, f"name of {self.provider}", None)

    def apply(self, plain: PlainPlacement) -> bool:
        return plain.create(self.provider, f"name of {self.provider}", None)


@dataclass(frozen=True)
class DeleteWrite(Write):
    provider: str

    def submit(self, placement: Placement) -> object:
        return providers.delete(placement, self.actor, self.provider)

    def apply(self, plain: PlainPlacement) -> bool:
        return plain.delete(self.provider)
