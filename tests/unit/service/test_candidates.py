# SPDX-License-Identifier: Apache-2.0

"""The response cache of searches: used by default, skipped if responses differ or if it is switched off."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from plimsoll.fast_paths import FastPaths
from plimsoll.ledger.response_cache import ResponseCache
from plimsoll.service.candidates import cached
from plimsoll.service.placement import Placement, Settings


@pytest.mark.parametrize(
    ("settings", "computed"),
    [
        (Settings(), 1),
        (Settings(shuffle=True), 2),
        (Settings(fast_paths=FastPaths.without(["response_cache"])), 2),
    ],
)
def test_an_equal_search_is_computed_once_with_the_cache(settings: Settings, computed: int) -> None:
    snapshot = SimpleNamespace(responses=ResponseCache())
    placement = cast(Placement, SimpleNamespace(settings=settings, snapshot=lambda: snapshot))
    calls: list[int] = []

    def compute() -> tuple[bytes, bool]:
        calls.append(1)
        return b"{}", True

    assert [cached(placement, "resources=VCPU:1", "1.39", compute) for _ in range(2)] == [b"{}", b"{}"]
    assert len(calls) == computed
