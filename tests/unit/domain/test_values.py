# SPDX-License-Identifier: Apache-2.0

"""Values: equal if their compared fields are equal, hashable, and never assigned to."""

from __future__ import annotations

import pickle
from dataclasses import field, replace

import pytest

from plimsoll.domain.values import value, with_fields


@value
class Named:
    name: str


@value
class Sample(Named):
    weight: int = 1
    uncompared: int = field(default=0, compare=False)


def test_values_with_equal_compared_fields_are_equal_and_hash_alike() -> None:
    assert Sample("a", 2, uncompared=1) == Sample("a", 2, uncompared=5)
    assert {Sample("a", 2, uncompared=1): "found"}[Sample("a", 2, uncompared=5)] == "found"
    assert Sample("a") != Sample("b")


def test_a_change_makes_another_value() -> None:
    first = Sample("a")
    assert replace(first, weight=3) == Sample("a", 3)
    assert first == Sample("a", 1)


def test_with_fields_does_the_same_as_replace() -> None:
    first = Sample("a", 2, uncompared=7)
    changed = with_fields(first, weight=3)
    assert (changed.name, changed.weight, changed.uncompared) == ("a", 3, 7)
    assert first.weight == 2
    with pytest.raises(AttributeError):
        with_fields(first, unknown=1)


def test_values_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Sample("a", 2))) == Sample("a", 2)


def test_mypy_reports_an_assignment() -> None:
    sample = Sample("a")
    # An unused ignore is an error: `make types` fails here if mypy accepts an assignment.
    sample.weight = 2  # type: ignore[misc]
    sample.name = "b"  # type: ignore[misc]


def test_a_value_has_no_attributes_besides_its_fields() -> None:
    with pytest.raises(AttributeError):
        Sample("a").height = 3  # type: ignore[attr-defined]
