# SPDX-License-Identifier: Apache-2.0

"""Reshapes: inventory and allocations move together, or not at all."""

from plimsoll.domain.draft import Draft
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.refusals import (
    CapacityExceeded,
    InventoryInUse,
    ProviderMissing,
    ResourceClassMissing,
    StaleProviderGeneration,
)
from plimsoll.domain.rules.allocations import Claim
from plimsoll.domain.rules.reshape import NewInventories, Reshape, reshape
from tests.support.worlds import draft, holding, provider


def a_host_with_a_child() -> Draft:
    return draft(
        provider("host", inventories={"VCPU": 8, "CUSTOM_GOLD": 4}, used={"CUSTOM_GOLD": 2}),
        provider("child", parent="host"),
        c=holding("c", host={"CUSTOM_GOLD": 2}),
    )


def gold_moves(to: str = "child", amount: int = 2, total: int = 4) -> Reshape:
    return Reshape(
        {
            "host": NewInventories(0, {"VCPU": Inventory(8)}),
            "child": NewInventories(0, {"CUSTOM_GOLD": Inventory(total)}),
        },
        (Claim("c", {to: {"CUSTOM_GOLD": amount}}, "project", "user", expected_generation=1),),
    )


def test_inventory_and_its_allocations_move_to_a_child() -> None:
    d = a_host_with_a_child()
    assert reshape(d, gold_moves()) is None
    host, child = d.world.providers["host"], d.world.providers["child"]
    assert host.inventories.keys() == {"VCPU"}
    assert host.used == {}
    assert child.used == {"CUSTOM_GOLD": 2}


def test_generations_are_raised_by_each_of_the_three_steps() -> None:
    """New inventories are added, claims applied, old inventories removed. Clients see the resulting generation."""
    d = a_host_with_a_child()
    reshape(d, gold_moves())
    assert d.world.providers["host"].generation == 2
    assert d.world.providers["child"].generation == 3


def test_allocations_on_a_removed_inventory_refuse_the_reshape() -> None:
    assert reshape(a_host_with_a_child(), gold_moves(to="host")) == InventoryInUse("host", ("CUSTOM_GOLD",))


def test_allocations_that_do_not_fit_refuse_the_reshape() -> None:
    refused = reshape(a_host_with_a_child(), gold_moves(total=1))
    assert isinstance(refused, CapacityExceeded)
    assert (refused.provider, refused.resource_class, refused.capacity) == ("child", "CUSTOM_GOLD", 1)


def test_a_stale_generation_an_unknown_provider_and_an_unknown_class_are_refused() -> None:
    stale = Reshape({"host": NewInventories(7, {})}, ())
    assert reshape(a_host_with_a_child(), stale) == StaleProviderGeneration("host", 0, 7)
    missing = Reshape({"missing": NewInventories(0, {})}, ())
    assert reshape(a_host_with_a_child(), missing) == ProviderMissing("missing")
    unknown = Reshape({"child": NewInventories(0, {"NONE": Inventory(1)})}, ())
    assert reshape(a_host_with_a_child(), unknown) == ResourceClassMissing("NONE")
