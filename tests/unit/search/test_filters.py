# SPDX-License-Identifier: Apache-2.0

"""Each step removes what it should, and says how many and why."""

from plimsoll.domain.inventory import Inventory
from plimsoll.search import filters
from plimsoll.search.filters import Filter, Reason, Tally, narrow
from plimsoll.search.index.bitset import numbers_of
from plimsoll.search.index.index import Index
from tests.unit.search.clouds import host, uuids

INDEX = Index.build(
    [
        host("a", "VCPU:8", traits="FAST RED", aggs="x"),
        host("b", "VCPU:8", traits="BIG", aggs="y", used="VCPU:7"),
        host("c", traits="FAST", aggs="x y", inventories={"VCPU": Inventory(8, max_unit=1)}),
        host("d", "DISK_GB:8"),
        host("d1", parent="d", aggs="x"),
    ]
)


def kept(step: Filter) -> str:
    rows = narrow(INDEX, INDEX.live, [step])
    return "".join(f"{p.uuid} " for p in INDEX.providers(numbers_of(rows, INDEX.size).tolist())).strip()


def test_one_of_several_traits_is_enough() -> None:
    assert kept(filters.HasTrait(frozenset(["RED", "BIG"]))) == "a b"
    assert kept(filters.HasTrait(frozenset(["UNHEARD_OF"]))) == ""


def test_one_forbidden_trait_is_too_many() -> None:
    assert kept(filters.LacksTraits(frozenset(["RED", "BIG"]))) == "c d d1"


def test_every_item_of_member_of_has_to_hold() -> None:
    assert kept(filters.MemberOf((frozenset(["x", "y"]),))) == "a b c d1"
    assert kept(filters.MemberOf((frozenset(["x"]), frozenset(["y"])))) == "c"


def test_a_root_in_an_aggregate_speaks_for_its_tree_but_a_child_does_not() -> None:
    index = Index.build(
        [host("r", aggs="x"), host("r1", parent="r"), host("s"), host("s1", parent="s", aggs="x")]
    )
    for step, expected in (
        (filters.MemberOf((frozenset(["x"]),), tree=True), ["r", "r1", "s1"]),
        (filters.NotMemberOf(frozenset(["x"]), tree=True), ["s"]),
        (filters.NotMemberOf(frozenset(["x"])), ["r1", "s"]),
    ):
        rows = step.keep(index, index.live)
        assert uuids(index.providers(numbers_of(rows, index.size).tolist())) == expected


def test_inventory_units_and_capacity_are_told_apart() -> None:
    tally: Tally = []
    rows = narrow(INDEX, INDEX.live, [filters.Admits("VCPU", 2)], tally)
    assert numbers_of(rows, INDEX.size).tolist() == [INDEX.row("a")]
    assert rows == narrow(INDEX, INDEX.live, [filters.Admits("VCPU", 2)])
    assert [(loss.step.reason, loss.removed) for loss in tally] == [
        (Reason.NO_INVENTORY, 2),
        (Reason.UNITS, 1),
        (Reason.CAPACITY, 1),
    ]


def test_a_tally_goes_on_where_nobody_is_left() -> None:
    tally: Tally = []
    nobody = filters.HasTrait(frozenset(["UNHEARD_OF"]))
    assert narrow(INDEX, INDEX.live, [nobody, filters.HasTrait(frozenset(["FAST"]))], tally) == 0
    assert [(loss.before, loss.after) for loss in tally] == [(5, 0), (0, 0)]
