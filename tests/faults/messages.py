# SPDX-License-Identifier: Apache-2.0

"""Where a client's messages to a database server end: as much of the two protocols as a cut needs to know."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Protocol

_PLAIN_START = 196608
"""PostgreSQL's protocol version 3.0; what comes before a message with it asks for encryption."""


class Reader(Protocol):
    """Takes a client's bytes as they come, and gives whole messages."""

    def read(self, data: bytes) -> list[bytes]: ...

    def is_answered(self, message: bytes) -> bool:
        """Whether the server says something to this message before it hears another."""


@dataclass
class PostgreSQLMessages:
    """A letter and a length, after a first message that has a length alone."""

    _rest: bytes = b""
    _started: bool = False

    def read(self, data: bytes) -> list[bytes]:
        self._rest += data
        found = []
        while (size := self._size()) is not None and len(self._rest) >= size:
            message, self._rest = self._rest[:size], self._rest[size:]
            if not self._started:
                self._started = struct.unpack("!I", message[4:8])[0] == _PLAIN_START
            found.append(message)
        return found

    def is_answered(self, message: bytes) -> bool:
        return message[:1] in (b"Q", b"S")

    def _size(self) -> int | None:
        letter = 1 if self._started else 0
        if len(self._rest) < letter + 4:
            return None
        (length,) = struct.unpack("!I", self._rest[letter : letter + 4])
        return int(letter + length)


@dataclass
class MySQLMessages:
    """A length of three bytes and a number, whatever the message is."""

    _rest: bytes = field(default=b"")

    def read(self, data: bytes) -> list[bytes]:
        self._rest += data
        found = []
        while len(self._rest) >= 4:
            size = 4 + int.from_bytes(self._rest[:3], "little")
            if len(self._rest) < size:
                break
            found.append(self._rest[:size])
            self._rest = self._rest[size:]
        return found

    def is_answered(self, message: bytes) -> bool:
        return message[4:5] != b"\x01"  # all but the goodbye


READERS: dict[str, type[PostgreSQLMessages] | type[MySQLMessages]] = {
    "postgresql": PostgreSQLMessages,
    "mariadb": MySQLMessages,
}
