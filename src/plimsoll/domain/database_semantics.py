# SPDX-License-Identifier: Apache-2.0

"""How the database keeps what it is given, where databases differ: which texts it takes for the same, and how
exactly it keeps a ratio. Decisions follow it, so that memory never knows anything better than the database.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.values import value


def _text_itself(text: str) -> str:
    return text


def _any_text(_: str) -> bool:
    return True


def _ratio_itself(ratio: float) -> float:
    return ratio


@value
class DatabaseSemantics:
    key: Callable[[str], str] = _text_itself
    """Two texts that the database takes for the same have the same key."""
    keeps: Callable[[str], bool] = _any_text
    """Whether it has a way to keep this text at all."""
    ratio: Callable[[float], float] = _ratio_itself
    """What is read back of a ratio that was written."""

    def inventory(self, inventory: Inventory, written_at: datetime) -> Inventory:
        """What is read back of an inventory that was written then."""
        return Inventory(
            inventory.total,
            inventory.reserved,
            inventory.min_unit,
            inventory.max_unit,
            inventory.step_size,
            self.ratio(inventory.allocation_ratio),
            written_at,
        )


EXACT = DatabaseSemantics()
