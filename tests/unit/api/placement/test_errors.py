# SPDX-License-Identifier: Apache-2.0

"""The error text of each refusal on each route. Real clients parse some of these texts."""

from typing import Any

import pytest

from plimsoll.api.placement import error_tables
from plimsoll.api.placement.errors import Refused, problem_of
from plimsoll.api.placement.routes import ROUTES
from plimsoll.domain import refusals as r
from plimsoll.domain.refusals import Refusal
from plimsoll.http.problems import Problem

UUID = "11111111-1111-1111-1111-111111111111"
PATH = {"uuid": UUID, "resource_class": "VCPU", "name": "CUSTOM_A", "consumer_uuid": "c"}

EXAMPLES: dict[type[Refusal], Refusal] = {
    r.HiddenRowConflict: r.HiddenRowConflict(),
    r.SearchTooLong: r.SearchTooLong(10.0),
    r.SearchAbandoned: r.SearchAbandoned(),
    r.ProviderMissing: r.ProviderMissing(UUID),
    r.ProviderNameTaken: r.ProviderNameTaken("host"),
    r.ProviderUuidTaken: r.ProviderUuidTaken(UUID),
    r.ProviderNameEmpty: r.ProviderNameEmpty(),
    r.ParentIsSelf: r.ParentIsSelf(UUID),
    r.ParentMissing: r.ParentMissing("p"),
    r.ReparentingNotAllowed: r.ReparentingNotAllowed(UUID),
    r.UnparentingNotAllowed: r.UnparentingNotAllowed(UUID),
    r.TreeWouldLoop: r.TreeWouldLoop(UUID, "p"),
    r.ProviderHasChildren: r.ProviderHasChildren(UUID),
    r.ProviderInUse: r.ProviderInUse(UUID),
    r.StaleProviderGeneration: r.StaleProviderGeneration(UUID, 3, 2),
    r.ResourceClassMissing: r.ResourceClassMissing("CUSTOM_X"),
    r.InventoryExists: r.InventoryExists(UUID, "VCPU"),
    r.InventoryMissing: r.InventoryMissing(UUID, "VCPU"),
    r.InventoryInUse: r.InventoryInUse(UUID, ("VCPU", "DISK_GB")),
    r.InventoryReservesTooMuch: r.InventoryReservesTooMuch(UUID, "VCPU", all_allowed=False),
    r.ClaimOnMissingProvider: r.ClaimOnMissingProvider(UUID),
    r.StaleConsumerGeneration: r.StaleConsumerGeneration("c", 1, None),
    r.NoSuchInventory: r.NoSuchInventory((UUID,), ("VCPU", "DISK_GB")),
    r.OwnerNotStorable: r.OwnerNotStorable("c"),
    r.UnitsViolated: r.UnitsViolated(UUID, "VCPU", 5, 2, 4, 2),
    r.CapacityExceeded: r.CapacityExceeded(UUID, "host", "VCPU", 13, 1, 4),
    r.AllocationsMissing: r.AllocationsMissing("c"),
    r.ResourceClassExists: r.ResourceClassExists("CUSTOM_A"),
    r.ResourceClassStandard: r.ResourceClassStandard("VCPU"),
    r.ResourceClassInUse: r.ResourceClassInUse("CUSTOM_A"),
    r.TraitsMissing: r.TraitsMissing(("CUSTOM_X", "CUSTOM_Y")),
    r.TraitStandard: r.TraitStandard("HW_CPU_X86_VMX"),
    r.TraitInUse: r.TraitInUse("CUSTOM_A"),
}


def problem_for(route: str, refusal: Refusal, **facts: Any) -> Problem:
    return problem_of(Refused(refusal, facts), route, PATH)


def test_every_refusal_has_an_error_template() -> None:
    with_template = set(error_tables.DEFAULT_TEMPLATES).union(*error_tables.TEMPLATES_BY_ROUTE.values())
    public = {kind for name, kind in vars(r).items() if isinstance(kind, type) and not name.startswith("_")}
    known = {kind for kind in public if issubclass(kind, Refusal)}
    assert with_template == known - {Refusal} == set(EXAMPLES)


def test_only_existing_routes_have_error_templates() -> None:
    assert error_tables.TEMPLATES_BY_ROUTE.keys() <= {route.name for route in ROUTES}


@pytest.mark.parametrize("route", error_tables.TEMPLATES_BY_ROUTE)
def test_every_field_of_the_error_templates_of_a_route_is_filled(route: str) -> None:
    for kind in error_tables.TEMPLATES_BY_ROUTE[route]:
        problem = problem_for(route, EXAMPLES[kind], name="host", uuid=UUID, consumer="c")
        assert problem.detail
        assert "{" not in problem.detail


@pytest.mark.parametrize(
    ("route", "refusal", "status", "code", "text"),
    [
        (
            "POST /resource_providers",
            r.ProviderNameTaken("host"),
            409,
            "placement.duplicate_name",
            "Conflicting resource provider name: host already exists.",
        ),
        (
            "PUT /resource_providers/{uuid}",
            r.ProviderNameTaken("host"),
            409,
            "placement.duplicate_name",
            "Conflicting resource provider host already exists.",
        ),
        (
            "PUT /allocations/{consumer_uuid}",
            r.StaleConsumerGeneration("c", None, 3),
            409,
            "placement.concurrent_update",
            "consumer generation conflict - expected null but got 3."
            " The consumer does not exist: read it again and retry.",
        ),
        (
            "POST /allocations",
            r.StaleConsumerGeneration("c", 1, None),
            409,
            "placement.concurrent_update",
            "consumer generation conflict - expected 1 but got None."
            " The consumer's generation is 1: read it again and retry.",
        ),
        (
            "GET /resource_providers/{uuid}",
            r.ProviderMissing(UUID),
            404,
            "placement.undefined_code",
            f"No resource provider with uuid {UUID} found",
        ),
        (
            "GET /resource_providers/{uuid}/inventories/{resource_class}",
            r.InventoryMissing(UUID, "VCPU"),
            404,
            "placement.undefined_code",
            f"No inventory of class VCPU for {UUID}",
        ),
        (
            "PUT /resource_providers/{uuid}/inventories",
            r.InventoryInUse(UUID, ("VCPU", "DISK_GB")),
            409,
            "placement.inventory.inuse",
            f"update conflict: Inventory for 'VCPU, DISK_GB' on resource provider '{UUID}' in use.",
        ),
        (
            "PUT /resource_providers/{uuid}/inventories/{resource_class}",
            r.StaleProviderGeneration(UUID, 3, 2),
            409,
            "placement.concurrent_update",
            "resource provider generation conflict. Its generation is 3, the request has 2: read it again and retry.",
        ),
        (
            "PUT /resource_providers/{uuid}/traits",
            r.StaleProviderGeneration(UUID, 3, 2),
            409,
            "placement.concurrent_update",
            "Resource provider's generation already changed. Please update the generation and try again."
            " Its generation is 3, the request has 2: read it again and retry.",
        ),
        (
            "PUT /allocations/{consumer_uuid}",
            r.CapacityExceeded(UUID, "host", "VCPU", 13, 1, 4),
            409,
            "placement.undefined_code",
            f"Unable to allocate inventory: Unable to create allocation for 'VCPU' on resource provider '{UUID}'."
            " The requested amount would exceed the capacity. Asked: 13, used: 1, capacity: 4.",
        ),
        (
            "PUT /allocations/{consumer_uuid}",
            r.UnitsViolated(UUID, "VCPU", 5, 2, 4, 2),
            409,
            "placement.undefined_code",
            f"Unable to allocate inventory: Unable to create allocation for 'VCPU' on resource provider '{UUID}'."
            " The requested amount would violate inventory constraints."
            " Asked: 5, min_unit: 2, max_unit: 4, step_size: 2.",
        ),
        (
            "POST /resource_providers/{uuid}/inventories",
            r.ResourceClassMissing("CUSTOM_GOLD"),
            400,
            "placement.undefined_code",
            f"Unable to create inventory for resource provider {UUID}: No such resource class CUSTOM_GOLD."
            " Create it with PUT /resource_classes/CUSTOM_GOLD (since microversion 1.7).",
        ),
        (
            "PUT /resource_providers/{uuid}/traits",
            r.TraitsMissing(("CUSTOM_A", "CUSTOM_B")),
            400,
            "placement.undefined_code",
            "No such trait CUSTOM_A, CUSTOM_B. Create it with PUT /traits/CUSTOM_A (since microversion 1.6).",
        ),
        (
            "GET /allocation_candidates",
            r.TraitsMissing(("HW_NO_SUCH",)),
            400,
            "placement.undefined_code",
            "No such trait(s): HW_NO_SUCH.",
        ),
        (
            "GET /resource_classes/{name}",
            r.ResourceClassMissing("CUSTOM_GOLD"),
            404,
            "placement.undefined_code",
            "No such resource class CUSTOM_GOLD.",
        ),
        (
            "POST /reshaper",
            r.StaleProviderGeneration(UUID, 3, 2),
            409,
            "placement.concurrent_update",
            f"resource provider generation conflict for provider {UUID}: actual: 3, given: 2."
            " Read it again and retry.",
        ),
    ],
)
def test_status_text_and_code_are_those_that_clients_parse(
    route: str, refusal: Refusal, status: int, code: str, text: str
) -> None:
    problem = problem_for(route, refusal, uuid=UUID)
    assert (problem.status, problem.code, problem.detail) == (status, code, text)


def test_facts_of_the_request_override_fields_of_the_refusal() -> None:
    """The uuid in the error is that of the new provider, not that of the missing parent."""
    problem = problem_for(
        "POST /resource_providers", r.ParentMissing("the-parent"), uuid="the-child", name="host"
    )
    assert problem.detail.startswith('Unable to create resource provider "host", the-child: ')


def test_names_with_braces_are_quoted_as_they_are() -> None:
    assert "{0} {uuid}" in problem_for("POST /resource_providers", r.ProviderNameTaken("{0} {uuid}")).detail


@pytest.mark.parametrize(("all_allowed", "limit"), [(True, "greater than total"), (False, "equal to total")])
def test_the_limit_of_reserved_is_in_the_error(all_allowed: bool, limit: str) -> None:
    refusal = r.InventoryReservesTooMuch(UUID, "VCPU", all_allowed=all_allowed)
    assert limit in problem_for("POST /resource_providers/{uuid}/inventories", refusal).detail
