# SPDX-License-Identifier: Apache-2.0

"""The index: lookups by row, and sharing of unchanged parts after a change."""

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.domain.inventory import Inventory
from plimsoll.search.index.bitset import numbers_of
from plimsoll.search.index.index import Index, changes_usage_only
from tests.unit.search.clouds import host, pool


def names(index: Index, rows: int) -> list[str]:
    return sorted(provider.uuid for provider in index.providers(numbers_of(rows, index.size).tolist()))


def test_providers_are_found_by_trait_aggregate_and_tree() -> None:
    index = Index.build([host("a", traits="FAST", aggs="x"), host("a1", parent="a"), host("b", aggs="x")])
    assert names(index, index.with_trait("FAST")) == ["a"]
    assert names(index, index.in_aggregate("x")) == ["a", "b"]
    assert names(index, index.children) == ["a1"]
    assert names(index, index.roots_of(index.live)) == ["a", "b"]
    assert names(index, index.rows_of_trees(index.with_trait("FAST"))) == ["a", "a1"]
    assert index.with_trait("UNKNOWN") == 0


def test_a_sharing_provider_serves_trees_with_a_provider_in_its_aggregates() -> None:
    index = Index.build(
        [host("a"), host("a1", parent="a", aggs="x"), host("b", aggs="y"), pool("p", "DISK_GB:9", "x z")]
    )
    assert names(index, index.anchors(index.row("p"))) == ["a", "p"]


def test_without_trees_and_sharing_the_index_is_flat() -> None:
    flat = Index.build([host("a"), host("b")])
    assert flat.flat
    assert not flat.updated([(None, host("b1", parent="b"))]).flat
    assert not flat.updated([(None, pool("p", "", "x"))]).flat


def test_a_claim_shares_everything_but_the_column_it_changes() -> None:
    before = host("a", "VCPU:4 DISK_GB:9", traits="FAST", aggs="x")
    index = Index.build([before, host("b", "VCPU:2")])
    after = replace(before, used={"VCPU": 3}, generation=1)
    assert changes_usage_only(before, after)
    claimed = index.claimed([(before, after)])
    assert claimed.class_column("VCPU").room(claimed.row("a")) == 1
    assert claimed.provider(claimed.row("a")) is after
    assert claimed.class_column("DISK_GB") is index.class_column("DISK_GB")
    assert (claimed.live, claimed.trees, claimed._traits) == (index.live, index.trees, index._traits)
    assert index.class_column("VCPU").room(index.row("a")) == 4
    assert index.provider(index.row("a")) is before


def test_released_amounts_are_free_and_classes_without_inventory_are_ignored() -> None:
    """A provider may have usage of a class without an inventory of it."""
    before = host("a", "VCPU:4", used="VCPU:3 GONE:1")
    index = Index.build([before, host("b", "GONE:2")])
    claimed = index.claimed([(before, replace(before, used={"GONE": 2}))])
    assert claimed.class_column("VCPU").room(claimed.row("a")) == 4
    assert claimed.class_column("GONE") is index.class_column("GONE")


@pytest.mark.parametrize(
    "change",
    [
        {"id": 7},
        {"root": "b"},
        {"parent": "b"},
        {"traits": frozenset(["FAST"])},
        {"aggregates": frozenset(["x"])},
        {"inventories": {"VCPU": Inventory(5)}},
    ],
)
def test_a_change_of_other_fields_than_usage_is_no_claim(change: dict[str, Any]) -> None:
    before = host("a", "VCPU:4")
    assert changes_usage_only(before, replace(before, used={"VCPU": 1}, generation=1))
    assert not changes_usage_only(before, replace(before, used={"VCPU": 1}, **change))


def test_a_new_provider_comes_after_all_others_even_if_one_was_removed() -> None:
    a, b, c = host("a", "VCPU:4", traits="FAST", aggs="x"), host("b", "VCPU:1"), host("c", "DISK_GB:1")
    index = Index.build([a, b])
    row = index.row("a")
    index = index.updated([(a, None)])
    assert (index.with_trait("FAST"), index.in_aggregate("x"), names(index, index.live)) == (0, 0, ["b"])
    index = index.updated([(None, c)])
    assert (row, index.row("b"), index.row("c"), index.size) == (0, 1, 2, 3)
    assert names(index, index.class_column("VCPU").rows) == ["b"]
    assert names(index, index.class_column("DISK_GB").rows) == ["c"]
    with pytest.raises(KeyError):
        index.row("a")


def test_an_index_with_mostly_vacant_rows_is_compacted() -> None:
    hosts = [host(f"h{number:03}", "VCPU:4") for number in range(600)]
    index = Index.build(hosts)
    order = names(index, index.live)
    index = index.updated([(gone, None) for gone in hosts[:400]])
    assert index.size == 200
    assert names(index, index.live) == order[400:]
    assert index.class_column("VCPU").rows == index.live


def test_a_tree_may_be_created_and_changed_in_one_step() -> None:
    root, child = host("a"), host("a1", "VCPU:1", parent="a")
    index = Index().updated([(None, root), (None, child), (child, replace(child, used={"VCPU": 1}))])
    assert names(index, index.rows_of_trees(index.live & ~index.children)) == ["a", "a1"]
    assert index.class_column("VCPU").room(index.row("a1")) == 0


def test_a_moved_provider_gets_its_new_root() -> None:
    a, b, child = host("a"), host("b"), host("c", parent="a")
    index = Index.build([a, b, child])
    index = index.updated([(child, replace(child, parent="b", root="b"))])
    assert names(index, index.rows_of_trees(1 << index.row("b"))) == ["b", "c"]
    assert names(index, index.rows_of_trees(1 << index.row("a"))) == ["a"]
    index = index.updated([(replace(child, parent="b", root="b"), replace(child, parent=None, root="c"))])
    assert index.children == 0


def test_anchors_follow_aggregates() -> None:
    a, p = host("a"), pool("p", "DISK_GB:9", "x")
    index = Index.build([a, p])
    assert names(index, index.anchors(index.row("p"))) == ["p"]
    later = index.updated([(a, replace(a, aggregates=frozenset(["x"])))])
    assert names(later, later.anchors(later.row("p"))) == ["a", "p"]
    assert names(index, index.anchors(index.row("p"))) == ["p"]


def test_thousands_of_providers_fill_several_blocks() -> None:
    hosts = [
        replace(host(f"h{number}", "VCPU:8 PCI:1" if number % 100 == 0 else "VCPU:8"), id=number)
        for number in range(5000)
    ]
    index = Index.build(hosts)
    assert index.class_column("VCPU").rows_with_free(8).bit_count() == 5000
    assert index.class_column("PCI").rows_with_free(1).bit_count() == 50
    for after_claim in (index.updated, index.claimed):
        claimed = after_claim([(hosts[4900], replace(hosts[4900], used={"VCPU": 1, "PCI": 1}))])
        assert claimed.class_column("VCPU").rows_with_free(8).bit_count() == 4999
        assert claimed.class_column("PCI").rows_with_free(1).bit_count() == 49
    claimed = index.claimed([(each, replace(each, used={"VCPU": 1})) for each in hosts[::50]])
    assert claimed.class_column("VCPU").rows_with_free(8).bit_count() == 4900
    assert claimed.class_column("PCI") is index.class_column("PCI")
