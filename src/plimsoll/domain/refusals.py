# SPDX-License-Identifier: Apache-2.0

"""Refusals: the facts of why a command was refused. `api/placement/error_tables.py` maps them to status, code and text."""

from __future__ import annotations

from plimsoll.domain.values import value


@value
class Refusal:
    """Base class of all refusals. A refused command changes nothing."""


@value
class _ProviderRefusal(Refusal):
    uuid: str


@value
class _NameRefusal(Refusal):
    name: str


@value
class _InventoryRefusal(Refusal):
    provider: str
    resource_class: str


@value
class HiddenRowConflict(Refusal):
    """The database has a row with the same name that is not part of the world, so the insert failed."""


# Searches


@value
class SearchTooLong(Refusal):
    """The search found no candidate within its time limit."""

    seconds: float


@value
class SearchAbandoned(Refusal):
    """The client closed its connection during the search."""


# Providers and their trees


class ProviderMissing(_ProviderRefusal): ...


class ProviderNameTaken(_NameRefusal): ...


class ProviderUuidTaken(_ProviderRefusal): ...


class ProviderNameEmpty(Refusal): ...


class ParentIsSelf(_ProviderRefusal): ...


class ParentMissing(_ProviderRefusal): ...


class ReparentingNotAllowed(_ProviderRefusal): ...


class UnparentingNotAllowed(_ProviderRefusal): ...


@value
class TreeWouldLoop(Refusal):
    uuid: str
    parent: str


class ProviderHasChildren(_ProviderRefusal): ...


class ProviderInUse(_ProviderRefusal): ...


@value
class StaleProviderGeneration(Refusal):
    uuid: str
    actual: int
    given: int


# Inventories


class ResourceClassMissing(_NameRefusal): ...


class InventoryExists(_InventoryRefusal): ...


class InventoryMissing(_InventoryRefusal): ...


@value
class InventoryInUse(Refusal):
    provider: str
    resource_classes: tuple[str, ...]


@value
class InventoryReservesTooMuch(_InventoryRefusal):
    """`reserved` leaves no capacity, or a negative one. `all_allowed`: whether zero capacity was allowed."""

    all_allowed: bool


# Claims


@value
class ClaimOnMissingProvider(Refusal):
    provider: str


@value
class OwnerNotStorable(Refusal):
    """The database cannot store the project or user id."""

    consumer: str


@value
class StaleConsumerGeneration(Refusal):
    """`actual` is None if the consumer does not exist, `given` is None if the client expected a new consumer."""

    consumer: str
    actual: int | None
    given: int | None


@value
class NoSuchInventory(Refusal):
    """A claim on resource classes of which the providers have no inventory."""

    providers: tuple[str, ...]
    resource_classes: tuple[str, ...]


@value
class UnitsViolated(_InventoryRefusal):
    asked: int
    min_unit: int
    max_unit: int
    step_size: int


@value
class CapacityExceeded(Refusal):
    """`asked` exceeds the free capacity. `used` includes other consumers and earlier amounts of the same request."""

    provider: str
    provider_name: str
    resource_class: str
    asked: int
    used: int
    capacity: int


@value
class AllocationsMissing(Refusal):
    consumer: str


# Resource classes and traits


class ResourceClassExists(_NameRefusal): ...


class ResourceClassStandard(_NameRefusal): ...


class ResourceClassInUse(_NameRefusal): ...


@value
class TraitsMissing(Refusal):
    names: tuple[str, ...]


class TraitStandard(_NameRefusal): ...


class TraitInUse(_NameRefusal): ...
