# SPDX-License-Identifier: Apache-2.0

"""Why something was refused, as facts. `api/placement/errors.py` alone gives them status, code and words."""

from __future__ import annotations

from plimsoll.domain.values import value


@value
class Refusal:
    """The base of all refusals: nothing was changed."""


@value
class RowInTheWay(Refusal):
    """The database holds a row that answers do not show, and it has the name that this one wants."""


# Searches


@value
class SearchTooLong(Refusal):
    """Nothing was found in the time that a search may take."""

    seconds: float


@value
class SearchAbandoned(Refusal):
    """The client has closed its connection: no answer can reach it."""


# Providers and their trees


@value
class ProviderMissing(Refusal):
    uuid: str


@value
class ProviderNameTaken(Refusal):
    name: str


@value
class ProviderUuidTaken(Refusal):
    uuid: str


@value
class ProviderNameEmpty(Refusal):
    pass


@value
class ParentIsSelf(Refusal):
    uuid: str


@value
class ParentMissing(Refusal):
    uuid: str


@value
class ReparentingNotAllowed(Refusal):
    uuid: str


@value
class UnparentingNotAllowed(Refusal):
    uuid: str


@value
class TreeWouldLoop(Refusal):
    uuid: str
    parent: str


@value
class ProviderHasChildren(Refusal):
    uuid: str


@value
class ProviderInUse(Refusal):
    uuid: str


@value
class StaleProviderGeneration(Refusal):
    uuid: str
    actual: int
    given: int


# Inventories


@value
class ResourceClassMissing(Refusal):
    name: str


@value
class InventoryExists(Refusal):
    provider: str
    resource_class: str


@value
class InventoryMissing(Refusal):
    provider: str
    resource_class: str


@value
class InventoryInUse(Refusal):
    provider: str
    resource_classes: tuple[str, ...]


@value
class InventoryReservesTooMuch(Refusal):
    """Nothing, or less than nothing, would be left. `all_allowed`: whether reserving all of it was allowed."""

    provider: str
    resource_class: str
    all_allowed: bool


# Claims


@value
class ClaimOnMissingProvider(Refusal):
    provider: str


@value
class OwnerNotKept(Refusal):
    """The database has no way to keep the name of the project or user."""

    consumer: str


@value
class StaleConsumerGeneration(Refusal):
    """`actual` is None when there is no such consumer, `given` when the client expected none."""

    consumer: str
    actual: int | None
    given: int | None


@value
class NoSuchInventory(Refusal):
    """A claim on something its providers do not offer."""

    providers: tuple[str, ...]
    resource_classes: tuple[str, ...]


@value
class UnitsViolated(Refusal):
    provider: str
    resource_class: str
    asked: int
    min_unit: int
    max_unit: int
    step_size: int


@value
class CapacityExceeded(Refusal):
    """`used` is what others use, and what this request has been granted before: `asked` does not fit beside it."""

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


@value
class ResourceClassExists(Refusal):
    name: str


@value
class ResourceClassStandard(Refusal):
    name: str


@value
class ResourceClassInUse(Refusal):
    name: str


@value
class TraitsMissing(Refusal):
    names: tuple[str, ...]


@value
class TraitStandard(Refusal):
    name: str


@value
class TraitInUse(Refusal):
    name: str
