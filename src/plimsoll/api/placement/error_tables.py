# SPDX-License-Identifier: Apache-2.0

"""The tables of error responses: status, code and text of each refusal, as the reference returns them for each route.

`BASE_TEXTS` has the sentence of each refusal. `TEMPLATES_BY_ROUTE` has the status, the code and the text around that
sentence for each route; `DEFAULT_TEMPLATES` has them for refusals that a route does not list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.domain import refusals as r
from plimsoll.domain.refusals import Refusal
from plimsoll.http.problems import (
    CONCURRENT_UPDATE,
    DUPLICATE_NAME,
    INVENTORY_IN_USE,
    PROVIDER_HAS_CHILDREN,
    PROVIDER_IN_USE,
    PROVIDER_NOT_FOUND,
    SEARCH_BUDGET_EXCEEDED,
    UNDEFINED,
)


@dataclass(frozen=True, slots=True)
class ErrorTemplate:
    """A format string with the fields of the refusal, the values of the path, and `base`, the base text."""

    status: int
    text: str = "{base}"
    code: str = UNDEFINED
    omit_vary: bool = False


ErrorTemplates = Mapping[type[Refusal], ErrorTemplate]

_CREATE_FAILED = "Object action create failed because: "
_UPDATE_FAILED = "Object action update failed because: "

VALUE_NOT_STORABLE = "The request has a character or a number that the database cannot store."

BASE_TEXTS: Mapping[type[Refusal], str] = {
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

DEFAULT_TEMPLATES: ErrorTemplates = {
    r.HiddenRowConflict: ErrorTemplate(
        409,
        "The database has a record with the same name or uuid that Plimsoll has not read: an incomplete record, or one"
        " that another program has written. Run `plimsoll db verify` to find it.",
        CONCURRENT_UPDATE,
    ),
    r.OwnerNotStorable: ErrorTemplate(400, VALUE_NOT_STORABLE),
    r.ProviderMissing: ErrorTemplate(404, omit_vary=True),
    r.ResourceClassMissing: ErrorTemplate(404, omit_vary=True),
    r.StaleProviderGeneration: ErrorTemplate(
        409, "resource provider generation conflict" + _BOTH_GENERATIONS, CONCURRENT_UPDATE
    ),
    r.StaleConsumerGeneration: ErrorTemplate(409, code=CONCURRENT_UPDATE),
}

_ALREADY_CHANGED = ErrorTemplate(
    409,
    "Resource provider's generation already changed. Please update the generation and try again"
    + _BOTH_GENERATIONS,
    CONCURRENT_UPDATE,
)
_NO_PROVIDER = ErrorTemplate(404, "No resource provider with uuid {uuid} found: {base}")
_NO_PROVIDER_WITH_INVENTORIES = ErrorTemplate(404, "No resource provider with uuid {uuid} found : {base}")
_CANNOT_CREATE = ErrorTemplate(400, 'Unable to create resource provider "{name}", {uuid}: {base}')
_CANNOT_SAVE = ErrorTemplate(400, "Unable to save resource provider {uuid}: {base}")
_CANNOT_ADD_INVENTORY = ErrorTemplate(400, "Unable to create inventory for resource provider {uuid}: {base}")
_CANNOT_CHANGE_INVENTORY = ErrorTemplate(
    400, "Unable to update inventory for resource provider {uuid}: {base}"
)
_UNKNOWN_RESOURCE_CLASS = ErrorTemplate(400, "Invalid resource class in resources parameter: {base}")
_UNABLE_TO_ALLOCATE = ErrorTemplate(409, "Unable to allocate inventory: {base}")

_CLAIMS: ErrorTemplates = {
    r.ClaimOnMissingProvider: ErrorTemplate(400),
    r.NoSuchInventory: _UNABLE_TO_ALLOCATE,
    r.UnitsViolated: _UNABLE_TO_ALLOCATE,
    r.CapacityExceeded: _UNABLE_TO_ALLOCATE,
}

TEMPLATES_BY_ROUTE: Mapping[str, ErrorTemplates] = {
    "GET /resource_providers": {
        r.ResourceClassMissing: _UNKNOWN_RESOURCE_CLASS,
        r.TraitsMissing: ErrorTemplate(400, 'Invalid trait(s) in "required" parameter: {base}'),
    },
    "POST /resource_providers": {
        r.ProviderNameTaken: ErrorTemplate(
            409, "Conflicting resource provider name: {name} already exists.", DUPLICATE_NAME
        ),
        r.ProviderUuidTaken: ErrorTemplate(
            409, "Conflicting resource provider uuid: {uuid} already exists.", DUPLICATE_NAME
        ),
        r.ProviderNameEmpty: _CANNOT_CREATE,
        r.ParentIsSelf: _CANNOT_CREATE,
        r.ParentMissing: _CANNOT_CREATE,
    },
    "PUT /resource_providers/{uuid}": {
        r.ProviderNameTaken: ErrorTemplate(
            409, "Conflicting resource provider {name} already exists.", DUPLICATE_NAME
        ),
        r.ParentMissing: _CANNOT_SAVE,
        r.ReparentingNotAllowed: _CANNOT_SAVE,
        r.UnparentingNotAllowed: _CANNOT_SAVE,
        r.TreeWouldLoop: _CANNOT_SAVE,
    },
    "DELETE /resource_providers/{uuid}": {
        r.ProviderMissing: ErrorTemplate(404, "No resource provider with uuid {uuid} found for delete"),
        r.ProviderInUse: ErrorTemplate(
            409, "Unable to delete resource provider {uuid}: {base}", PROVIDER_IN_USE
        ),
        r.ProviderHasChildren: ErrorTemplate(
            409,
            "Unable to delete parent resource provider {uuid}: It has child resource providers.",
            PROVIDER_HAS_CHILDREN,
        ),
    },
    "GET /resource_providers/{uuid}/inventories": {r.ProviderMissing: _NO_PROVIDER_WITH_INVENTORIES},
    "POST /resource_providers/{uuid}/inventories": {
        r.InventoryExists: ErrorTemplate(409, "Update conflict: {base}", CONCURRENT_UPDATE),
        r.InventoryReservesTooMuch: _CANNOT_ADD_INVENTORY,
        r.ResourceClassMissing: _CANNOT_ADD_INVENTORY,
    },
    "PUT /resource_providers/{uuid}/inventories": {
        r.ResourceClassMissing: ErrorTemplate(
            400, "Unknown resource class in inventory for resource provider {uuid}: {base}"
        ),
        r.InventoryInUse: ErrorTemplate(409, "update conflict: {base}", INVENTORY_IN_USE),
        r.InventoryReservesTooMuch: _CANNOT_CHANGE_INVENTORY,
    },
    "DELETE /resource_providers/{uuid}/inventories": {
        r.InventoryInUse: ErrorTemplate(409, code=INVENTORY_IN_USE)
    },
    "GET /resource_providers/{uuid}/inventories/{resource_class}": {
        r.ProviderMissing: _NO_PROVIDER_WITH_INVENTORIES,
        r.InventoryMissing: ErrorTemplate(404, "No inventory of class {resource_class} for {uuid}"),
    },
    "PUT /resource_providers/{uuid}/inventories/{resource_class}": {
        r.InventoryMissing: ErrorTemplate(
            400, "No inventory record with resource class for resource provider {uuid}: {base}"
        ),
        r.InventoryReservesTooMuch: _CANNOT_CHANGE_INVENTORY,
    },
    "DELETE /resource_providers/{uuid}/inventories/{resource_class}": {
        # Not INVENTORY_IN_USE: the reference returns this code here, and clients retry on it.
        r.InventoryInUse: ErrorTemplate(
            409, "Unable to delete inventory of class {resource_class}: {base}", CONCURRENT_UPDATE
        ),
        r.InventoryMissing: ErrorTemplate(
            404,
            "No inventory of class {resource_class} found for delete:"
            " No inventory of class {resource_class} found for delete",
        ),
        r.ResourceClassMissing: ErrorTemplate(
            404, "No inventory of class {resource_class} found for delete: {base}"
        ),
    },
    "GET /resource_providers/{uuid}/usages": {r.ProviderMissing: _NO_PROVIDER},
    "GET /resource_providers/{uuid}/allocations": {
        r.ProviderMissing: ErrorTemplate(404, "Resource provider '{uuid}' not found: {base}")
    },
    "PUT /resource_providers/{uuid}/aggregates": {r.StaleProviderGeneration: _ALREADY_CHANGED},
    "GET /resource_providers/{uuid}/traits": {r.ProviderMissing: _NO_PROVIDER},
    "PUT /resource_providers/{uuid}/traits": {
        r.StaleProviderGeneration: _ALREADY_CHANGED,
        r.TraitsMissing: ErrorTemplate(400, "No such trait {names}"),
    },
    "GET /traits/{name}": {r.TraitsMissing: ErrorTemplate(404)},
    "DELETE /traits/{name}": {
        r.TraitsMissing: ErrorTemplate(404),
        r.TraitStandard: ErrorTemplate(400),
        r.TraitInUse: ErrorTemplate(409),
    },
    "POST /resource_classes": {
        r.ResourceClassExists: ErrorTemplate(409, "Conflicting resource class already exists: {name}")
    },
    "PUT /resource_classes/{name}": {
        r.ResourceClassExists: ErrorTemplate(409, "Resource class already exists: {name}"),
        r.ResourceClassStandard: ErrorTemplate(400, "Cannot update standard resource class {name}"),
    },
    "DELETE /resource_classes/{name}": {
        r.ResourceClassStandard: ErrorTemplate(400, "Error in delete resource class: {base}"),
        r.ResourceClassInUse: ErrorTemplate(409, "Error in delete resource class: {base}"),
    },
    "PUT /allocations/{consumer_uuid}": {
        **_CLAIMS,
        r.ResourceClassMissing: ErrorTemplate(
            400, "Unable to allocate inventory for consumer {consumer}: {base}"
        ),
    },
    "POST /allocations": {
        **_CLAIMS,
        r.ResourceClassMissing: ErrorTemplate(400, "Unable to allocate inventory {base}"),
    },
    "DELETE /allocations/{consumer_uuid}": {r.AllocationsMissing: ErrorTemplate(404)},
    "POST /reshaper": {
        **_CLAIMS,
        r.ProviderMissing: ErrorTemplate(
            400, "Resource provider {uuid} in inventories not found: {base}", PROVIDER_NOT_FOUND
        ),
        r.StaleProviderGeneration: ErrorTemplate(
            409,
            "resource provider generation conflict for provider {uuid}: actual: {actual}, given: {given}."
            " Read it again and retry.",
            CONCURRENT_UPDATE,
        ),
        r.ResourceClassMissing: ErrorTemplate(400, "malformed reshaper data: {base}"),
        r.InventoryInUse: ErrorTemplate(409, "update conflict: {base}", INVENTORY_IN_USE),
    },
    "GET /allocation_candidates": {
        r.ResourceClassMissing: _UNKNOWN_RESOURCE_CLASS,
        r.TraitsMissing: ErrorTemplate(400),
        r.SearchTooLong: ErrorTemplate(
            503,
            "The search stopped after {seconds:g} seconds without a candidate, and before it was complete: candidates"
            " may exist. Request fewer groups, or add conditions that fewer providers meet (in_tree, member_of,"
            " required).",
            SEARCH_BUDGET_EXCEEDED,
        ),
        r.SearchAbandoned: ErrorTemplate(
            503, "The client closed its connection before the search was finished."
        ),
    },
}
