# SPDX-License-Identifier: Apache-2.0

"""Values: small classes whose instances never change and are equal if their fields are.

mypy holds that nobody assigns to a field, as with a frozen dataclass. Nothing does at run time, for that would make every
field of every new one a call: claims make dozens of values, and it takes three times as long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Makes a dataclass of values."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def unhashable_value(cls: type[T]) -> type[T]:
    """Make a dataclass of values of which some fields are mappings: they can be compared, and not hashed."""
    return dataclass(slots=True)(cls)
