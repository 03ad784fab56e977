# SPDX-License-Identifier: Apache-2.0

"""Who uses resources: a consumer with its owner, type and generation, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple


class Allocation(NamedTuple):
    """An amount of one resource class of one provider."""

    provider: str
    resource_class: str
    amount: int


@dataclass(frozen=True, slots=True)
class Consumer:
    """The record of a consumer. `type` is None for those from before types existed."""

    uuid: str
    project: str
    user: str
    type: str | None
    generation: int


@dataclass(frozen=True, slots=True)
class Holding:
    """A consumer as the ledger finds it: its record, if there is one, and what it holds.

    Allocations without a record were written by clients of the first days; see the online migration.
    """

    consumer: Consumer | None = None
    allocations: tuple[Allocation, ...] = ()

    def with_class_renamed(self, name: str, new_name: str) -> Holding:
        return Holding(
            self.consumer,
            tuple(
                each._replace(resource_class=new_name) if each.resource_class == name else each
                for each in self.allocations
            ),
        )


EMPTY_HOLDING = Holding()


@dataclass(frozen=True, slots=True)
class ConsumerAllocations:
    """What a consumer holds, with the generations of its providers at the same moment."""

    consumer: Consumer | None
    by_provider: dict[str, tuple[int, dict[str, int]]]
    modified_at: datetime | None


@dataclass(frozen=True, slots=True)
class ProviderAllocations:
    """Who holds what of a provider: generation and amounts by consumer; and the provider's at the same moment."""

    generation: int
    by_consumer: dict[str, tuple[int, dict[str, int]]]
    modified_at: datetime | None
