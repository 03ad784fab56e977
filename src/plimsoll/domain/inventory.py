# SPDX-License-Identifier: Apache-2.0

"""What a provider has of one resource class, and the one rule of what still fits.

Everything that checks capacity, the search's columns included, is tested against `Inventory.admits`.
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime

from plimsoll.domain.values import value

MAX_INT = 0x7FFFFFFF
"""The largest amount a column of the schema can hold."""


@value
class Inventory:
    """A quantity of one resource class, and how it may be cut into pieces."""

    total: int
    reserved: int = 0
    min_unit: int = 1
    max_unit: int = MAX_INT
    step_size: int = 1
    allocation_ratio: float = 1.0
    modified_at: datetime | None = field(default=None, compare=False)

    @property
    def capacity(self) -> int:
        """How much may be used in all: the line that no load may sink."""
        return int((self.total - self.reserved) * self.allocation_ratio)

    def cuts(self, amount: int) -> bool:
        """Whether one piece may have this size."""
        return self.min_unit <= amount <= self.max_unit and amount % self.step_size == 0

    def admits(self, amount: int, used: int) -> bool:
        """Whether a piece of this size fits beside what is used already."""
        return self.cuts(amount) and used + amount <= self.capacity
