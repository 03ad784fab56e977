# SPDX-License-Identifier: Apache-2.0

"""Query strings: which of several values is used, and which query strings are cached."""

from collections.abc import Sequence
from typing import Any

import pytest

from plimsoll.api.placement.microversion import HIGHEST, VERSIONS, Version
from plimsoll.api.placement.queries import conditions
from plimsoll.api.placement.queries.candidates import candidates_request
from plimsoll.api.placement.queries.providers import providers_request
from plimsoll.api.placement.queries.query import Query, QueryParser, parse_query
from plimsoll.domain.inventory import MAX_INT
from plimsoll.http.problems import Problem

A = "11111111-1111-1111-1111-111111111111"
B = "33333333-3333-3333-3333-333333333333"


def test_parameters_are_separated_by_ampersands_and_semicolons() -> None:
    assert parse_query("a=1&b=2;a=3&c&d=x+y%20z&&").pairs == (
        *(("a", "1"), ("b", "2"), ("a", "3")),
        *(("c", ""), ("d", "x y z")),
    )


def test_the_last_or_all_values_of_a_parameter_can_be_read() -> None:
    query = parse_query("a=1&b=2&a=3")
    assert query.last("a") == "3"
    assert query.all("a") == ["1", "3"]
    assert query.last("c") is None
    assert "b" in query
    assert "c" not in query


@pytest.mark.parametrize("text", ["a=%ff", "%ff=a", "a=\xff", "a=\u2603"])
def test_a_query_string_that_is_not_utf_8_is_refused(text: str) -> None:
    with pytest.raises(Problem, match="Invalid query string parameters"):
        parse_query(text)


def test_a_query_string_is_parsed_once_for_each_version() -> None:
    parsed: list[Version] = []
    parser = QueryParser({}, lambda _, version: parsed.append(version))
    for _ in range(3):
        parser("a=1", HIGHEST)
    parser("a=1", VERSIONS[0])
    assert parsed == [HIGHEST, VERSIONS[0]]


def test_a_very_long_query_string_is_not_cached() -> None:
    parsed: list[Query] = []
    parser = QueryParser({}, lambda query, _: parsed.append(query))
    for _ in range(2):
        parser("a=" + "x" * 10_000, HIGHEST)
    assert len(parsed) == 2


@pytest.mark.parametrize("name", ["required", "member_of"])
def test_the_values_of_a_repeated_parameter_are_read_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    reading = {"required": conditions.required, "member_of": conditions.member_of}[name]

    def counted(values: Sequence[str], *further: Any) -> Any:
        read.append(len(values))
        return reading(values, *further)

    monkeypatch.setattr(conditions, name, counted)
    value = {"required": "A", "member_of": A}[name]
    candidates_request("resources=VCPU:1" + f"&{name}={value}" * 100, HIGHEST)
    assert read == [100]


def test_an_empty_name_is_no_condition() -> None:
    assert providers_request("name=", HIGHEST).name is None


def test_repeated_required_parameters_are_combined_since_any_traits() -> None:
    text = "required=CUSTOM_A&required=in:CUSTOM_B,CUSTOM_C&required=!CUSTOM_D"
    conditions = providers_request(text, HIGHEST).conditions
    assert conditions.required == (frozenset({"CUSTOM_A"}), frozenset({"CUSTOM_B", "CUSTOM_C"}))
    assert conditions.forbidden == {"CUSTOM_D"}


def test_before_any_traits_the_last_required_parameter_is_used() -> None:
    conditions = providers_request("required=CUSTOM_A&required=CUSTOM_B", VERSIONS[38]).conditions
    assert conditions.required == (frozenset({"CUSTOM_B"}),)


def test_repeated_member_of_parameters_are_all_required() -> None:
    conditions = providers_request(f"member_of={A}&member_of=in:{A},{B}&member_of=!{B}", HIGHEST).conditions
    assert conditions.member_of == (frozenset({A}), frozenset({A, B}))
    assert conditions.not_member_of == {B}


def test_amounts_above_any_inventory_are_replaced_by_one_amount() -> None:
    assert providers_request(f"resources=VCPU:{10**30}", HIGHEST).resources == {"VCPU": MAX_INT + 1}


def test_groups_keep_the_order_of_the_query_string() -> None:
    text = "required_B=CUSTOM_A&resources=VCPU:1&resources_A=VCPU:2&resources_B=VCPU:3&group_policy=none"
    assert [group.suffix for group in candidates_request(text, HIGHEST).groups] == ["_B", "", "_A"]


def test_the_first_of_several_limits_is_used() -> None:
    assert candidates_request("resources=VCPU:1&limit=5&limit=7", HIGHEST).limit == 5


def test_a_first_limit_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(Problem, match="limit must be 1 or more"):
        candidates_request("resources=VCPU:1&limit=-1&limit=7", HIGHEST)


@pytest.mark.parametrize(("minor", "nested"), [(28, False), (29, True)])
def test_old_clients_get_no_nested_candidates(minor: int, nested: bool) -> None:
    assert candidates_request("resources=VCPU:1", VERSIONS[minor]).nested is nested


def test_an_error_names_the_version_that_added_a_format() -> None:
    with pytest.raises(Problem, match=r"only supported since microversion 1\.39"):
        candidates_request("resources=VCPU:1&required=in:CUSTOM_A,CUSTOM_B", VERSIONS[38])


@pytest.mark.parametrize("version", [VERSIONS[35], VERSIONS[38], HIGHEST])
def test_root_required_supports_any_of_several_traits_at_no_version(version: Version) -> None:
    with pytest.raises(Problem) as raised:
        candidates_request("resources=VCPU:1&root_required=in:A,B", version)
    assert (
        "'root_required' does not support the format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' at any"
        in raised.value.detail
    )
