# SPDX-License-Identifier: Apache-2.0

"""Values: equal if their fields are, good as keys, and never assigned to."""

from __future__ import annotations

import pickle
from dataclasses import field, replace

import pytest

from plimsoll.domain.values import value


@value
class Named:
    name: str


@value
class Mark(Named):
    weight: int = 1
    seen: int = field(default=0, compare=False)


def test_values_are_equal_and_one_key_if_what_is_compared_of_them_is() -> None:
    assert Mark("a", 2, seen=1) == Mark("a", 2, seen=5)
    assert {Mark("a", 2, seen=1): "found"}[Mark("a", 2, seen=5)] == "found"
    assert Mark("a") != Mark("b")


def test_a_change_makes_another_value() -> None:
    first = Mark("a")
    assert replace(first, weight=3) == Mark("a", 3)
    assert first == Mark("a", 1)


def test_values_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Mark("a", 2))) == Mark("a", 2)


def test_mypy_reports_an_assignment() -> None:
    mark = Mark("a")
    # An ignore that ignores nothing is an error: `make types` fails here if mypy lets an assignment pass.
    mark.weight = 2  # type: ignore[misc]
    mark.name = "b"  # type: ignore[misc]


def test_a_value_has_nothing_but_its_fields() -> None:
    with pytest.raises(AttributeError):
        Mark("a").height = 3  # type: ignore[attr-defined]
