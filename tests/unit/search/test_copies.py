# SPDX-License-Identifier: Apache-2.0

"""Copies of an index with other free amounts."""

from __future__ import annotations

from plimsoll.domain.inventory import Inventory
from plimsoll.search import copies
from plimsoll.search.index.index import Index
from tests.unit.search.clouds import host


def free(index: Index, uuid: str, resource_class: str) -> int:
    return index.class_column(resource_class).free(index.row(uuid))


def test_an_emptied_cloud_has_all_of_its_capacity_free() -> None:
    inventory = Inventory(total=10, reserved=2, allocation_ratio=2.0)
    index = Index.build([host("a", inventories={"VCPU": inventory}, used="VCPU:20"), host("b", "DISK_GB:5")])
    assert free(index, "a", "VCPU") == -4
    empty = copies.emptied(index)
    assert free(empty, "a", "VCPU") == 16
    assert free(empty, "b", "DISK_GB") == 5
    assert not empty.class_column("VCPU").rows_with_free(1) >> empty.row("b") & 1


def test_what_is_taken_away_from_a_provider_is_free_in_the_copy() -> None:
    index = Index.build([host("a", "VCPU:8 DISK_GB:9", used="VCPU:6"), host("b", "VCPU:8", used="VCPU:1")])
    copy = copies.without(index, {"a": {"VCPU": 4}})
    assert (free(copy, "a", "VCPU"), free(copy, "a", "DISK_GB"), free(copy, "b", "VCPU")) == (6, 9, 7)
    assert free(index, "a", "VCPU") == 2


def test_amounts_without_inventory_are_left_out() -> None:
    index = Index.build([host("a", "VCPU:8", used="VCPU:6 DISK_GB:1")])
    copy = copies.without(index, {"a": {"DISK_GB": 1, "VCPU": 1}, "gone": {"VCPU": 1}})
    assert free(copy, "a", "VCPU") == 3
    assert not copy.class_column("DISK_GB").rows


def test_a_claim_on_a_copy_takes_from_the_free_amounts() -> None:
    index = Index.build([host("a", "VCPU:8"), host("b", "VCPU:8")])
    copy = copies.claimed(index, {"a": {"VCPU": 3}})
    assert (free(copy, "a", "VCPU"), free(copy, "b", "VCPU"), free(index, "a", "VCPU")) == (5, 8, 8)


def test_rows_with_nothing_free_serve_nothing() -> None:
    index = Index.build([host("a", "VCPU:8"), host("b", "VCPU:8")])
    copy = copies.with_nothing_free(index, 1 << index.row("a"))
    assert copy.class_column("VCPU").rows_with_free(1) == 1 << index.row("b")
