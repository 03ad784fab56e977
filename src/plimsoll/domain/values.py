# SPDX-License-Identifier: Apache-2.0

"""Value classes: immutable by convention, equal if their fields are equal.

mypy rejects assignments to a field, as for a frozen dataclass. There is no check at run time: a frozen dataclass calls
`object.__setattr__` for each field, which takes three times as long, and a claim makes dozens of values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Make a value class that can be hashed."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def unhashable_value(cls: type[T]) -> type[T]:
    """Make a value class that can be compared but not hashed, for classes with mappings as fields."""
    return dataclass(slots=True)(cls)


def with_fields(instance: T, **changes: Any) -> T:
    """Return a copy of a value with other fields. A third of the time of `dataclasses.replace`: each claim calls it often."""
    cls: Any = type(instance)
    copy: T = cls(*_fields_of(cls)(instance))
    for name, each in changes.items():
        setattr(copy, name, each)
    return copy


@lru_cache(maxsize=256)
def _fields_of(cls: type[Any]) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function that returns all fields of a value, of which there are at least two."""
    return attrgetter(*[each.name for each in fields(cls)])
