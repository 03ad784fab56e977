# SPDX-License-Identifier: Apache-2.0

"""Who asks for the head, when, and for whom."""

from __future__ import annotations

import pytest

from plimsoll.runtime.scheduling import AT_WORK
from plimsoll.storage.dialects.head_probe import HeadProbe
from plimsoll.storage.head import Head


class Server:
    """Its head moves on with each question."""

    def __init__(self) -> None:
        self.asked = self.heard = 0
        self.is_gone = False
        self.connections = 0

    def connect(self) -> Server:
        self.connections += 1
        self.heard = self.asked
        return self

    def close(self) -> None:
        pass

    def ask(self) -> None:
        self.asked += 1

    def hear(self) -> tuple[int, int]:
        if self.is_gone:
            self.is_gone = False
            raise ConnectionError
        self.heard += 1
        return self.heard, 0


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def probe(server: Server) -> HeadProbe:
    probe = HeadProbe(server.connect, Server.ask, Server.hear)
    probe.hear(probe.ask())  # from now on there is a connection
    return probe


def test_who_is_alone_asks_before_he_does_anything_else(server: Server, probe: HeadProbe) -> None:
    with AT_WORK:
        number = probe.ask()
        assert server.asked == 2
        assert probe.hear(number) == Head(2, 0)
    assert server.asked == 2


def test_several_at_work_share_a_question(server: Server, probe: HeadProbe) -> None:
    with AT_WORK, AT_WORK:
        numbers = [probe.ask() for _ in range(3)]
        assert server.asked == 1
        assert [probe.hear(number) for number in numbers] == [Head(2, 0)] * 3
    assert server.asked == 2


def test_a_question_that_was_asked_before_one_came_is_not_relied_on(server: Server, probe: HeadProbe) -> None:
    early = probe.ask()
    late = probe.ask()
    assert server.asked == 2
    assert probe.hear(late) == Head(3, 0)
    assert probe.hear(early) == Head(3, 0)
    assert server.asked == 3


def test_a_connection_that_died_meanwhile_is_replaced(server: Server, probe: HeadProbe) -> None:
    number = probe.ask()
    server.is_gone = True
    assert probe.hear(number).seq > 1
    assert server.connections == 2
