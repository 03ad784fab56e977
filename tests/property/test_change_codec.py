# SPDX-License-Identifier: Apache-2.0

"""Effects of the change log can be encoded and decoded with any names."""

from datetime import datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain import effects as e
from plimsoll.domain.consumer import Account, Allocation, Consumer
from plimsoll.domain.inventory import MAX_INT, Inventory
from plimsoll.domain.provider import Provider
from plimsoll.ledger.change_codec import KINDS, decode, encode

# Any text that can be stored: the API rejects lone surrogates.
text = st.text(st.characters(exclude_categories=["Cs"]))
amount = st.integers(0, MAX_INT)
at = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1))
inventory = st.builds(
    Inventory, amount, amount, amount, amount, amount, st.floats(allow_nan=False, allow_infinity=False)
)
allocation = st.tuples(text, text, amount).map(lambda each: Allocation(*each))
account = st.none() | st.tuples(text, text, st.none() | text).map(lambda each: Account(*each))

stored_inventory = st.builds(
    Inventory, amount, amount, amount, amount, amount, st.floats(allow_nan=False, allow_infinity=False), at
)
provider = st.builds(
    Provider,
    id=amount,
    uuid=text,
    name=text,
    root=text,
    parent=st.none() | text,
    generation=amount,
    inventories=st.dictionaries(text, stored_inventory),
    used=st.just({}),
    traits=st.frozensets(text),
    aggregates=st.frozensets(text),
    modified_at=st.none() | at,
)

FIELDS = {
    "was": st.none() | provider,
    "was_at": st.none() | at,
    "was_id": st.none() | amount,
    "was_times": st.lists(st.none() | at).map(tuple),
    "was_inventory": st.none() | stored_inventory,
    "was_traits": st.none() | st.frozensets(text),
    "was_aggregates": st.none() | st.frozensets(text),
    "at": at,
    "id": amount,
    "generation": amount,
    "inventory": inventory,
    "before": st.lists(allocation).map(tuple),
    "after": st.lists(allocation).map(tuple),
    "account_before": account,
    "account_after": account,
    "traits": st.frozensets(text),
    "aggregates": st.frozensets(text),
    "subtree": st.lists(text).map(tuple),
    "parent": st.none() | text,
}


def effects_of(cls: type[e.Effect]) -> st.SearchStrategy[e.Effect]:
    fields: dict[str, st.SearchStrategy[Any]] = {
        name: FIELDS.get(name, text) for name in cls.__dataclass_fields__
    }
    if cls in (e.ConsumerAdded, e.ConsumerChanged):
        fields["consumer"] = st.builds(Consumer, text, text, text, st.none() | text, amount)
    return st.builds(cls, **fields)


@given(st.lists(st.one_of([effects_of(cls) for cls in KINDS.values()])))
def test_encoded_effects_decode_to_the_same_effects(effects: list[e.Effect]) -> None:
    assert decode(encode(effects)) == effects


def test_the_encoding_is_stable() -> None:
    claimed = e.AllocationsReplaced(
        "c", (), (Allocation("p", "VCPU", 1), Allocation("p", "DISK_GB", 2)), None, Account("q", "u", None)
    )
    traits_set = e.TraitsSet("p", frozenset(("B", "A", "C")))
    replaced_json = (
        '["allocations_replaced",{"consumer":"c","before":[],"after":[["p","VCPU",1],["p","DISK_GB",2]],'
        '"account_before":null,"account_after":["q","u",null]}]'
    )
    traits_json = '["traits_set",{"provider":"p","traits":["A","B","C"],"was_traits":null}]'
    assert encode([claimed]) == f"[{replaced_json}]"
    assert encode([claimed, traits_set]) == f"[{replaced_json},{traits_json}]"


def test_an_incomplete_line_of_an_earlier_release_decodes_to_a_reload() -> None:
    assert decode('[["allocations_replaced", {"consumer": "c", "before": [], "after": []}]]') == [e.Reload()]


LINES = {
    "provider_added": '{"uuid":"u","name":"n","parent":null,"root":"u","at":"2026-01-02T03:04:05","id":7}',
    "provider_renamed": '{"uuid":"u","name":"n","at":"2026-01-02T03:04:05","was_name":"m","was_at":"2026-01-01T00:00:00"}',
    "provider_moved": '{"uuid":"u","parent":"p","root":"p","subtree":["u"],"at":"2026-01-02T03:04:05",'
    '"was_parent":null,"was_root":"u","was_times":[null]}',
    "provider_removed": '{"uuid":"u","was":{"id":7,"uuid":"u","name":"n","root":"u","parent":null,"generation":3,'
    '"inventories":{"VCPU":{"total":8,"reserved":1,"min_unit":1,"max_unit":8,"step_size":1,"allocation_ratio":2.0,'
    '"modified_at":"2026-01-01T00:00:00"}},"used":{},"traits":["A"],"aggregates":["g"],"modified_at":null}}',
    "generation_raised": '{"provider":"u","generation":4,"at":"2026-01-02T03:04:05","was_at":"2026-01-01T00:00:00"}',
    "inventory_added": '{"provider":"u","resource_class":"VCPU","inventory":{"total":8,"reserved":1,"min_unit":1,"max_unit":8,'
    '"step_size":1,"allocation_ratio":2.0,"modified_at":null},"at":"2026-01-02T03:04:05"}',
    "inventory_changed": '{"provider":"u","resource_class":"VCPU","inventory":{"total":8,"reserved":1,"min_unit":1,"max_unit":8,'
    '"step_size":1,"allocation_ratio":2.0,"modified_at":null},"at":"2026-01-02T03:04:05","was_inventory":{"total":4,"reserved":0,'
    '"min_unit":1,"max_unit":4,"step_size":1,"allocation_ratio":1.0,"modified_at":"2026-01-01T00:00:00"}}',
    "inventory_removed": '{"provider":"u","resource_class":"VCPU","was_inventory":null}',
    "traits_set": '{"provider":"u","traits":["A","B"],"was_traits":["A"]}',
    "aggregates_set": '{"provider":"u","aggregates":["g"],"was_aggregates":[]}',
    "allocations_replaced": '{"consumer":"c","before":[["u","VCPU",1]],"after":[["u","VCPU",2]],'
    '"account_before":["p","q","INSTANCE"],"account_after":["p","q",null]}',
    "consumer_added": '{"consumer":{"uuid":"c","project":"p","user":"q","type":null,"generation":1},"at":"2026-01-02T03:04:05"}',
    "consumer_changed": '{"consumer":{"uuid":"c","project":"p","user":"q","type":null,"generation":2},"at":"2026-01-02T03:04:05"}',
    "consumer_removed": '{"uuid":"c"}',
    "class_added": '{"name":"CUSTOM_A","at":"2026-01-02T03:04:05","id":10000}',
    "class_renamed": '{"name":"CUSTOM_A","new_name":"CUSTOM_B","at":"2026-01-02T03:04:05","was_at":null}',
    "class_removed": '{"name":"CUSTOM_A","was_id":10000,"was_at":null}',
    "trait_added": '{"name":"CUSTOM_A","at":"2026-01-02T03:04:05","id":500}',
    "trait_removed": '{"name":"CUSTOM_A","was_id":500,"was_at":"2026-01-01T00:00:00"}',
    "consumer_type_added": '{"name":"INSTANCE","at":"2026-01-02T03:04:05","id":1}',
    "reload": "{}",
}
"""A line of each kind. It must not change: other processes and later releases read it."""


def test_there_is_a_line_of_every_kind() -> None:
    assert LINES.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_the_line_of_each_kind_is_read_and_written_without_a_change(kind: str) -> None:
    line = f'[["{kind}",{LINES[kind]}]]'
    (effect,) = decode(line)
    assert type(effect) is KINDS[kind]
    assert encode([effect]) == line


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_without_the_replaced_values_is_read(kind: str) -> None:
    """Earlier releases wrote such lines."""
    fields = {name: each for name, each in orjson.loads(LINES[kind]).items() if not name.startswith("was")}
    (effect,) = decode(orjson.dumps([[kind, fields]]).decode())
    assert type(effect) is KINDS[kind]


@pytest.mark.parametrize(
    "line", ['[["teleported",{"uuid":"u"}]]', '[["format",{"version":2}],["consumer_removed",{"uuid":"c"}]]']
)
def test_a_line_of_a_later_release_decodes_to_a_reload(line: str) -> None:
    assert decode(line) == [e.Reload()]


def test_a_line_may_name_its_version() -> None:
    assert decode('[["format",{"version":1}],["consumer_removed",{"uuid":"c"}]]') == [e.ConsumerRemoved("c")]


def test_a_reload_is_decoded() -> None:
    assert decode('[["reload"]]') == [e.Reload()]
