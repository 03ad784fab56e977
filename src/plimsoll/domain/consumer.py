# SPDX-License-Identifier: Apache-2.0

"""Consumers of resources: owner, type, generation, and allocations."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from plimsoll.domain.values import unhashable_value, value

REMOVED_PROVIDER = ""
"""Used in place of the uuid of a provider that no longer exists."""


class Allocation(NamedTuple):
    """An amount of one resource class of one provider."""

    provider: str
    resource_class: str
    amount: int


class Account(NamedTuple):
    """The key by which usage is summed: a consumer's owner and type."""

    project: str
    user: str
    type: str | None


@value
class Consumer:
    """The record of a consumer. `type` is None if it was written before consumer types existed."""

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
    """A consumer as read from the database: its record, if there is one, and its allocations.

    Allocations without a consumer record come from early releases; the online data migration adds the record.
    """

    consumer: Consumer | None = None
    allocations: tuple[Allocation, ...] = ()
    orphans: tuple[Allocation, ...] = ()
    """Allocations whose provider no longer exists. They count as usage, and are removed with the other allocations."""

    @property
    def account(self) -> Account | None:
        return None if self.consumer is None else self.consumer.account

    def with_class_renamed(self, name: str, new_name: str) -> Holding:
        return replace(
            self,
            allocations=_with_class_renamed(self.allocations, name, new_name),
            orphans=_with_class_renamed(self.orphans, name, new_name),
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
    """The allocations of a consumer by provider, each with the provider's generation in the same snapshot."""

    consumer: Consumer | None
    by_provider: dict[str, tuple[int, dict[str, int]]]
    modified_at: datetime | None


@unhashable_value
class ProviderAllocations:
    """The allocations of a provider: generation and amounts by consumer, with the provider's own generation."""

    generation: int
    by_consumer: dict[str, tuple[int, dict[str, int]]]
    modified_at: datetime | None


@unhashable_value
class ListedConsumer:
    """A consumer with its times and everything it holds."""

    consumer: Consumer
    created_at: datetime | None
    updated_at: datetime | None
    allocations: dict[str, tuple[str, dict[str, int]]]
    """By uuid of the provider: its name, and the amounts by resource class."""
