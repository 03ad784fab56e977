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


def _text_unchanged(text: str) -> str:
    return text


def _any_text(_: str) -> bool:
    return True


def _ratio_unchanged(ratio: float) -> float:
    return ratio


@value
class DatabaseSemantics:
    """Functions that reproduce the comparison and rounding of one database."""

    key: Callable[[str], str] = _text_unchanged
    """Return the same key for all texts that the database treats as equal."""
    can_store: Callable[[str], bool] = _any_text
    """Return whether the database can store this text."""
    ratio: Callable[[float], float] = _ratio_unchanged
    """Return the ratio as it is read back after it was written."""

    def inventory(self, inventory: Inventory, written_at: datetime) -> Inventory:
        """Return the inventory as it is read back after it was written at this time."""
        return replace(
            inventory, allocation_ratio=self.ratio(inventory.allocation_ratio), modified_at=written_at
        )


EXACT = DatabaseSemantics()
