# SPDX-License-Identifier: Apache-2.0

"""A stand-in for `Placement`, for handlers that do not use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from plimsoll.metrics import NO_METRICS
from plimsoll.service.placement import Placement, Settings

T = TypeVar("T")


class UnusedPlacement:
    settings = Settings()
    metrics = NO_METRICS

    def begin_read(self) -> None:
        return None

    def read(self, question: Callable[[Placement], T], begun: None = None) -> T:
        return question(cast(Placement, self))


UNUSED_PLACEMENT = cast(Placement, UnusedPlacement())
