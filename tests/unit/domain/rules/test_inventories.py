# SPDX-License-Identifier: Apache-2.0

"""Inventories of a provider: added, changed, removed, replaced."""

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.refusals import (
    InventoryExists,
    InventoryInUse,
    InventoryMissing,
    InventoryReservesTooMuch,
    ProviderMissing,
    ResourceClassMissing,
    StaleProviderGeneration,
)
from plimsoll.domain.rules.inventories import (
    add_inventory,
    change_inventory,
    clear_inventories,
    remove_inventory,
    replace_inventories,
)
from tests.support.worlds import draft, provider

FOUR = Inventory(total=4)
ALL_RESERVED = Inventory(total=4, reserved=4)


def test_a_class_is_added_once() -> None:
    d = draft(provider("p"))
    assert add_inventory(d, "p", "VCPU", FOUR, reserve_all=True) is None
    assert d.world.providers["p"].inventories == {"VCPU": FOUR}
    assert d.world.providers["p"].generation == 1
    assert add_inventory(d, "p", "VCPU", FOUR, reserve_all=True) == InventoryExists("p", "VCPU")


def test_reserving_all_is_refused_unless_allowed() -> None:
    assert add_inventory(draft(provider("p")), "p", "VCPU", ALL_RESERVED, reserve_all=True) is None
    assert add_inventory(
        draft(provider("p")), "p", "VCPU", ALL_RESERVED, reserve_all=False
    ) == InventoryReservesTooMuch("p", "VCPU", all_allowed=False)


def test_reserving_more_than_all_is_always_refused() -> None:
    more = Inventory(total=4, reserved=5)
    assert add_inventory(
        draft(provider("p")), "p", "VCPU", more, reserve_all=True
    ) == InventoryReservesTooMuch("p", "VCPU", all_allowed=True)


def test_an_unknown_class_or_provider_is_refused() -> None:
    assert add_inventory(draft(provider("p")), "p", "NONE", FOUR, reserve_all=True) == ResourceClassMissing(
        "NONE"
    )
    assert add_inventory(draft(), "p", "VCPU", FOUR, reserve_all=True) == ProviderMissing("p")


def test_a_change_needs_the_current_generation() -> None:
    d = draft(provider("p", inventories={"VCPU": 2}, generation=5))
    assert change_inventory(d, "p", 4, "VCPU", FOUR, reserve_all=True) == StaleProviderGeneration("p", 5, 4)
    assert change_inventory(d, "p", 5, "VCPU", FOUR, reserve_all=True) is None
    assert d.world.providers["p"].inventories == {"VCPU": FOUR}


def test_a_missing_inventory_cannot_be_changed_or_removed() -> None:
    d = draft(provider("p"))
    assert change_inventory(d, "p", 0, "VCPU", FOUR, reserve_all=True) == InventoryMissing("p", "VCPU")
    assert remove_inventory(d, "p", "VCPU") == InventoryMissing("p", "VCPU")


def test_reducing_an_inventory_below_its_usage_is_allowed() -> None:
    d = draft(provider("p", inventories={"VCPU": 8}, used={"VCPU": 8}))
    assert change_inventory(d, "p", 0, "VCPU", Inventory(total=1), reserve_all=True) is None


def test_an_inventory_in_use_cannot_be_removed() -> None:
    d = draft(provider("p", inventories={"VCPU": 8, "DISK_GB": 8}, used={"VCPU": 1, "DISK_GB": 1}))
    assert remove_inventory(d, "p", "VCPU") == InventoryInUse("p", ("VCPU",))
    assert clear_inventories(d, "p") == InventoryInUse("p", ("VCPU", "DISK_GB"))
    assert replace_inventories(d, "p", 0, {"VCPU": FOUR}, reserve_all=True) == InventoryInUse(
        "p", ("DISK_GB",)
    )


def test_replacing_adds_changes_and_removes_with_one_generation() -> None:
    d = draft(provider("p", inventories={"VCPU": 8, "DISK_GB": 8}))
    wanted = {"VCPU": FOUR, "MEMORY_MB": FOUR}
    assert replace_inventories(d, "p", 0, wanted, reserve_all=True) is None
    assert d.world.providers["p"].inventories == wanted
    assert d.world.providers["p"].generation == 1
