# SPDX-License-Identifier: Apache-2.0

"""Copies that are made field by field, for speed, have the same fields as with `replace`."""

from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from rpds import HashTrieMap

from plimsoll.domain.catalog import Catalog, CatalogEntry
from plimsoll.domain.consumer import Account, Allocation
from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import with_holding
from plimsoll.domain.world import World

NOW, LATER = datetime(2026, 1, 1), datetime(2026, 1, 2)

HOST = Provider(
    id=7,
    uuid="host",
    name="a host",
    root="root",
    parent="root",
    generation=3,
    inventories={"VCPU": Inventory(8)},
    used={"VCPU": 5},
    traits=frozenset({"CUSTOM_A"}),
    aggregates=frozenset({"agg"}),
    modified_at=NOW,
)


def every_field(thing: Provider | World | Inventory) -> dict[str, object]:
    return {field.name: getattr(thing, field.name) for field in fields(thing)}


def test_no_field_of_a_provider_is_left_out() -> None:
    plain = every_field(Provider(id=0, uuid="", name="", root=""))
    assert [name for name, value in every_field(HOST).items() if value == plain[name]] == []
    changes: dict[str, Any] = {
        "generation": 4,
        "inventories": {},
        "used": {"VCPU": 6},
        "traits": frozenset(),
        "aggregates": frozenset(),
        "modified_at": LATER,
    }
    for name, value in changes.items():
        assert every_field(HOST.changed(**{name: value})) == every_field(replace(HOST, **{name: value}))
    assert every_field(HOST.changed(**changes)) == every_field(replace(HOST, **changes))


def test_no_field_of_an_inventory_is_left_out() -> None:
    given = Inventory(8, 1, 2, 4, 2, 1.6)
    plain = every_field(Inventory(0))
    assert [name for name, value in every_field(given).items() if value == plain[name]] == ["modified_at"]
    stored = DatabaseSemantics(ratio=round).inventory(given, LATER)
    assert every_field(stored) == every_field(replace(given, allocation_ratio=2, modified_at=LATER))


def test_no_field_of_a_world_is_left_out() -> None:
    classes, traits, types = [
        Catalog([CatalogEntry(number, f"CUSTOM_{number}", NOW)]) for number in (1, 2, 3)
    ]
    usages = with_holding(HashTrieMap(), str, Account("red", "ann", None), (Allocation("host", "VCPU", 5),))
    world = World.of([HOST], classes, traits, types, DatabaseSemantics(ratio=round), usages)
    plain = every_field(World())
    assert [name for name, value in every_field(world).items() if value == plain[name]] == []
    changed = HOST.changed(used={})
    expected = replace(world, providers=world.providers.insert("host", changed))
    assert every_field(world.with_provider(changed)) == every_field(expected)
    claimed = world.with_claims(world.providers, HashTrieMap())
    assert every_field(claimed) == every_field(replace(world, usages=HashTrieMap()))
