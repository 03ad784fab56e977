# SPDX-License-Identifier: Apache-2.0

"""Splits the bytes of a database client into messages, for the protocols of PostgreSQL and MySQL."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Protocol

_PLAIN_START = 196608
"""PostgreSQL's protocol version 3.0. A first message with another number requests encryption."""


class Reader(Protocol):
    """Collects the bytes of a client and returns whole messages."""

    def read(self, data: bytes) -> list[bytes]: ...

    def has_result(self, message: bytes) -> bool:
        """True if the server sends a result to this message before it receives another one."""


@dataclass
class PostgreSQLMessages:
    """Messages with a letter and a length; the first one has only a length."""

    _rest: bytes = b""
    _started: bool = False

    def read(self, data: bytes) -> list[bytes]:
        self._rest += data
        messages = []
        while (size := self._size()) is not None and len(self._rest) >= size:
            message, self._rest = self._rest[:size], self._rest[size:]
            if not self._started:
                self._started = struct.unpack("!I", message[4:8])[0] == _PLAIN_START
            messages.append(message)
        return messages

    def has_result(self, message: bytes) -> bool:
        return message[:1] in (b"Q", b"S")

    def _size(self) -> int | None:
        letter = 1 if self._started else 0
        if len(self._rest) < letter + 4:
            return None
        (length,) = struct.unpack("!I", self._rest[letter : letter + 4])
        return int(letter + length)


@dataclass
class MySQLMessages:
    """Messages with a length of three bytes and a sequence number."""

    _rest: bytes = field(default=b"")

    def read(self, data: bytes) -> list[bytes]:
        self._rest += data
        messages = []
        while len(self._rest) >= 4:
            size = 4 + int.from_bytes(self._rest[:3], "little")
            if len(self._rest) < size:
                break
            messages.append(self._rest[:size])
            self._rest = self._rest[size:]
        return messages

    def has_result(self, message: bytes) -> bool:
        return message[4:5] != b"\x01"  # all but COM_QUIT


READERS: dict[str, type[PostgreSQLMessages] | type[MySQLMessages]] = {
    "postgresql": PostgreSQLMessages,
    "mariadb": MySQLMessages,
}
