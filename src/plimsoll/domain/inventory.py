# SPDX-License-Identifier: Apache-2.0

"""The inventory of one resource class of a provider, and the capacity rule.

Claims call `Inventory.admits`. The columns and the combination of the search, and the SQL check of `db verify`, have
forms of their own, which are tested against it.
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from operator import attrgetter

from plimsoll.domain.values import value

FIGURES = ("total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio")
"""The fields of an inventory that clients write, in the order of the parameters of `Inventory`."""
_values_of = attrgetter(*FIGURES)

MAX_INT = 0x7FFFFFFF
"""The largest amount that an SQL integer column can hold."""


@value
class Inventory:
    """The total of one resource class, and the amounts in which it may be allocated."""

    total: int
    reserved: int = 0
    min_unit: int = 1
    max_unit: int = MAX_INT
    step_size: int = 1
    allocation_ratio: float = 1.0
    modified_at: datetime | None = field(default=None, compare=False)

    @property
    def capacity(self) -> int:
        """The maximum of the sum of all allocations."""
        return int((self.total - self.reserved) * self.allocation_ratio)

    def figures(self) -> dict[str, int | float]:
        """Return the values of FIGURES by name."""
        return dict(zip(FIGURES, _values_of(self), strict=True))

    def allows_amount(self, amount: int) -> bool:
        """Return whether min_unit, max_unit and step_size allow an allocation of this amount."""
        return self.min_unit <= amount <= self.max_unit and amount % self.step_size == 0

    def admits(self, amount: int, used: int) -> bool:
        """Return whether an allocation of this amount is allowed and fits in addition to `used`."""
        return self.allows_amount(amount) and used + amount <= self.capacity

    def free(self, used: int) -> int:
        """Return the amount that is left beside `used`; 0 if the inventory is over-full."""
        return self.amounts(used)[1]

    def largest(self, used: int) -> int:
        """Return the largest amount that `admits` accepts beside `used`; 0 if there is none."""
        return self.amounts(used)[2]

    def amounts(self, used: int) -> tuple[int, int, int]:
        """Return `capacity`, `free` and `largest`: computed at once, because lists of providers show all of them."""
        capacity = self.capacity
        left = capacity - used
        if left <= 0:
            return capacity, 0, 0
        amount = left if left < self.max_unit else self.max_unit
        amount -= amount % self.step_size
        return capacity, left, amount if amount >= self.min_unit else 0
