# SPDX-License-Identifier: Apache-2.0

"""A proxy between service and database that cuts a connection at a message that the test selects.

It forwards everything until it is armed. Then it counts the client's messages over all connections, and closes
the connection at the message that the rule selects: before the server gets it, or after the server has sent its
result, so that only the result is lost.
"""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import Self

from tests.faults.messages import READERS, Reader

RESULT_SECONDS = 20.0
POLL_SECONDS = 0.02


class CutPoint(Enum):
    """When a connection is closed."""

    BEFORE_SEND = auto()
    """The server never gets the message."""
    AFTER_RESULT = auto()
    """The server gets the message and runs it; the client never gets the result."""
    AFTER_SEND = auto()
    """The server gets the message, and finds the connection closed."""


CutRule = Callable[[int, bytes], CutPoint | None]
"""Takes the number of a message since the proxy was armed, and its bytes. Returns where to cut, or None."""


def cut_nth(number: int, cut_point: CutPoint) -> CutRule:
    """Cut only at the message with this number, counted from 1."""
    return lambda place, _: cut_point if place == number else None


def cut_first_with(text: bytes, cut_point: CutPoint) -> CutRule:
    """Cut only at the first message that contains this text."""
    done: list[bool] = []

    def choose(_: int, message: bytes) -> CutPoint | None:
        if done or text not in message:
            return None
        done.append(True)
        return cut_point

    return choose


class Gate:
    """Holds back the first message that contains this text until `open` is called."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._lock = threading.Lock()
        self.reached = threading.Event()
        self._open = threading.Event()

    def open(self) -> None:
        self._open.set()

    def pass_through(self, message: bytes, client: socket.socket) -> None:
        """Wait until the message may be forwarded. Raises OSError if its client closes the connection meanwhile."""
        with self._lock:
            is_first = self._text in message and not self.reached.is_set()
            if is_first:
                self.reached.set()
        # Not with `recv`: it would return later messages before the end of the connection.
        closed = select.poll()
        closed.register(client, select.POLLRDHUP)
        while is_first and not self._open.wait(POLL_SECONDS):
            if closed.poll(0):
                raise ConnectionResetError


@dataclass
class _Pair:
    """The two sockets of one proxied connection."""

    client: socket.socket
    server: socket.socket
    reader: Reader
    drops_results: bool = False
    """Whether results of the server are dropped instead of forwarded."""

    def __post_init__(self) -> None:
        self.result_received = threading.Event()

    def close(self) -> None:
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Proxy:
    """Listens on its own port for one database server. Must be closed."""

    def __init__(self, engine: str, host: str, port: int) -> None:
        self._engine = engine
        self._target = (host, port)
        self._lock = threading.Lock()
        self._cut_rule: CutRule | None = None
        self._count = 0
        self._pairs: list[_Pair] = []
        self._refusing = False
        self._gate: Gate | None = None
        self.cuts: list[bytes] = []
        """The messages at which connections were cut since it was armed."""
        self.received: list[bytes] = []
        """The messages since it was armed."""
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()

    def arm(self, rule: CutRule) -> None:
        """Count messages from here on, and cut at the message that the rule selects."""
        with self._lock:
            self._cut_rule, self._count = rule, 0
            self.cuts, self.received = [], []

    @property
    def cut_rule(self) -> CutRule | None:
        return self._cut_rule

    def disarm(self) -> None:
        with self._lock:
            self._cut_rule = None

    def refuse(self, refusing: bool = True) -> None:
        """Close all new connections, until called with False."""
        self._refusing = refusing

    def release(self) -> None:
        """Forward all messages again."""
        if self._gate is not None:
            self._gate.open()
        self._gate = None

    def hold(self, text: bytes) -> Gate:
        """Hold back the first message from here on that contains this text."""
        self._gate = Gate(text)
        return self._gate

    def drop_all(self) -> None:
        """Close every connection."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            pair.close()

    def close(self) -> None:
        self._listener.close()
        self.drop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            if self._refusing:
                client.close()
                continue
            try:
                server = socket.create_connection(self._target, timeout=10)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            pair = _Pair(client, server, READERS[self._engine]())
            with self._lock:
                self._pairs.append(pair)
            for run in (self._forward_messages, self._forward_results):
                threading.Thread(target=run, args=(pair,), name="proxy", daemon=True).start()

    def _forward_messages(self, pair: _Pair) -> None:
        with suppress(OSError):
            while data := pair.client.recv(65536):
                for message in pair.reader.read(data):
                    if self._gate is not None:
                        self._gate.pass_through(message, pair.client)
                    cut_point = self._cut_point_of(message)
                    if cut_point is not None:
                        self._cut(pair, message, cut_point)
                        return
                    pair.server.sendall(message)
        pair.close()

    def _forward_results(self, pair: _Pair) -> None:
        with suppress(OSError):
            while data := pair.server.recv(65536):
                if pair.drops_results:
                    pair.result_received.set()
                else:
                    pair.client.sendall(data)
        pair.result_received.set()
        if not pair.drops_results:
            pair.close()

    def _cut_point_of(self, message: bytes) -> CutPoint | None:
        with self._lock:
            if self._cut_rule is None:
                return None
            self._count += 1
            self.received.append(message)
            cut_point = self._cut_rule(self._count, message)
            if cut_point is not None:
                self.cuts.append(message)
            return cut_point

    def _cut(self, pair: _Pair, message: bytes, cut_point: CutPoint) -> None:
        with suppress(OSError):
            if cut_point is not CutPoint.BEFORE_SEND:
                pair.drops_results = True
                pair.server.sendall(message)
                if cut_point is CutPoint.AFTER_RESULT and pair.reader.has_result(message):
                    pair.result_received.wait(RESULT_SECONDS)
        pair.close()
