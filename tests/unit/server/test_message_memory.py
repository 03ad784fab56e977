# SPDX-License-Identifier: Apache-2.0

"""The memory of requests and responses: when it is freed, and its limit for clients that do not receive."""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll.runtime.greenlets import Greenlets
from plimsoll.server.limits import LARGE_BYTES, Limits
from plimsoll.server.parser import LargeInput
from plimsoll.server.permits import Permits, RequestPermit
from tests.support.waiting import eventually
from tests.unit.server.test_connections import Client

GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
LONG = b"x" * (2 << 20)

Connect = Callable[..., Client]


@pytest.fixture
def connect() -> Iterator[Connect]:
    clients: list[Client] = []

    def connect(*arguments: Any) -> Client:
        clients.append(Client(*arguments))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


def with_long_body(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    environ["wsgi.input"].read()
    start_response("200 OK", [])
    return [LONG if environ["REQUEST_METHOD"] == "GET" else b"ok"]


def test_beyond_the_limit_responses_that_clients_do_not_receive_are_aborted(connect: Connect) -> None:
    first = connect(with_long_body, Limits(max_buffered_bytes=2 * len(LONG)))
    connections = first.connections
    clients = [first, *[connect(None, connections.limits, connections) for _ in range(4)]]
    for client in clients:
        client.send(GET)
    assert eventually(lambda: connections._response_bytes == 5 * len(LONG))
    time.sleep(1.1)
    connections.enforce_deadlines()
    assert eventually(lambda: sum(client.thread.is_alive() for client in clients) == 2)
    assert connections._response_bytes == 2 * len(LONG)
    assert sum(client.thread.is_alive() and client.response()[2] == LONG for client in clients) == 2
    assert eventually(lambda: connections._response_bytes == 0)


def in_pieces(environ: WSGIEnvironment, start_response: StartResponse) -> Iterator[bytes]:
    start_response("200 OK", [])
    for _ in range(3):
        yield LONG


def test_a_piece_that_a_client_does_not_receive_counts_as_memory_of_responses(connect: Connect) -> None:
    first = connect(in_pieces, Limits(max_buffered_bytes=len(LONG)))
    connections = first.connections
    second = connect(None, connections.limits, connections)
    for client in first, second:
        client.send(GET)
    assert eventually(lambda: connections._response_bytes > 2 * len(LONG))  # chunks have a few bytes more
    time.sleep(1.1)
    connections.enforce_deadlines()
    assert eventually(lambda: not (first.thread.is_alive() or second.thread.is_alive()))
    assert eventually(lambda: connections._response_bytes == 0)


def test_a_response_within_the_limit_waits_for_its_client(connect: Connect) -> None:
    client = connect(with_long_body, Limits(max_buffered_bytes=len(LONG)))
    client.send(GET)
    time.sleep(1.1)
    client.connections.enforce_deadlines()
    assert client.response()[2] == LONG


def test_an_idle_connection_keeps_no_message(connect: Connect) -> None:
    references = sys.getrefcount(LONG)
    client = connect(with_long_body)
    client.send(GET)
    assert client.response()[2] == LONG
    assert eventually(lambda: sys.getrefcount(LONG) == references)
    size = LARGE_BYTES - 1000
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        client.send(b"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % size + bytes(size))
        assert client.response()[2] == b"ok"
        assert eventually(lambda: tracemalloc.get_traced_memory()[0] - before < size // 4)
    finally:
        tracemalloc.stop()


def test_a_large_body_is_read_once_and_not_kept() -> None:
    content = bytes(LARGE_BYTES)
    references = sys.getrefcount(content)
    body = LargeInput(content)
    assert body.read(10) == content[:10]
    body.seek(0)
    assert body.read(len(content)) is content
    assert sys.getrefcount(content) == references
    assert body.read() == b""


def test_a_long_response_waits_for_memory_and_not_for_ever() -> None:
    polls: list[int] = []

    def has_memory() -> bool:
        polls.append(1)
        return len(polls) == 3

    assert RequestPermit(Permits(Greenlets(), 1, 60, has_memory), -1).wait_for_memory()
    assert len(polls) == 3
    assert not RequestPermit(Permits(Greenlets(), 1, 0.01, lambda: False), -1).wait_for_memory()
