# SPDX-License-Identifier: Apache-2.0

"""How a database stores values, where databases differ: which texts it treats as equal, and the precision of a ratio.

Decisions use it, so that the world in memory always equals the data in the database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.values import value


@value
class DatabaseSemantics:
    """Functions that reproduce the comparison and rounding of one database."""

    key: Callable[[str], str] = lambda text: text
    """Return the same key for all texts that the database treats as equal."""
    can_store: Callable[[str], bool] = lambda _: True
    """Return whether the database can store this text."""
    ratio: Callable[[float], float] = lambda ratio: ratio
    """Return the ratio as it is read back after it was written."""

    def inventory(self, inventory: Inventory, written_at: datetime) -> Inventory:
        """Return the inventory as it is read back after it was written at this time."""
        return replace(
            inventory, allocation_ratio=self.ratio(inventory.allocation_ratio), modified_at=written_at
        )


EXACT = DatabaseSemantics()
