# SPDX-License-Identifier: Apache-2.0

"""Refusals put into words: status, code and the sentence that clients of each route know.

`PLAIN` says what each refusal means. `ROUTES` says how a route speaks of it: another status, a code, more words
around the plain ones. What a route does not list, it says in the words of `ANYWHERE`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.api.placement.features import Feature
from plimsoll.domain import refusals as r
from plimsoll.domain.refusals import Refusal
from plimsoll.http.problems import (
    CONCURRENT_UPDATE,
    DUPLICATE_NAME,
    INVENTORY_IN_USE,
    LONGEST_QUOTE,
    PROVIDER_HAS_CHILDREN,
    PROVIDER_IN_USE,
    PROVIDER_NOT_FOUND,
    SEARCH_BUDGET_EXCEEDED,
    UNDEFINED,
    Problem,
    shortened,
)
from plimsoll.service.placement import DatabaseFault, OutcomeUnknown


@dataclass(frozen=True, slots=True)
class Say:
    """Words have gaps for the facts of the refusal, the path's parts, and `plain`, the plain words for it."""

    status: int
    words: str = "{plain}"
    code: str = UNDEFINED
    bare: bool = False


Words = Mapping[type[Refusal], Say]

_CREATE_FAILED = "Object action create failed because: "
_UPDATE_FAILED = "Object action update failed because: "

CONSTRAINT_FAILED = (
    "A CHECK constraint of the database does not allow what the request asks for. It is not a constraint of Placement;"
    " the log of the service has its name. Nothing was changed."
)
VALUE_NOT_KEPT = "The request holds a character or a number that the database has no way to keep."

PLAIN: Mapping[type[Refusal], str] = {
    r.ProviderMissing: "No resource provider with uuid {uuid} found",
    r.ProviderNameEmpty: _CREATE_FAILED + "name is required",
    r.ParentIsSelf: _CREATE_FAILED
    + "parent provider UUID cannot be same as UUID. Please set parent provider UUID to None if there is no parent.",
    r.ParentMissing: _CREATE_FAILED + "parent provider UUID does not exist.",
    r.ReparentingNotAllowed: _UPDATE_FAILED + "re-parenting a provider is not currently allowed.",
    r.UnparentingNotAllowed: _UPDATE_FAILED + "un-parenting a provider is not currently allowed.",
    r.TreeWouldLoop: _UPDATE_FAILED + "creating loop in the provider tree is not allowed.",
    r.ProviderInUse: "Resource provider has allocations.",
    r.ResourceClassMissing: "No such resource class {name}.",
    r.ResourceClassStandard: "Cannot delete standard resource class {name}.",
    r.ResourceClassInUse: "Cannot delete resource class {name}. Class is in use in inventory.",
    r.InventoryExists: "Inventory for '{resource_class}' on resource provider '{provider}' exists already.",
    r.InventoryMissing: "No inventory of class {resource_class} found.",
    r.InventoryInUse: "Inventory for '{resource_classes}' on resource provider '{provider}' in use.",
    r.ClaimOnMissingProvider: "Allocation for resource provider '{provider}' that does not exist.",
    r.NoSuchInventory: "Inventory for '{resource_classes}' on resource provider '{providers}' invalid.",
    r.UnitsViolated: "Unable to create allocation for '{resource_class}' on resource provider '{provider}'."
    " The requested amount would violate inventory constraints."
    " Asked: {asked}, min_unit: {min_unit}, max_unit: {max_unit}, step_size: {step_size}.",
    r.CapacityExceeded: "Unable to create allocation for '{resource_class}' on resource provider '{provider}'."
    " The requested amount would exceed the capacity. Asked: {asked}, used: {used}, capacity: {capacity}.",
    r.AllocationsMissing: "No allocations for consumer '{consumer}'",
    r.TraitsMissing: "No such trait(s): {names}.",
    r.TraitStandard: "Cannot delete standard trait {name}.",
    r.TraitInUse: "The trait {name} is in use by a resource provider.",
}

_BOTH_GENERATIONS = ". Its generation is {actual}, the request has {given}: read it again and retry."

ANYWHERE: Words = {
    r.RowInTheWay: Say(
        409,
        "The database holds an incomplete record with the same name or uuid. Run `plimsoll db verify` to find it.",
        CONCURRENT_UPDATE,
    ),
    r.OwnerNotKept: Say(400, VALUE_NOT_KEPT),
    r.ProviderMissing: Say(404, bare=True),
    r.ResourceClassMissing: Say(404, bare=True),
    r.StaleProviderGeneration: Say(
        409, "resource provider generation conflict" + _BOTH_GENERATIONS, CONCURRENT_UPDATE
    ),
    r.StaleConsumerGeneration: Say(409, code=CONCURRENT_UPDATE),
}

_ALREADY_CHANGED = Say(
    409,
    "Resource provider's generation already changed. Please update the generation and try again"
    + _BOTH_GENERATIONS,
    CONCURRENT_UPDATE,
)
_NO_PROVIDER = Say(404, "No resource provider with uuid {uuid} found: {plain}")
_NO_PROVIDER_WITH_INVENTORIES = Say(404, "No resource provider with uuid {uuid} found : {plain}")
_CANNOT_CREATE = Say(400, 'Unable to create resource provider "{name}", {uuid}: {plain}')
_CANNOT_SAVE = Say(400, "Unable to save resource provider {uuid}: {plain}")
_CANNOT_ADD_INVENTORY = Say(400, "Unable to create inventory for resource provider {uuid}: {plain}")
_CANNOT_CHANGE_INVENTORY = Say(400, "Unable to update inventory for resource provider {uuid}: {plain}")
_UNKNOWN_CLASS_ASKED_FOR = Say(400, "Invalid resource class in resources parameter: {plain}")
_UNABLE_TO_ALLOCATE = Say(409, "Unable to allocate inventory: {plain}")

_CLAIMS: Words = {
    r.ClaimOnMissingProvider: Say(400),
    r.NoSuchInventory: _UNABLE_TO_ALLOCATE,
    r.UnitsViolated: _UNABLE_TO_ALLOCATE,
    r.CapacityExceeded: _UNABLE_TO_ALLOCATE,
}

ROUTES: Mapping[str, Words] = {
    "GET /resource_providers": {
        r.ResourceClassMissing: _UNKNOWN_CLASS_ASKED_FOR,
        r.TraitsMissing: Say(400, 'Invalid trait(s) in "required" parameter: {plain}'),
    },
    "POST /resource_providers": {
        r.ProviderNameTaken: Say(
            409, "Conflicting resource provider name: {name} already exists.", DUPLICATE_NAME
        ),
        r.ProviderUuidTaken: Say(
            409, "Conflicting resource provider uuid: {uuid} already exists.", DUPLICATE_NAME
        ),
        r.ProviderNameEmpty: _CANNOT_CREATE,
        r.ParentIsSelf: _CANNOT_CREATE,
        r.ParentMissing: _CANNOT_CREATE,
    },
    "PUT /resource_providers/{uuid}": {
        r.ProviderNameTaken: Say(409, "Conflicting resource provider {name} already exists.", DUPLICATE_NAME),
        r.ParentMissing: _CANNOT_SAVE,
        r.ReparentingNotAllowed: _CANNOT_SAVE,
        r.UnparentingNotAllowed: _CANNOT_SAVE,
        r.TreeWouldLoop: _CANNOT_SAVE,
    },
    "DELETE /resource_providers/{uuid}": {
        r.ProviderMissing: Say(404, "No resource provider with uuid {uuid} found for delete"),
        r.ProviderInUse: Say(409, "Unable to delete resource provider {uuid}: {plain}", PROVIDER_IN_USE),
        r.ProviderHasChildren: Say(
            409,
            "Unable to delete parent resource provider {uuid}: It has child resource providers.",
            PROVIDER_HAS_CHILDREN,
        ),
    },
    "GET /resource_providers/{uuid}/inventories": {r.ProviderMissing: _NO_PROVIDER_WITH_INVENTORIES},
    "POST /resource_providers/{uuid}/inventories": {
        r.InventoryExists: Say(409, "Update conflict: {plain}", CONCURRENT_UPDATE),
        r.InventoryReservesTooMuch: _CANNOT_ADD_INVENTORY,
        r.ResourceClassMissing: _CANNOT_ADD_INVENTORY,
    },
    "PUT /resource_providers/{uuid}/inventories": {
        r.ResourceClassMissing: Say(
            400, "Unknown resource class in inventory for resource provider {uuid}: {plain}"
        ),
        r.InventoryInUse: Say(409, "update conflict: {plain}", INVENTORY_IN_USE),
        r.InventoryReservesTooMuch: _CANNOT_CHANGE_INVENTORY,
    },
    "DELETE /resource_providers/{uuid}/inventories": {r.InventoryInUse: Say(409, code=INVENTORY_IN_USE)},
    "GET /resource_providers/{uuid}/inventories/{resource_class}": {
        r.ProviderMissing: _NO_PROVIDER_WITH_INVENTORIES,
        r.InventoryMissing: Say(404, "No inventory of class {resource_class} for {uuid}"),
    },
    "PUT /resource_providers/{uuid}/inventories/{resource_class}": {
        r.InventoryMissing: Say(
            400, "No inventory record with resource class for resource provider {uuid}: {plain}"
        ),
        r.InventoryReservesTooMuch: _CANNOT_CHANGE_INVENTORY,
    },
    "DELETE /resource_providers/{uuid}/inventories/{resource_class}": {
        # Clients retry on this code. It is not the one that says what happened, and it has always been this one.
        r.InventoryInUse: Say(
            409, "Unable to delete inventory of class {resource_class}: {plain}", CONCURRENT_UPDATE
        ),
        r.InventoryMissing: Say(
            404,
            "No inventory of class {resource_class} found for delete:"
            " No inventory of class {resource_class} found for delete",
        ),
        r.ResourceClassMissing: Say(404, "No inventory of class {resource_class} found for delete: {plain}"),
    },
    "GET /resource_providers/{uuid}/usages": {r.ProviderMissing: _NO_PROVIDER},
    "GET /resource_providers/{uuid}/allocations": {
        r.ProviderMissing: Say(404, "Resource provider '{uuid}' not found: {plain}")
    },
    "PUT /resource_providers/{uuid}/aggregates": {r.StaleProviderGeneration: _ALREADY_CHANGED},
    "GET /resource_providers/{uuid}/traits": {r.ProviderMissing: _NO_PROVIDER},
    "PUT /resource_providers/{uuid}/traits": {
        r.StaleProviderGeneration: _ALREADY_CHANGED,
        r.TraitsMissing: Say(400, "No such trait {names}"),
    },
    "GET /traits/{name}": {r.TraitsMissing: Say(404)},
    "DELETE /traits/{name}": {
        r.TraitsMissing: Say(404),
        r.TraitStandard: Say(400),
        r.TraitInUse: Say(409),
    },
    "POST /resource_classes": {
        r.ResourceClassExists: Say(409, "Conflicting resource class already exists: {name}")
    },
    "PUT /resource_classes/{name}": {
        r.ResourceClassExists: Say(409, "Resource class already exists: {name}"),
        r.ResourceClassStandard: Say(400, "Cannot update standard resource class {name}"),
    },
    "DELETE /resource_classes/{name}": {
        r.ResourceClassStandard: Say(400, "Error in delete resource class: {plain}"),
        r.ResourceClassInUse: Say(409, "Error in delete resource class: {plain}"),
    },
    "PUT /allocations/{consumer_uuid}": {
        **_CLAIMS,
        r.ResourceClassMissing: Say(400, "Unable to allocate inventory for consumer {consumer}: {plain}"),
    },
    "POST /allocations": {
        **_CLAIMS,
        r.ResourceClassMissing: Say(400, "Unable to allocate inventory {plain}"),
    },
    "DELETE /allocations/{consumer_uuid}": {r.AllocationsMissing: Say(404)},
    "POST /reshaper": {
        **_CLAIMS,
        r.ProviderMissing: Say(
            400, "Resource provider {uuid} in inventories not found: {plain}", PROVIDER_NOT_FOUND
        ),
        r.StaleProviderGeneration: Say(
            409,
            "resource provider generation conflict for provider {uuid}: actual: {actual}, given: {given}."
            " Read it again and retry.",
            CONCURRENT_UPDATE,
        ),
        r.ResourceClassMissing: Say(400, "malformed reshaper data: {plain}"),
        r.InventoryInUse: Say(409, "update conflict: {plain}", INVENTORY_IN_USE),
    },
    "GET /allocation_candidates": {
        r.ResourceClassMissing: _UNKNOWN_CLASS_ASKED_FOR,
        r.TraitsMissing: Say(400),
        r.SearchTooLong: Say(
            503,
            "No candidates were found within {seconds:g} seconds, and the search was not finished: there may be"
            " candidates. Ask for less at once: fewer groups, or conditions that fewer providers meet"
            " (in_tree, member_of, required).",
            SEARCH_BUDGET_EXCEEDED,
        ),
        r.SearchAbandoned: Say(503, "The client closed its connection before the search was finished."),
    },
}


class Refused(Exception):
    """Carries a refusal from the service out of a handler, with facts of the request that belong to its words."""

    def __init__(self, refusal: Refusal, facts: Mapping[str, Any]) -> None:
        super().__init__(refusal)
        self.refusal = refusal
        self.facts = facts


def problem_of(refused: Refused, route: str, params: Mapping[str, str]) -> Problem:
    """The problem that a refusal is on a route, which is named as `ROUTES` names it."""
    refusal = refused.refusal
    kind = type(refusal)
    say = ROUTES.get(route, {}).get(kind) or ANYWHERE[kind]
    facts = {**_shortened(params), **_facts(refusal), **_shortened(refused.facts)}
    facts["plain"] = plain_words(refusal, facts)
    detail = say.words.format_map(facts)
    if say.status == _BAD_REQUEST:
        detail = f"{detail.rstrip('.')}. {advice}" if (advice := _how_to_create(refusal)) else detail
    return Problem(say.status, detail, say.code, bare=say.bare)


_BAD_REQUEST = 400
_CUSTOM = "CUSTOM_"


def _how_to_create(refusal: Refusal) -> str:
    """How to create the trait or class that is missing; empty for any other refusal."""
    match refusal:
        case r.ResourceClassMissing(name) if name.startswith(_CUSTOM):
            path, feature = f"/resource_classes/{name}", Feature.ENSURE_RESOURCE_CLASS
        case r.TraitsMissing((name, *_)) if name.startswith(_CUSTOM):
            path, feature = f"/traits/{name}", Feature.TRAITS
        case _:
            return ""
    return f"Create it with PUT {shortened(path, LONGEST_QUOTE)} (since microversion {feature.version})."


def plain_words(refusal: Refusal, facts: Mapping[str, Any]) -> str:
    match refusal:
        case r.StaleConsumerGeneration(actual=None):
            return (
                f"consumer generation conflict - expected null but got {refusal.given}."
                " The consumer does not exist: read it again and retry."
            )
        case r.StaleConsumerGeneration():
            return (
                f"consumer generation conflict - expected {refusal.actual} but got {refusal.given}."
                f" The consumer's generation is {refusal.actual}: read it again and retry."
            )
        case r.InventoryReservesTooMuch():
            limit = "greater than" if refusal.all_allowed else "greater than or equal to"
            return (
                f"Invalid inventory for '{refusal.resource_class}' on resource provider '{refusal.provider}'."
                f" The reserved value is {limit} total."
            )
    return PLAIN.get(type(refusal), "").format_map(facts)


def _facts(refusal: Refusal) -> dict[str, Any]:
    return _shortened(
        {
            name: ", ".join(value) if isinstance(value, tuple) else value
            for name, value in asdict(refusal).items()
        }
    )


def _shortened(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: shortened(value, LONGEST_QUOTE) if isinstance(value, str) else value
        for name, value in facts.items()
    }


def unavailable(fault: DatabaseFault) -> Problem:
    """The problem that a fault of the database is, for a client that can do nothing but wait."""
    outcome = (
        "Whether the request was carried out is not known: look before you repeat it."
        if isinstance(fault, OutcomeUnknown)
        else "Nothing was changed. Try again."
    )
    return Problem(503, f"{fault.summary} {outcome}", retry_after=fault.retry_after)
