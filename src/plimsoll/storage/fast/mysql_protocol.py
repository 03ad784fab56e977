# SPDX-License-Identifier: Apache-2.0

"""Reads what a MySQL server answers to a message of statements, over a connection of PyMySQL.

PyMySQL makes an object of every packet and of every column of every answer, which takes longer than the server needs
to answer. Here the packets are taken apart where they lie. Only what our statements ask for is known: numbers, texts
and times. Errors are raised as PyMySQL raises them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from struct import Struct
from typing import Any

from pymysql import err
from pymysql.connections import Connection
from pymysql.constants import COMMAND, CR, FIELD_TYPE, SERVER_STATUS

from plimsoll.runtime.scheduling import give_way

_OK, _NULL, _END, _ERROR = 0x00, 0xFB, 0xFE, 0xFF
_LONGEST_END = 9
_LONGEST = 0xFFFFFF
_AT_ONCE = 1 << 14
_ROWS_AT_ONCE = 500
"""Rows that are read before other requests run."""
_QUERY, _PREPARE = bytes((COMMAND.COM_QUERY,)), bytes((COMMAND.COM_STMT_PREPARE,))
_EXECUTE = bytes((COMMAND.COM_STMT_EXECUTE,))
_ONCE_WITHOUT_CURSOR = b"\0\1\0\0\0"
_MORE = SERVER_STATUS.SERVER_MORE_RESULTS_EXISTS


@lru_cache(maxsize=64)  # rows that were written together have the same
def _time(value: bytes) -> datetime:
    return datetime.fromisoformat(value.decode())


_NUMBERS = (FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.INT24, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG)
_TIMES = (FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP)
_TEXTS = (
    *(FIELD_TYPE.VARCHAR, FIELD_TYPE.VAR_STRING, FIELD_TYPE.STRING, FIELD_TYPE.NULL),
    *(FIELD_TYPE.TINY_BLOB, FIELD_TYPE.BLOB, FIELD_TYPE.MEDIUM_BLOB, FIELD_TYPE.LONG_BLOB),
)
_READERS: dict[int, Callable[[bytes], Any]] = {
    **dict.fromkeys(_NUMBERS, int),
    **dict.fromkeys(_TIMES, _time),
    **dict.fromkeys(_TEXTS, bytes.decode),
}


def answers(connection: Connection[Any], message: str) -> list[list[tuple[Any, ...]]]:
    """The rows of each statement; the first that fails ends it."""
    stream = _Stream(connection)
    stream.send(message.encode())
    return _heard(stream)


def say(connection: Connection[Any], message: str) -> None:
    _Stream(connection).send(message.encode())


def heard(connection: Connection[Any]) -> list[list[tuple[Any, ...]]]:
    """What is answered to the message that was said."""
    return _heard(_Stream(connection))


class Prepared:
    """A query without parameters for one row of big integers, which the server has read before it is asked.

    Its answers differ in the numbers alone: what comes before them is known after the first.
    """

    __slots__ = ("_before", "_columns", "_connection", "_numbers", "_packet", "_row")

    def __init__(self, connection: Connection[Any], query: str) -> None:
        stream = _Stream(connection)
        stream.send(query.encode(), _PREPARE)
        told = stream.packet()
        self._connection = connection
        self._columns = int.from_bytes(told[5:7], "little")
        for _ in range(self._columns + 1):  # and the end of the columns
            stream.packet()
        stream.close(connection.server_status)
        self._packet = _framed(0, _EXECUTE + told[1:5] + _ONCE_WITHOUT_CURSOR)
        # Before the values: what it is, and a bit for each column that is NULL, after two that mean nothing.
        nothing = 1 + (self._columns + 9) // 8
        self._row = Struct(f"<{nothing}x{self._columns}q")
        self._before = b""
        self._numbers = Struct(f"<{self._columns}q7xH")
        """And after them, in the packet that ends the answer, the status of the server."""

    def say(self) -> None:
        _Stream(self._connection).write(self._packet)

    def heard(self) -> tuple[Any, ...]:
        stream = _Stream(self._connection)
        answer = stream.after(self._before, self._numbers.size) if self._before else None
        if answer is None:
            return self._read(stream)
        *row, status = self._numbers.unpack(answer)
        stream.close(status)
        return tuple(row)

    def _read(self, stream: _Stream) -> tuple[Any, ...]:
        """Packet by packet."""
        # How many columns, what they are, their end, and the row.
        packets = [stream.packet() for _ in range(1 + self._columns + 1 + 1)]
        row = self._row.unpack(packets[-1])
        end = stream.packet()
        stream.close(end[3] | end[4] << 8)
        whole = b"".join(_framed(number, packet) for number, packet in enumerate(packets, 1))
        self._before = whole[: -8 * self._columns]
        return row


class Unprepared:
    """The same, where the server reads it each time."""

    __slots__ = ("_connection", "_query")

    def __init__(self, connection: Connection[Any], query: str) -> None:
        self._connection = connection
        self._query = query

    def say(self) -> None:
        say(self._connection, self._query)

    def heard(self) -> tuple[Any, ...]:
        ((row,),) = heard(self._connection)
        return row


def often_asked(connection: Connection[Any], query: str) -> Prepared | Unprepared:
    """A query for one row of big integers, prepared if that can be."""
    try:
        return Prepared(connection, query)
    except err.OperationalError:  # it has prepared as many as it may, or a proxy in between does not know how
        if not connection.open:
            raise
        return Unprepared(connection, query)


def _heard(stream: _Stream) -> list[list[tuple[Any, ...]]]:
    found, more = [], _MORE
    while more & _MORE:
        rows, more = _answer(stream)
        found.append(rows)
    stream.close(more)
    return found


def quote(connection: Connection[Any]) -> Callable[[str], str]:
    """Makes of a text what stands for it in a statement. Between single quotes nothing else means anything."""
    plain = connection.server_status & SERVER_STATUS.SERVER_STATUS_NO_BACKSLASH_ESCAPES
    return _quoted_plainly if plain else _quoted


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0") + "'"


def _quoted_plainly(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _answer(stream: _Stream) -> tuple[list[tuple[Any, ...]], int]:
    """The rows of one statement, and the status of the server after it."""
    packet = stream.packet()
    if packet[0] == _OK:
        _, at = _number(packet, 1)
        _, at = _number(packet, at)
        return [], packet[at] | packet[at + 1] << 8
    readers = [_READERS[stream.packet()[-6]] for _ in range(packet[0])]
    stream.packet()  # the end of the columns
    rows: list[tuple[Any, ...]] = []
    while True:
        packet = stream.packet()
        if packet[0] == _END and len(packet) < _LONGEST_END:
            return rows, packet[3] | packet[4] << 8
        rows.append(_row(packet, readers))
        if not len(rows) % _ROWS_AT_ONCE:
            give_way()


def _row(packet: bytes, readers: list[Callable[[bytes], Any]]) -> tuple[Any, ...]:
    values: list[Any] = []
    at = 0
    for read in readers:
        length, start = packet[at], at + 1
        if length >= _NULL:  # it is not the length itself
            if length == _NULL:
                values.append(None)
                at = start
                continue
            length, start = _number(packet, at)
        at = start + length
        values.append(read(packet[start:at]))
    return tuple(values)


def _number(packet: bytes, at: int) -> tuple[int, int]:
    """A number of a length that it tells itself, and where the next thing begins."""
    first = packet[at]
    if first < _NULL:
        return first, at + 1
    end = at + 1 + {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(packet[at + 1 : end], "little"), end


def _framed(number: int, content: bytes) -> bytes:
    """As a packet, which has this number among those of the message or of the answer."""
    return (len(content) | number << 24).to_bytes(4, "little") + content


class _Stream:
    """Packets to and from the server: one message, and all that is answered to it."""

    __slots__ = ("_at", "_buffer", "_connection", "_socket")

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._socket = connection._sock
        if self._socket is None:
            raise err.InterfaceError(0, "")
        if self._socket.gettimeout() != connection._read_timeout:
            self._socket.settimeout(connection._read_timeout)
        self._buffer = b""
        self._at = 0

    def send(self, message: bytes, command: bytes = _QUERY) -> None:
        content = command + message
        # One that is as long as can be is followed by another, if an empty one.
        for number, at in enumerate(range(0, len(content) + 1, _LONGEST)):
            self.write(_framed(number, content[at : at + _LONGEST]))

    def write(self, packet: bytes) -> None:
        try:
            sent = self._socket.send(packet)
            if sent < len(packet):
                self._socket.sendall(packet[sent:])
        except OSError as error:
            raise self._lost(CR.CR_SERVER_GONE_ERROR, error) from error

    def after(self, begin: bytes, length: int) -> bytes | None:
        """What comes after these bytes, if the answer begins with them and has so many more; else it is yet to be read."""
        if not self._buffer:
            self._fill(1)
        if len(self._buffer) != len(begin) + length or not self._buffer.startswith(begin):
            return None
        self._at = len(self._buffer)
        return self._buffer[-length:]

    def packet(self) -> bytes:
        content = b""
        length = _LONGEST
        while length == _LONGEST:
            if len(self._buffer) < self._at + 4:
                self._fill(4)
            length = int.from_bytes(self._buffer[self._at : self._at + 3], "little")
            if len(self._buffer) < self._at + 4 + length:
                self._fill(4 + length)
            begin, self._at = self._at + 4, self._at + 4 + length
            part = self._buffer[begin : self._at]
            content = content + part if content else part
        if content[0] == _ERROR:
            err.raise_mysql_exception(content)
        return content

    def close(self, status: int) -> None:
        """All is heard that was to be; so the server is now."""
        self._connection.server_status = status
        if self._at < len(self._buffer):  # more than it was asked for: nobody knows what comes next
            self._connection._force_close()

    def _fill(self, count: int) -> None:
        """Waits until at least so many bytes are in the buffer."""
        parts = [self._buffer[self._at :]]
        missing = count - len(parts[0])
        try:
            while missing > 0:
                parts.append(self._socket.recv(max(_AT_ONCE, missing)))
                missing -= len(parts[-1])
                if not parts[-1]:
                    raise self._lost(CR.CR_SERVER_LOST, "it hung up")
        except OSError as error:
            raise self._lost(CR.CR_SERVER_LOST, error) from error
        self._buffer, self._at = b"".join(parts), 0

    def _lost(self, number: int, reason: object) -> err.OperationalError:
        self._connection._force_close()
        return err.OperationalError(number, f"Lost connection to the server ({reason})")
