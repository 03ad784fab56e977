# SPDX-License-Identifier: Apache-2.0

"""The head query is prefetched for reads from memory, and for no others."""

from __future__ import annotations

from typing import Any, cast

import pytest

from plimsoll.api.placement.prefetch import Prefetch, find_place, placement_for_read
from plimsoll.api.placement.router import Router
from plimsoll.api.placement.routes import ROUTES
from plimsoll.service.placement import Placement

UUID = "11111111-1111-1111-1111-111111111111"


class CountingPlacement:
    """A stand-in for the service that counts prefetches; its results show whether they were prefetched."""

    def __init__(self) -> None:
        self.times = 0

    def for_reading(self, *, prefetch: bool = False) -> str:
        self.times += prefetch
        return "prefetch" if prefetch else "now"


def make_prefetch(placement: CountingPlacement) -> Prefetch:
    def app(environ: dict[str, Any], _: Any) -> list[bytes]:
        return [str(placement_for_read(environ, cast(Placement, placement))).encode()]

    return Prefetch(app, cast(Placement, placement), Router(ROUTES), "/placement")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"/resource_providers/{UUID}", "prefetch"),
        ("/allocation_candidates", "prefetch"),
        (f"/allocations/{UUID}", "now"),  # read from SQL
        ("/nowhere", "now"),
    ],
)
def test_only_reads_from_memory_are_prefetched(path: str, expected: str) -> None:
    placement = CountingPlacement()
    prefetch = make_prefetch(placement)
    environ: dict[str, Any] = {"REQUEST_METHOD": "GET", "PATH_INFO": path}
    assert b"".join(prefetch(environ, lambda *_: None)).decode() == expected  # type: ignore[arg-type]
    additions = prefetch.start_for_target(f"/placement{path}?a=b")
    assert placement.times == 2 * (expected == "prefetch")
    again = {"REQUEST_METHOD": "GET", "PATH_INFO": path, **additions}
    assert b"".join(prefetch(again, lambda *_: None)).decode() == expected  # type: ignore[arg-type]
    assert placement.times == 2 * (expected == "prefetch"), "the prefetch of the server was repeated"


def test_a_prefetched_place_is_used_once_and_only_for_its_own_path() -> None:
    router = Router(ROUTES)
    prefetch = Prefetch(lambda *_: [], cast(Placement, CountingPlacement()), router, "")
    additions = prefetch.start_for_target(f"/allocations/{UUID}?a=b")
    looked_up = find_place({"PATH_INFO": f"/allocations/{UUID}", **additions}, router)
    assert looked_up is find_place({"PATH_INFO": f"/allocations/{UUID}", **additions}, router)
    assert looked_up is not None
    assert looked_up[1] == {"consumer_uuid": UUID}
    other = find_place({"PATH_INFO": "/traits", **additions}, router)
    assert other is not None
    assert other[0].path == "/traits"
    assert find_place({"PATH_INFO": "/nowhere", **prefetch.start_for_target("/traits")}, router) is None


def test_writes_are_not_prefetched() -> None:
    placement = CountingPlacement()
    environ = {"REQUEST_METHOD": "PUT", "PATH_INFO": f"/resource_providers/{UUID}"}
    make_prefetch(placement)(environ, lambda *_: None)  # type: ignore[arg-type]
    assert placement.times == 0
