# SPDX-License-Identifier: Apache-2.0

"""Descriptions of schema violations: property first, short, and jsonschema validates a bounded part of the body."""

import json
import tracemalloc
import uuid
from typing import Any

import jsonschema.validators
import jsonschema_rs
import pytest
from jsonschema import FormatChecker

from plimsoll.api.placement.bodies import (
    aggregates,
    allocations,
    classes,
    inventories,
    providers,
    reshape,
    traits,
)
from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.microversion import HIGHEST, VERSIONS
from plimsoll.api.placement.queries.usages import usages_request
from plimsoll.http import schema_violations
from plimsoll.http.problems import Problem

A_FEW_HUNDRED = 700


def uuids(count: int) -> list[str]:
    return [str(uuid.UUID(int=number + 1)) for number in range(count)]


def refusal(body: Body, content: Any) -> str:
    with pytest.raises(Problem) as raised:
        body.read(json.dumps(content).encode(), HIGHEST)
    assert raised.value.status == 400
    return raised.value.detail


def consumer(**changes: Any) -> dict[str, Any]:
    return {
        "allocations": {uuids(1)[0]: {"resources": {"VCPU": 1}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    } | changes


@pytest.mark.parametrize(
    ("body", "content", "text"),
    [
        (
            inventories.CHANGE_INVENTORY,
            {"total": 0, "resource_provider_generation": 1},
            "total: JSON does not validate: 0 is less than the minimum of 1."
            " Failed validating 'minimum' in schema['properties']['total']",
        ),
        (
            allocations.ONE_CONSUMER,
            consumer(allocations={uuids(1)[0]: {"resources": {"VCPU": 0}}}),
            f"allocations.{uuids(1)[0]}.resources.VCPU: JSON does not validate: 0 is less than the minimum of 1.",
        ),
        (
            aggregates.AGGREGATES,
            {"aggregates": [*uuids(2), 7], "resource_provider_generation": 1},
            "aggregates[2]: JSON does not validate: 7 is not of type 'string'.",
        ),
        (
            providers.CREATE_PROVIDER,
            {"name": "x" * 300},
            f"name: JSON does not validate: '{'x' * 99}... (302 characters) is too long.",
        ),
        (providers.CREATE_PROVIDER, {}, "JSON does not validate: 'name' is a required property."),
        (
            classes.CLASS_NAME,
            {"name": "x"},
            "name: JSON does not validate: 'x' does not match '^CUSTOM_[A-Z0-9_]+$'.",
        ),
    ],
)
def test_a_refusal_names_the_property_first(body: Body, content: Any, text: str) -> None:
    assert refusal(body, content).startswith(text)


LARGE: list[tuple[str, Body, Any]] = [
    (
        "aggregates[1]: JSON does not validate: 1 is not of type 'string'",
        aggregates.AGGREGATES,
        {
            "aggregates": [number if number % 2 else each for number, each in enumerate(uuids(12_000))],
            "resource_provider_generation": 1,
        },
    ),
    (
        "aggregates: JSON does not validate: ['00000000-",
        aggregates.AGGREGATES,
        {"aggregates": uuids(12_000) + uuids(1), "resource_provider_generation": 1},
    ),
    (
        f"{uuids(1)[0]}.consumer_type: JSON does not validate: 'x' does not match '^[A-Z0-9_]+$'",
        allocations.SEVERAL_CONSUMERS,
        dict.fromkeys(uuids(40_000), consumer(consumer_type="x")),
    ),
    ("name: JSON does not validate: '<<<<", providers.CREATE_PROVIDER, {"name": "<" * 9_000_000}),
    (
        "JSON does not validate: Additional properties are not allowed (",
        providers.CREATE_PROVIDER,
        {"name": "x"} | dict.fromkeys(uuids(50_000), 1),
    ),
    (
        f"inventories.{uuids(1)[0]}: JSON does not validate: Additional properties are not allowed ('x' was unexp",
        reshape.RESHAPE,
        {
            "allocations": {},
            "inventories": {
                key: {"inventories": {}, "resource_provider_generation": 1, "x": 1} for key in uuids(9000)
            },
        },
    ),
    (
        "parent_provider_uuid: JSON does not validate: 'xxxxx",
        providers.CREATE_PROVIDER,
        {"name": "x", "parent_provider_uuid": "x" * 100_000},
    ),
    (
        "traits[9999]: JSON does not validate: ",
        traits.TRAITS,
        {"traits": [*["A"] * 9999, ""], "resource_provider_generation": 1},
    ),
]


@pytest.mark.parametrize(("begin", "body", "content"), LARGE)
def test_the_error_of_a_large_body_is_short_and_jsonschema_validates_one_value(
    begin: str, body: Body, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    validated = count_keywords(monkeypatch)
    text = refusal(body, content)
    assert text.startswith(begin)
    assert "Failed validating" in text
    assert len(text) < A_FEW_HUNDRED
    assert len(validated) < 10, "jsonschema has validated more than the value that violates the schema"


def test_the_error_of_many_unknown_members_takes_less_memory_than_they_do() -> None:
    content = {"name": "a"} | {f"x{number}": number for number in range(50_000)}
    schema = providers.CREATE_PROVIDER.schemas.at(HIGHEST)
    tracemalloc.start()
    try:
        found = schema.violation(content, 600_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found is not None
    assert found.sentence.startswith("Additional properties are not allowed ('x0', 'x1', 'x10', 'x100', ")
    assert peak < 2_000_000


def count_keywords(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which jsonschema adds each keyword that it applies: at least one for each value."""
    validated: list[str] = []

    def counted(keyword: str, check: Any) -> Any:
        def call(*args: Any) -> Any:
            validated.append(keyword)
            return check(*args)

        return call

    keywords = schema_violations._Validator.VALIDATORS
    for keyword, check in list(keywords.items()):
        monkeypatch.setitem(keywords, keyword, counted(keyword, check))
    return validated


def test_texts_are_compared_without_being_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = uuids(10_000)
    content = {"aggregates": [*listed, listed[-1]], "resource_provider_generation": 1}
    raw, encoded, encode = json.dumps(content).encode(), [], json.dumps

    def count(value: Any, **options: Any) -> str:
        encoded.append(value)
        return encode(value, **options)

    monkeypatch.setattr(json, "dumps", count)
    with pytest.raises(Problem, match="has non-unique elements"):
        aggregates.AGGREGATES.read(raw, HIGHEST)
    assert encoded == []


@pytest.mark.parametrize("kind", [str, float, bool, list, dict])
def test_equal_items_are_found_among_items_of_all_types(kind: type) -> None:
    others = [0, 1, "1", [1], {"a": [1]}, {"a": 1, "b": 2}, None, True, 2.5]
    equal = {str: "1", float: 1.0, bool: True, list: [1.0], dict: {"b": 2, "a": 1}}[kind]
    schema = {"uniqueItems": True}
    ours, theirs = schema_violations._Validator(schema), jsonschema.validators.Draft202012Validator(schema)
    for items in (others, [*others, equal], [equal, *others]):
        assert ours.is_valid(items) == theirs.is_valid(items) == (items is others)


@pytest.mark.parametrize("name", ["INSTANCE\n", "\n", "A\n\n"])
def test_a_name_that_ends_with_a_line_end_is_refused(name: str) -> None:
    assert "does not match" in refusal(allocations.ONE_CONSUMER, consumer(consumer_type=name))
    assert "does not match" in refusal(
        allocations.ONE_CONSUMER, consumer(allocations={uuids(1)[0]: {"resources": {name: 1}}})
    )
    assert "does not match" in refusal(inventories.ADD_INVENTORY, {"resource_class": name, "total": 1})
    with pytest.raises(Problem, match="does not match"):
        usages_request("project_id=p&consumer_type=INSTANCE%0A", HIGHEST)


@pytest.mark.parametrize("value", ["NaN", "Infinity"])
def test_a_large_body_with_a_number_that_is_not_finite_is_refused(value: str) -> None:
    many = ", ".join(f'"CUSTOM_{number}": {{"total": 1}}' for number in range(1000))
    body = f'{{"resource_provider_generation": 1, "inventories": {{{many}, "VCPU": {{"total": {value}}}}}}}'
    with pytest.raises(Problem, match="JSON does not validate"):
        inventories.REPLACE_INVENTORIES.read(body.encode(), VERSIONS[39])


def test_a_large_body_with_long_numbers_is_accepted() -> None:
    given = {"resource_provider_generation": -(10**25), "traits": ["A"] * 10_000}
    assert traits.TRAITS.read(json.dumps(given).encode(), HIGHEST) == given


@pytest.mark.parametrize("depth", [100, 500, 900, 1000, 1500])
def test_a_nested_body_is_refused_at_any_depth(depth: int) -> None:
    for nested in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        for raw in (nested, f'{{"aggregates": [{nested}, {nested}], "resource_provider_generation": 1}}'):
            with pytest.raises(Problem, match=r"JSON does not validate|nested too deeply"):
                aggregates.AGGREGATES.read(raw.encode(), HIGHEST)


def test_a_violation_outside_of_the_first_unknown_members_is_found() -> None:
    members = {"additionalProperties": False, "patternProperties": {"^known": {}}, "maxProperties": 200}
    decides = jsonschema_rs.Draft202012Validator({"maxProperties": 200}, mask="the value")
    describer = schema_violations.Describer(members, FormatChecker(), decides)
    many = {f"member {number}": number for number in range(1000)}
    steps: list[int] = []
    found = describer.violation(many, schema_violations.SMALL + 1, lambda: steps.append(1))
    assert found is not None
    assert "maxProperties" in found.sentence
    assert len(steps) == len(many), "other requests wait until all members are compared"
