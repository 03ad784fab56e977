# SPDX-License-Identifier: Apache-2.0

"""Value classes: immutable by convention, equal if their fields are equal.

mypy rejects assignments to a field, as for a frozen dataclass. There is no check at run time: a frozen dataclass calls
`object.__setattr__` for each field, which takes three times as long, and a claim makes dozens of values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Make a value class that can be hashed."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def unhashable_value(cls: type[T]) -> type[T]:
    """Make a value class that can be compared but not hashed, for classes with mappings as fields."""
    return dataclass(slots=True)(cls)
