# SPDX-License-Identifier: Apache-2.0

"""Descriptions of changes: several effects on one provider, and lines of earlier releases."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.domain.change_description import ChangedEntity, ChangeDescription, NameChange, Named, describe
from plimsoll.domain.database_semantics import EXACT
from plimsoll.ledger.change_codec import KINDS, decode

AT = '"2026-11-18T12:00:00"'
INVENTORY = '{"total":%d,"reserved":0,"min_unit":1,"max_unit":9,"step_size":1,"allocation_ratio":1.0,"modified_at":null}'


def described(text: str) -> ChangeDescription:
    return describe(decode(text), EXACT)


def provider(text: str) -> tuple[Any, Any]:
    (changed,) = described(text).providers.values()
    assert isinstance(changed, ChangedEntity)
    return changed.before, changed.after


def inventory(kind: str, total: int, was: int | None = None) -> str:
    replaced = "" if was is None else f',"was_inventory":{INVENTORY % was}'
    written = "" if kind == "inventory_removed" else f',"inventory":{INVENTORY % total},"at":{AT}'
    return f'["{kind}",{{"provider":"h","resource_class":"VCPU"{written}{replaced}}}]'


def test_several_effects_on_one_provider_are_one_entry_with_the_first_before_and_the_last_after() -> None:
    raised = [
        f'["generation_raised",{{"provider":"h","generation":{number},"at":{AT}}}]' for number in (4, 5)
    ]
    before, after = provider(f"[{inventory('inventory_changed', 7, 3)},{','.join(raised)}]")
    assert (before["generation"], after["generation"]) == (3, 5)
    assert (before["inventories"]["VCPU"].total, after["inventories"]["VCPU"].total) == (3, 7)


def test_what_is_the_same_before_and_after_is_left_out() -> None:
    assert described(f"[{inventory('inventory_changed', 3, 3)}]").providers == {}


def test_an_earlier_release_has_not_written_what_was_before() -> None:
    before, after = provider(f"[{inventory('inventory_changed', 7)}]")
    assert "inventories" not in before
    assert after["inventories"]["VCPU"].total == 7
    before, after = provider('[["traits_set",{"provider":"h","traits":["CUSTOM_X"]}]]')
    assert (before, after) == ({}, {"traits": frozenset({"CUSTOM_X"})})


def test_an_inventory_that_is_added_was_not_there() -> None:
    before, after = provider(f"[{inventory('inventory_added', 7)}]")
    assert before["inventories"] == {"VCPU": None}
    before, after = provider(f"[{inventory('inventory_removed', 0, 7)}]")
    assert (before["inventories"]["VCPU"].total, after["inventories"]) == (7, {"VCPU": None})


def test_a_consumer_in_two_lines_of_one_write_has_a_part_in_each() -> None:
    first = described(
        '[["allocations_replaced",{"consumer":"c","before":[],"after":[["h","VCPU",1]],'
        '"account_before":null,"account_after":["p","u",null]}]]'
    ).consumers["c"]
    second = described(
        f'[["consumer_added",{{"consumer":{{"uuid":"c","project":"p","user":"u","type":null,"generation":1}},"at":{AT}}}]]'
    ).consumers["c"]
    assert first.before is None
    assert second.before is None
    assert {**(first.after or {}), **(second.after or {})}.keys() == {
        *("project", "user", "type", "allocations", "generation")
    }


def test_a_renamed_class_has_both_names() -> None:
    found = described(f'[["class_renamed",{{"name":"CUSTOM_A","new_name":"CUSTOM_B","at":{AT}}}]]')
    assert found.names == (NameChange(Named.RESOURCE_CLASS, "CUSTOM_A", "CUSTOM_B"),)


@pytest.mark.parametrize(
    "text",
    ['[["reload"]]', '[["format",{"version":2}]]', '[["of_a_later_release",{}]]', '[["traits_set",{}]]'],
)
def test_a_line_that_cannot_be_read_is_a_reload(text: str) -> None:
    assert described(text) == ChangeDescription({}, {}, (), is_reload=True)


def test_every_kind_of_effect_can_be_described() -> None:
    from plimsoll.domain.change_description import _DESCRIBE
    from plimsoll.domain.effects import Reload

    assert {*_DESCRIBE, Reload} == {*KINDS.values()}
