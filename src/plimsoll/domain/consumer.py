# SPDX-License-Identifier: Apache-2.0

"""Who uses resources: a consumer with its owner, type and generation, and what it holds."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from plimsoll.domain.values import unhashable_value, value

NOWHERE = ""
"""In place of the uuid of a provider that is gone."""


class Allocation(NamedTuple):
    """An amount of one resource class of one provider."""

    provider: str
    resource_class: str
    amount: int


class Account(NamedTuple):
    """What a consumer's usage is put down to: its owner and its type."""

    project: str
    user: str
    type: str | None


@value
class Consumer:
    """The record of a consumer. `type` is None for those from before types existed."""

    uuid: str
    project: str
    user: str
    type: str | None
    generation: int

    @property
    def account(self) -> Account:
        return Account(self.project, self.user, self.type)


@value
class Holding:
    """A consumer as the ledger finds it: its record, if there is one, and what it holds.

    Allocations without a record were written by clients of the first days; see the online migration.
    """

    consumer: Consumer | None = None
    allocations: tuple[Allocation, ...] = ()
    strays: tuple[Allocation, ...] = ()
    """Allocations that outlived their provider. They count as usage of the owner, and go with all others."""

    @property
    def account(self) -> Account | None:
        return None if self.consumer is None else self.consumer.account

    def with_class_renamed(self, name: str, new_name: str) -> Holding:
        return Holding(
            self.consumer,
            _with_class_renamed(self.allocations, name, new_name),
            _with_class_renamed(self.strays, name, new_name),
        )


def _with_class_renamed(
    allocations: tuple[Allocation, ...], name: str, new_name: str
) -> tuple[Allocation, ...]:
    return tuple(
        each._replace(resource_class=new_name) if each.resource_class == name else each
        for each in allocations
    )


EMPTY_HOLDING = Holding()


@unhashable_value
class ConsumerAllocations:
    """What a consumer holds, with the generations of its providers at the same moment."""

    consumer: Consumer | None
    by_provider: dict[str, tuple[int, dict[str, int]]]
    modified_at: datetime | None


@unhashable_value
class ProviderAllocations:
    """Who holds what of a provider: generation and amounts by consumer; and the provider's at the same moment."""

    generation: int
    by_consumer: dict[str, tuple[int, dict[str, int]]]
    modified_at: datetime | None
