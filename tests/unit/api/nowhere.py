# SPDX-License-Identifier: Apache-2.0

"""A placement for handlers that look at none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from plimsoll.service.placement import Placement

T = TypeVar("T")


class Nowhere:
    def seeing(self, *, ahead: bool = False) -> Nowhere:
        return self

    def read(self, question: Callable[[Placement], T]) -> T:
        return question(cast(Placement, self))


NOWHERE = cast(Placement, Nowhere())
