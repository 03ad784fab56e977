# SPDX-License-Identifier: Apache-2.0

"""When the query for the head is sent, and which requests share its result."""

from __future__ import annotations

import pytest

from plimsoll.storage.dialects.head_probe import HeadProbe
from plimsoll.storage.head import Head


class Server:
    """A server whose head advances with each query."""

    def __init__(self) -> None:
        self.sent = self.received = 0
        self.is_gone = False
        self.connections = 0

    def connect(self) -> Server:
        self.connections += 1
        self.received = self.sent
        return self

    def close(self) -> None:
        pass

    def send(self) -> None:
        self.sent += 1

    def receive(self) -> tuple[int, int]:
        if self.is_gone:
            self.is_gone = False
            raise ConnectionError
        self.received += 1
        return self.received, 0


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def probe(server: Server) -> HeadProbe:
    probe = HeadProbe(server.connect, Server.send, Server.receive)
    probe.wait_for(probe.start())  # from now on there is a connection
    return probe


def test_the_first_request_sends_the_query_at_once(server: Server, probe: HeadProbe) -> None:
    number = probe.start()
    assert server.sent == 2
    assert probe.wait_for(number) == Head(2, 0)
    assert server.sent == 2


def test_requests_that_begin_while_a_query_is_in_flight_share_the_next_one(
    server: Server, probe: HeadProbe
) -> None:
    numbers = [probe.start() for _ in range(4)]
    assert server.sent == 2
    assert probe.wait_for(numbers[0]) == Head(2, 0)
    assert [probe.wait_for(number) for number in numbers[1:]] == [Head(3, 0)] * 3
    assert server.sent == 3


def test_a_query_that_was_sent_before_a_request_began_is_not_used_for_it(
    server: Server, probe: HeadProbe
) -> None:
    early = probe.start()
    late = probe.start()
    assert server.sent == 2
    assert probe.wait_for(late) == Head(3, 0)
    assert probe.wait_for(early) == Head(3, 0)
    assert server.sent == 3


def test_a_connection_that_was_lost_is_replaced(server: Server, probe: HeadProbe) -> None:
    number = probe.start()
    server.is_gone = True
    assert probe.wait_for(number).seq > 1
    assert server.connections == 2
