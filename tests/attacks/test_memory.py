# SPDX-License-Identifier: Apache-2.0

"""What a worker keeps of requests is bounded in bytes. The service has seen no other requests before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attacks import memory
from tests.attacks.sockets import request
from tests.attacks.target import Target


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with Target(tmp_path_factory.mktemp("fresh")) as target:
        yield target


def grown(target: Target, contents: list[bytes]) -> int:
    """Bytes by which the worker's memory grows while it answers these."""
    with target.connect(20) as connection:
        for content in contents[:50]:
            connection.send(content)
            connection.response()
        before = target.rss()
        for content in contents[50:]:
            connection.send(content)
            connection.response()
    return target.rss() - before


@pytest.mark.parametrize(
    "kind",
    ["projects", "callers", "header names", "versions", "request ids", "accept"],
)
def test_long_values_are_not_kept(kind: str, fresh: Target) -> None:
    def content(number: int) -> bytes:
        pad = f"{number:0>50000}"
        match kind:
            case "projects":
                return memory.refused_project(number)
            case "callers":
                return request("GET", "/traits", token=f"{pad[:25_000]}{number}:{pad[25_000:]}")
            case "header names":
                return request("GET", "/", None, f"x{pad}: a")
            case "versions":
                return request("GET", "/", version=f"1.{pad}")
            case "request ids":
                return request("GET", "/", None, f"x-openstack-request-id: req-{pad}")
            case _:
                return request("GET", "/traits", None, f"accept: text/a{pad}, application/json")

    assert grown(fresh, [content(number) for number in range(1_000)]) < 25 << 20
