# SPDX-License-Identifier: Apache-2.0

"""An index after any changes equals one built from the result, and earlier indexes are unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import SHARING_TRAIT, Provider
from plimsoll.search.index import blocks, class_columns, table
from plimsoll.search.index import index as index_module
from plimsoll.search.index.bitset import numbers_of
from plimsoll.search.index.index import Index, ProviderChange, UsageChange
from tests.property.search.clouds import AGGREGATES, CLASSES, TRAITS

few = st.integers(1, 3)
plain = st.builds(Inventory, st.integers(1, 6))
odd = st.builds(
    Inventory, st.integers(1, 6), st.integers(0, 1), few, few, few, st.sampled_from([1.0, 0.5, 1.5])
)
inventories = st.dictionaries(st.sampled_from(CLASSES), st.one_of(plain, odd))
traits = st.frozensets(st.sampled_from(TRAITS))
aggregates = st.frozensets(st.sampled_from(AGGREGATES))


def used(inventories: dict[str, Inventory]) -> st.SearchStrategy[dict[str, int]]:
    names = st.sampled_from(sorted(inventories)) if inventories else st.nothing()
    return st.dictionaries(names, few)


@pytest.fixture(autouse=True, params=[0, 3, 9], ids=["dense", "mixed", "sparse"], scope="module")
def small_blocks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Use blocks of four rows, so that ten providers fill several, in dense and sparse form."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("BLOCK_BITS", 2), ("BLOCK", 4), ("SPARSE", request.param)):
            patch.setattr(blocks, name, value)
        patch.setattr(index_module, "_MAX_VACANT", 4)
        patch.setattr(class_columns, "_MAX_CHANGED", 2)
        patch.setattr(table, "CHUNK_BITS", 2)
        patch.setattr(table, "CHUNK", 4)
        yield


def contents_of(index: Index) -> dict[str, object]:
    """Return the contents of an index by uuid, independent of row numbers."""
    providers = {p.uuid: p for p in index.providers(numbers_of(index.live, index.size).tolist())}

    def names(rows: int) -> frozenset[str]:
        return frozenset(index.provider(row).uuid for row in numbers_of(rows, index.size).tolist())

    stocks = {}
    for name in CLASSES:
        of_class = index.class_column(name)
        for amount in range(1, 7):
            admitting = of_class.rows & of_class.rows_allowing(amount) & of_class.rows_with_free(amount)
            stocks[name, amount] = names(admitting)
        stocks[name, 0] = names(of_class.rows)
    parents = index.parent_by_row()
    return {
        "providers": providers,
        "traits": {trait: names(index.with_trait(trait)) for trait in [*TRAITS, SHARING_TRAIT]},
        "aggregates": {aggregate: names(index.in_aggregate(aggregate)) for aggregate in AGGREGATES},
        "children": names(index.children),
        "uuids": {uuid: index.uuids.value(index.row(uuid)) for uuid in providers},
        "trees": {
            p.uuid: names(index.rows_of_trees(1 << index.row(p.uuid)))
            for p in providers.values()
            if p.parent is None
        },
        "roots": {uuid: names(index.roots_of(1 << index.row(uuid))) for uuid in providers},
        "parents": {uuid: parents[index.row(uuid)] >= 0 for uuid in providers},
        "anchors": {
            uuid: names(index.anchors(index.row(uuid)))
            for uuid, p in providers.items()
            if SHARING_TRAIT in p.traits
        },
        "stocks": stocks,
        "rooms": {
            (uuid, name): index.class_column(name).room(index.row(uuid))
            for uuid, p in providers.items()
            for name in p.inventories
        },
    }


def expected(providers: dict[str, Provider]) -> dict[str, object]:
    """Return the same contents, computed from the providers."""
    known = list(providers.values())
    return {
        "providers": providers,
        "traits": {t: frozenset(p.uuid for p in known if t in p.traits) for t in [*TRAITS, SHARING_TRAIT]},
        "aggregates": {a: frozenset(p.uuid for p in known if a in p.aggregates) for a in AGGREGATES},
        "children": frozenset(p.uuid for p in known if p.parent is not None),
        "uuids": {p.uuid: p.uuid for p in known},
        "trees": {
            p.uuid: frozenset(q.uuid for q in known if q.root == p.uuid) for p in known if p.parent is None
        },
        "roots": {p.uuid: frozenset([p.root]) for p in known},
        "parents": {p.uuid: p.parent is not None for p in known},
        "anchors": {
            p.uuid: frozenset(q.root for q in known if p.aggregates & q.aggregates)
            for p in known
            if SHARING_TRAIT in p.traits
        },
        "stocks": {
            (name, amount): frozenset(
                p.uuid
                for p in known
                if name in p.inventories
                and (amount == 0 or p.inventories[name].admits(amount, p.used_of(name)))
            )
            for name in CLASSES
            for amount in range(7)
        },
        "rooms": {
            (p.uuid, name): min(inventory.capacity - p.used_of(name), inventory.max_unit)
            for p in known
            for name, inventory in p.inventories.items()
        },
    }


@st.composite
def change(draw: st.DrawFn, known: dict[str, Provider], number: int) -> list[ProviderChange]:
    """The changes of one command."""
    kind = draw(st.sampled_from(["create", "claim", "claim", "inventory", "mark", "move", "remove"]))
    leaves = sorted(known.keys() - {p.parent for p in known.values()})
    if kind == "create" or not known:
        parent = draw(st.sampled_from([None, *sorted(known)]))
        root = known[parent].root if parent else f"p{number}"
        has = draw(inventories)
        created = Provider(
            number, f"p{number}", f"p{number}", root, parent, inventories=has, used=draw(used(has))
        )
        return [(None, created)]
    before = known[draw(st.sampled_from(sorted(known)))]
    if kind == "claim":
        return [(before, replace(before, used=draw(used(dict(before.inventories)))))]
    if kind == "inventory":
        has = draw(inventories)
        kept = {name: amount for name, amount in before.used.items() if name in has}
        return [(before, replace(before, inventories=has, used=kept))]
    if kind == "mark":
        shares = draw(st.sampled_from([frozenset(), frozenset([SHARING_TRAIT])]))
        return [(before, replace(before, traits=draw(traits) | shares, aggregates=draw(aggregates)))]
    if kind == "remove":
        return [(known[draw(st.sampled_from(leaves))], None)]
    moved = known[draw(st.sampled_from(leaves))]
    parent = draw(st.sampled_from([None, *sorted(known.keys() - {moved.uuid})]))
    root = known[parent].root if parent else moved.uuid
    return [(moved, replace(moved, parent=parent, root=root))]


@st.composite
def claims_of(draw: st.DrawFn, known: dict[str, Provider]) -> list[UsageChange]:
    """Claims on some of these providers, at most one per provider."""
    at = draw(st.sets(st.sampled_from(sorted(known)))) if known else ()
    return [
        (known[uuid], replace(known[uuid], used=draw(used(dict(known[uuid].inventories))))) for uuid in at
    ]


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_an_updated_index_equals_a_rebuilt_one(data: st.DataObject) -> None:
    known: dict[str, Provider] = {}
    index, published = Index(), []
    for number in range(1, data.draw(st.integers(1, 12)) + 1):
        changes: list[ProviderChange] = []
        for _ in range(data.draw(st.integers(1, 3))):
            for before, after in data.draw(change(known, number * 10 + len(changes))):
                changes.append((before, after))
                known = {uuid: p for uuid, p in known.items() if before is None or uuid != before.uuid}
                if after is not None:
                    known[after.uuid] = after
        index = index.updated(changes)
        published.append((index, known))
        claims = data.draw(claims_of(known))
        known = known | {after.uuid: after for _, after in claims}
        index = index.claimed(claims)
        published.append((index, known))
    for at, providers in published:
        assert contents_of(at) == expected(providers)
    assert contents_of(Index.build(known.values())) == expected(known)
