# SPDX-License-Identifier: Apache-2.0

"""The memory that a worker keeps of requests is bounded in bytes. The service has seen no other requests before."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.attacks import memory
from tests.attacks.searches import LARGE, groups
from tests.attacks.sockets import request
from tests.attacks.target import MemoryPeak, Target
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with Target(tmp_path_factory.mktemp("fresh")) as target:
        yield target


def send_all(target: Target, contents: list[bytes], per_connection: int) -> None:
    for begin in range(0, len(contents), per_connection):
        with target.connect(20) as connection:
            for content in contents[begin : begin + per_connection]:
                connection.send(content)
                connection.response()


def grown(target: Target, contents: list[bytes], per_connection: int) -> int:
    """Return the bytes by which the worker's memory grows while it processes these requests."""
    send_all(target, contents[:50], per_connection)
    before = target.rss()
    send_all(target, contents[50:], per_connection)
    return target.rss() - before


@pytest.mark.parametrize("kind", ["projects", "callers", "header names", "versions", "request ids", "accept"])
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

    per_connection = 1 if kind == "accept" else 1_000  # a header that is too long ends the connection
    assert grown(fresh, [content(number) for number in range(1_000)], per_connection) < 25 << 20


NOT_READ = groups(1, 1, 1, 1, policy="isolate", limit=5_000)
"""A response of 2.5 MB."""


def test_responses_that_are_not_received_take_little_memory(tmp_path: Path) -> None:
    with Target(tmp_path) as target:
        before = target.build_cloud().rss()
        with ExitStack() as stack:
            peak = stack.enter_context(MemoryPeak(target))
            for _ in range(60):
                stack.enter_context(target.connect(20, receive_buffer=4096)).send(NOT_READ)
            assert eventually(lambda: "bytes of the responses that clients do not receive" in target.log())
            # Sent slowly, and longer than all responses together may be; it is received to its end.
            with target.connect(60, receive_buffer=1 << 16) as reader:
                reader.send(LARGE)
                assert len(reader.response().json["allocation_requests"]) == 100_000
        assert peak.bytes - before < 150 << 20  # all of them would take 200 MB
        assert eventually(lambda: target.rss() - before < 20 << 20)


def test_large_responses_at_the_same_time_take_the_memory_of_few(tmp_path: Path) -> None:
    with Target(tmp_path) as target:
        before = target.build_cloud().rss()
        with ExitStack() as stack:
            peak = stack.enter_context(MemoryPeak(target))
            readers = [stack.enter_context(target.connect(60)) for _ in range(8)]
            for reader in readers:
                reader.send(LARGE)
            with ThreadPoolExecutor(len(readers)) as pool:
                responses = list(pool.map(lambda reader: reader.response(), readers))
        assert [response.status for response in responses] == [200] * len(readers)
        assert min(len(response.body) for response in responses) > 40 << 20
        assert peak.bytes - before < 130 << 20
        assert eventually(lambda: target.rss() - before < 20 << 20)
