# SPDX-License-Identifier: Apache-2.0

"""For which reads the database is asked ahead."""

from __future__ import annotations

from typing import Any, cast

import pytest

from plimsoll.api.placement.prefetch import Prefetch, found_at, seeing
from plimsoll.api.placement.router import Router
from plimsoll.api.placement.routes import ROUTES
from plimsoll.service.placement import Placement

UUID = "11111111-1111-1111-1111-111111111111"


class Asked:
    """In place of a service: what it gives shows that it was asked ahead."""

    def __init__(self) -> None:
        self.times = 0

    def seeing(self, *, ahead: bool = False) -> str:
        self.times += ahead
        return "ahead" if ahead else "now"


def made(asked: Asked) -> Prefetch:
    def app(environ: dict[str, Any], _: Any) -> list[bytes]:
        return [str(seeing(environ, cast(Placement, asked))).encode()]

    return Prefetch(app, cast(Placement, asked), Router(ROUTES), "/placement")


@pytest.mark.parametrize(
    ("path", "sees"),
    [
        (f"/resource_providers/{UUID}", "ahead"),
        ("/allocation_candidates", "ahead"),
        (f"/allocations/{UUID}", "now"),  # memory has none of that
        ("/nowhere", "now"),
    ],
)
def test_reads_of_what_memory_has(path: str, sees: str) -> None:
    asked = Asked()
    ahead = made(asked)
    environ: dict[str, Any] = {"REQUEST_METHOD": "GET", "PATH_INFO": path}
    assert b"".join(ahead(environ, lambda *_: None)).decode() == sees  # type: ignore[arg-type]
    foreseen = ahead.foresee(f"/placement{path}?a=b")
    assert asked.times == 2 * (sees == "ahead")
    again = {"REQUEST_METHOD": "GET", "PATH_INFO": path, **foreseen}
    assert b"".join(ahead(again, lambda *_: None)).decode() == sees  # type: ignore[arg-type]
    assert asked.times == 2 * (sees == "ahead"), "it was asked twice for the same request"


def test_a_path_is_looked_up_once_and_never_taken_for_another() -> None:
    router = Router(ROUTES)
    ahead = Prefetch(lambda *_: [], cast(Placement, Asked()), router, "")
    foreseen = ahead.foresee(f"/allocations/{UUID}?a=b")
    looked_up = found_at({"PATH_INFO": f"/allocations/{UUID}", **foreseen}, router)
    assert looked_up is found_at({"PATH_INFO": f"/allocations/{UUID}", **foreseen}, router)
    assert looked_up is not None
    assert looked_up[1] == {"consumer_uuid": UUID}
    other = found_at({"PATH_INFO": "/traits", **foreseen}, router)
    assert other is not None
    assert other[0].path == "/traits"
    assert found_at({"PATH_INFO": "/nowhere", **ahead.foresee("/traits")}, router) is None


def test_writes_ask_nothing_ahead() -> None:
    asked = Asked()
    made(asked)({"REQUEST_METHOD": "PUT", "PATH_INFO": f"/resource_providers/{UUID}"}, lambda *_: None)  # type: ignore[arg-type]
    assert asked.times == 0
