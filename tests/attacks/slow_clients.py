# SPDX-License-Identifier: Apache-2.0

"""Points 2, 4 and 11: clients that send slowly, in small pieces or without a pause; and clients that do not read."""

from __future__ import annotations

from contextlib import ExitStack, suppress

from tests.attacks.attack import Outcome, Stop, attack, in_threads
from tests.attacks.sockets import Closed, RawConnection, TooLate, request
from tests.attacks.target import Target

CONNECTIONS = 40
BEGUN = 300_000
"""Bytes of a body after which a server may have called the application."""
LENGTH = 9_000_000
SLOW_HEAD = (
    f"POST /resource_providers HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {LENGTH}\r\n\r\n"
).encode()
CHUNKED_HEAD = (
    b"POST /resource_providers HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
TINY = b"1\r\nx\r\n"


def open_slow_bodies(target: Target, stack: ExitStack, count: int = CONNECTIONS) -> list[RawConnection]:
    """Connections that have sent the first part of a long body, without a token."""
    opened = []
    for _ in range(count):
        connection = stack.enter_context(target.connect(10))
        connection.try_send(SLOW_HEAD + b" " * BEGUN)
        opened.append(connection)
    return opened


@attack("2")
def slow_bodies(target: Target, stop: Stop, outcome: Outcome) -> None:
    """40 connections send 300 kB, then one byte per second; what the server closes is opened again."""
    with ExitStack() as stack:
        opened = open_slow_bodies(target, stack)
        while not stop.wait(1.0):
            gone = [each for each in opened if each.has_response() or not each.try_send(b" ")]
            outcome.closed += len(gone)
            opened = [each for each in opened if each not in gone]
            with suppress(OSError):
                opened += open_slow_bodies(target, stack, len(gone))


@attack("2")
def slow_small_bodies(target: Target, stop: Stop, outcome: Outcome) -> None:
    """200 connections with bodies of 1,000 bytes, one byte per second."""
    head = SLOW_HEAD.replace(str(LENGTH).encode(), b"1000")
    with ExitStack() as stack:
        opened = [stack.enter_context(target.connect(10)) for _ in range(200)]
        for each in opened:
            each.try_send(head)
        while not stop.wait(1.0):
            for each in opened:
                outcome.closed += not each.try_send(b" ")


@attack("2")
def slow_heads(target: Target, stop: Stop, outcome: Outcome) -> None:
    with ExitStack() as stack:
        opened = [stack.enter_context(target.connect(10)) for _ in range(200)]
        for each in opened:
            each.try_send(b"GET / HTTP/1.1\r\nx: ")
        while not stop.wait(0.5):
            for each in opened:
                outcome.closed += not each.try_send(b"a")


@attack("4")
def fast_chunks(target: Target, stop: Stop, outcome: Outcome) -> None:
    """One connection sends chunks of one byte without a pause, in packets of 60 kB; begins anew when it is closed."""
    flood = TINY * 10_000
    while not stop.is_set():
        with suppress(OSError), target.connect(10) as connection:
            connection.try_send(CHUNKED_HEAD)
            while not stop.is_set() and connection.try_send(flood):
                pass
            outcome.closed += 1


@attack("4")
def fast_extensions(target: Target, stop: Stop, outcome: Outcome) -> None:
    """The same with a chunk extension that does not end."""
    flood = b"a" * 60_000
    while not stop.is_set():
        with suppress(OSError), target.connect(10) as connection:
            connection.try_send(CHUNKED_HEAD + b"1;")
            while not stop.is_set() and connection.try_send(flood):
                pass
            outcome.closed += 1
        if stop.wait(0.005):
            return


@attack("11")
def small_pieces(target: Target, stop: Stop, outcome: Outcome) -> None:
    """30 connections that send 500 packets of 6 bytes a second between them, into long bodies."""
    with ExitStack() as stack:
        opened = [stack.enter_context(target.connect(10)) for _ in range(30)]
        for each in opened:
            each.try_send(CHUNKED_HEAD)
        # A body that has many pieces already: what one more costs must not depend on that.
        for each in opened:
            each.try_send(TINY * 5_000)
        while not stop.is_set():
            for number, each in enumerate(opened):
                if not each.try_send(TINY):
                    outcome.closed += 1
                    each.close()
                    opened[number] = stack.enter_context(target.connect(10))
                    opened[number].try_send(CHUNKED_HEAD)
                if stop.wait(0.002):
                    return


@attack("new")
def clients_that_do_not_read(target: Target, stop: Stop, outcome: Outcome) -> None:
    """100 connections request a long response again and again and read nothing."""
    content = request("GET", "/resource_providers") * 20
    with ExitStack() as stack:
        opened = [stack.enter_context(target.connect(0.2, receive_buffer=4096)) for _ in range(100)]
        for each in opened:
            with suppress(OSError):
                each.send(content)
        while not stop.wait(0.2):
            pass


@attack("new")
def pipelines_that_are_not_read(target: Target, stop: Stop, outcome: Outcome) -> None:
    """20 connections send requests without a pause and read nothing."""
    content = request("GET", "/") * 400

    def flood(_: int) -> None:
        while not stop.is_set():
            with suppress(OSError), target.connect(1, receive_buffer=4096) as connection:
                while not stop.wait(0.005) and connection.try_send(content):
                    pass
                outcome.closed += 1

    with in_threads(20, flood, stop):
        while not stop.wait(0.2):
            pass


@attack("new")
def idle_connections(target: Target, stop: Stop, outcome: Outcome) -> None:
    with ExitStack() as stack:
        for _ in range(2_000):
            try:
                stack.enter_context(target.connect(5))
            except OSError:
                break
            if stop.is_set():
                return
        while not stop.wait(0.2):
            pass


@attack("new")
def connections_opened_and_reset(target: Target, stop: Stop, outcome: Outcome) -> None:
    while not stop.wait(0.001):
        with suppress(OSError):
            connection = target.connect(5)
            connection.try_send(b"GET / HTTP/1.1\r\nhost:")
            connection.reset()


@attack("new")
def answers_left_behind(target: Target, stop: Stop, outcome: Outcome) -> None:
    """Requests whose client resets the connection before the response."""
    content = request("GET", "/resource_providers")
    while not stop.wait(0.001):
        with suppress(OSError, Closed, TooLate):
            connection = target.connect(5)
            connection.try_send(content)
            connection.reset()
