# SPDX-License-Identifier: Apache-2.0

"""A network between service and database that fails on purpose, at the message that a test names.

It passes everything on until it is armed. Then it counts the client's messages over all connections, and cuts
the connection at the one that the plan names: before the server hears it, or once the server has answered it,
so that only the answer is lost.
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

ANSWER_SECONDS = 20.0
POLL_SECONDS = 0.02


class Moment(Enum):
    """When a connection is cut."""

    UNHEARD = auto()
    """The server never gets the message."""
    UNANSWERED = auto()
    """The server gets it, and does what it says; the client never learns of it."""
    AT_ONCE = auto()
    """The server gets it, and finds that nobody is there any more."""


Choice = Callable[[int, bytes], Moment | None]
"""Looks at the number of a message since the proxy was armed, and at its bytes, and says how it is cut, if it is."""


def nth(number: int, moment: Moment) -> Choice:
    """Cut at this message, counted from 1, and at no other."""
    return lambda place, _: moment if place == number else None


def first_with(words: bytes, moment: Moment) -> Choice:
    """Cut at the first message with these words in it, and at no other."""
    done: list[bool] = []

    def choose(_: int, message: bytes) -> Moment | None:
        if done or words not in message:
            return None
        done.append(True)
        return moment

    return choose


class Gate:
    """The first message with these words waits here, unheard by the server, until the gate is opened."""

    def __init__(self, words: bytes) -> None:
        self._words = words
        self._lock = threading.Lock()
        self.reached = threading.Event()
        self._open = threading.Event()

    def open(self) -> None:
        self._open.set()

    def pass_through(self, message: bytes, client: socket.socket) -> None:
        """Returns when the message may go on. Raises OSError if whoever sent it is gone meanwhile."""
        with self._lock:
            is_first = self._words in message and not self.reached.is_set()
            if is_first:
                self.reached.set()
        # Not by reading: more messages may have come, and the end behind them would not be seen.
        gone = select.poll()
        gone.register(client, select.POLLRDHUP)
        while is_first and not self._open.wait(POLL_SECONDS):
            if gone.poll(0):
                raise ConnectionResetError


@dataclass
class _Pair:
    """Both ends of one connection."""

    client: socket.socket
    server: socket.socket
    reader: Reader
    muted: bool = False
    """Whether what the server says is kept from the client."""

    def __post_init__(self) -> None:
        self.answered = threading.Event()

    def close(self) -> None:
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Proxy:
    """Listens on a port of its own for one database server. To be closed."""

    def __init__(self, engine: str, host: str, port: int) -> None:
        self._engine = engine
        self._target = (host, port)
        self._lock = threading.Lock()
        self._choose: Choice | None = None
        self._count = 0
        self._pairs: list[_Pair] = []
        self._refusing = False
        self._gate: Gate | None = None
        self.cuts: list[bytes] = []
        """The messages at which connections were cut since it was armed."""
        self.seen: list[bytes] = []
        """The messages since it was armed."""
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()

    def arm(self, choose: Choice) -> None:
        """Count from here on, and cut where the choice says."""
        with self._lock:
            self._choose, self._count = choose, 0
            self.cuts, self.seen = [], []

    @property
    def choice(self) -> Choice | None:
        return self._choose

    def disarm(self) -> None:
        with self._lock:
            self._choose = None

    def refuse(self, refusing: bool = True) -> None:
        """Let no further connection through, until told otherwise."""
        self._refusing = refusing

    def let_pass(self) -> None:
        """Hold up nothing any more."""
        if self._gate is not None:
            self._gate.open()
        self._gate = None

    def hold(self, words: bytes) -> Gate:
        """From here on, the first message with these words is held up."""
        self._gate = Gate(words)
        return self._gate

    def drop_all(self) -> None:
        """Cut every connection that there is, whatever it does."""
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
            for run in (self._pass_requests, self._pass_answers):
                threading.Thread(target=run, args=(pair,), name="proxy", daemon=True).start()

    def _pass_requests(self, pair: _Pair) -> None:
        with suppress(OSError):
            while data := pair.client.recv(65536):
                for message in pair.reader.read(data):
                    if self._gate is not None:
                        self._gate.pass_through(message, pair.client)
                    moment = self._moment_of(message)
                    if moment is not None:
                        self._cut(pair, message, moment)
                        return
                    pair.server.sendall(message)
        pair.close()

    def _pass_answers(self, pair: _Pair) -> None:
        with suppress(OSError):
            while data := pair.server.recv(65536):
                if pair.muted:
                    pair.answered.set()
                else:
                    pair.client.sendall(data)
        pair.answered.set()
        if not pair.muted:
            pair.close()

    def _moment_of(self, message: bytes) -> Moment | None:
        with self._lock:
            if self._choose is None:
                return None
            self._count += 1
            self.seen.append(message)
            moment = self._choose(self._count, message)
            if moment is not None:
                self.cuts.append(message)
            return moment

    def _cut(self, pair: _Pair, message: bytes, moment: Moment) -> None:
        with suppress(OSError):
            if moment is not Moment.UNHEARD:
                pair.muted = True
                pair.server.sendall(message)
                if moment is Moment.UNANSWERED and pair.reader.is_answered(message):
                    pair.answered.wait(ANSWER_SECONDS)
        pair.close()
