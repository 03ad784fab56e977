# SPDX-License-Identifier: Apache-2.0

"""Why something was refused, as facts. `wire/errors.py` alone gives them status, code and words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """The base of all refusals: nothing was changed."""


@dataclass(frozen=True, slots=True)
class RowInTheWay(Refusal):
    """The database holds a row that answers do not show, and it has the name that this one wants."""


# Providers and their trees


@dataclass(frozen=True, slots=True)
class ProviderMissing(Refusal):
    uuid: str


@dataclass(frozen=True, slots=True)
class ProviderNameTaken(Refusal):
    name: str


@dataclass(frozen=True, slots=True)
class ProviderUuidTaken(Refusal):
    uuid: str


@dataclass(frozen=True, slots=True)
class ProviderNameEmpty(Refusal):
    pass


@dataclass(frozen=True, slots=True)
class ParentIsSelf(Refusal):
    uuid: str


@dataclass(frozen=True, slots=True)
class ParentMissing(Refusal):
    uuid: str


@dataclass(frozen=True, slots=True)
class ReparentingNotAllowed(Refusal):
    uuid: str


@dataclass(frozen=True, slots=True)
class UnparentingNotAllowed(Refusal):
    uuid: str


@dataclass(frozen=True, slots=True)
class TreeWouldLoop(Refusal):
    uuid: str
    parent: str


@dataclass(frozen=True, slots=True)
class ProviderHasChildren(Refusal):
    uuid: str


@dataclass(frozen=True, slots=True)
class ProviderInUse(Refusal):
    uuid: str


@dataclass(frozen=True, slots=True)
class StaleProviderGeneration(Refusal):
    uuid: str
    actual: int
    given: int


# Inventories


@dataclass(frozen=True, slots=True)
class ResourceClassMissing(Refusal):
    name: str


@dataclass(frozen=True, slots=True)
class InventoryExists(Refusal):
    provider: str
    resource_class: str


@dataclass(frozen=True, slots=True)
class InventoryMissing(Refusal):
    provider: str
    resource_class: str


@dataclass(frozen=True, slots=True)
class InventoryInUse(Refusal):
    provider: str
    resource_classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InventoryReservesTooMuch(Refusal):
    """Nothing, or less than nothing, would be left. `all_allowed`: whether reserving all of it was allowed."""

    provider: str
    resource_class: str
    all_allowed: bool


# Claims


@dataclass(frozen=True, slots=True)
class ClaimOnMissingProvider(Refusal):
    provider: str


@dataclass(frozen=True, slots=True)
class OwnerNotKept(Refusal):
    """The database has no way to keep the name of the project or user."""

    consumer: str


@dataclass(frozen=True, slots=True)
class StaleConsumerGeneration(Refusal):
    """`actual` is None when there is no such consumer, `given` when the client expected none."""

    consumer: str
    actual: int | None
    given: int | None


@dataclass(frozen=True, slots=True)
class NoSuchInventory(Refusal):
    """A claim on something its providers do not offer."""

    providers: tuple[str, ...]
    resource_classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnitsViolated(Refusal):
    provider: str
    resource_class: str


@dataclass(frozen=True, slots=True)
class CapacityExceeded(Refusal):
    provider: str
    resource_class: str


@dataclass(frozen=True, slots=True)
class AllocationsMissing(Refusal):
    consumer: str


# Resource classes and traits


@dataclass(frozen=True, slots=True)
class ResourceClassExists(Refusal):
    name: str


@dataclass(frozen=True, slots=True)
class ResourceClassStandard(Refusal):
    name: str


@dataclass(frozen=True, slots=True)
class ResourceClassInUse(Refusal):
    name: str


@dataclass(frozen=True, slots=True)
class TraitsMissing(Refusal):
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TraitStandard(Refusal):
    name: str


@dataclass(frozen=True, slots=True)
class TraitInUse(Refusal):
    name: str
