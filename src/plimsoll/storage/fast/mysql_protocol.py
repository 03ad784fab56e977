# SPDX-License-Identifier: Apache-2.0

"""Sends messages of statements to a MySQL server and reads the results, on a connection of PyMySQL.

PyMySQL makes an object of every packet and of every column of every result, which takes longer than the server needs
for the query. Here packets are parsed in the receive buffer. Only the column types of our statements are supported:
integers, texts and times. Errors are raised as PyMySQL raises them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any

from pymysql import err
from pymysql.connections import Connection
from pymysql.constants import COMMAND, CR, FIELD_TYPE, SERVER_STATUS

_OK, _NULL, _END, _ERROR = 0x00, 0xFB, 0xFE, 0xFF
_MAX_END_PACKET = 9
"""Bytes. A longer packet with the same first byte is a row."""
_MAX_PACKET = 0xFFFFFF
_RECEIVE_BYTES = 1 << 14
_ROWS_PER_YIELD = 500
"""Rows that are read before a pause, in which other requests run."""
_QUERY = bytes((COMMAND.COM_QUERY,))
_MORE = SERVER_STATUS.SERVER_MORE_RESULTS_EXISTS


@lru_cache(maxsize=64)  # rows of one transaction have the same time
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


def execute_message(
    connection: Connection[Any], message: str, pause: Callable[[], None]
) -> list[list[tuple[Any, ...]]]:
    """Run a message of statements. Return the rows of each statement; the first error is raised and ends it.

    Calls `pause` after each few hundred rows.
    """
    send_message(connection, message)
    return receive_results(connection, pause)


def send_message(connection: Connection[Any], message: str) -> None:
    """Send a message of statements without waiting for its results."""
    _Stream(connection).send(message.encode())


def receive_results(connection: Connection[Any], pause: Callable[[], None]) -> list[list[tuple[Any, ...]]]:
    """Return the rows of each statement of the message that was sent."""
    stream = _Stream(connection)
    results, status = [], _MORE
    while status & _MORE:
        rows, status = _read_result(stream, pause)
        results.append(rows)
    stream.finish(status)
    return results


def quote(connection: Connection[Any]) -> Callable[[str], str]:
    """Return the function that quotes a text for a statement of this connection.

    Between single quotes only a quote, a backslash and a NUL have a meaning.
    """
    no_backslash_escapes = connection.server_status & SERVER_STATUS.SERVER_STATUS_NO_BACKSLASH_ESCAPES
    return _quoted_without_backslashes if no_backslash_escapes else _quoted


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0") + "'"


def _quoted_without_backslashes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _read_result(stream: _Stream, pause: Callable[[], None]) -> tuple[list[tuple[Any, ...]], int]:
    """Return the rows of one statement, and the server status after it."""
    packet = stream.read_packet()
    if packet[0] == _OK:
        _, at = _read_integer(packet, 1)
        _, at = _read_integer(packet, at)
        return [], packet[at] | packet[at + 1] << 8
    readers = [_READERS[stream.read_packet()[-6]] for _ in range(packet[0])]
    stream.read_packet()  # the end of the columns
    rows: list[tuple[Any, ...]] = []
    while True:
        packet = stream.read_packet()
        if packet[0] == _END and len(packet) < _MAX_END_PACKET:
            return rows, packet[3] | packet[4] << 8
        rows.append(_row(packet, readers))
        if not len(rows) % _ROWS_PER_YIELD:
            pause()


def _row(packet: bytes, readers: list[Callable[[bytes], Any]]) -> tuple[Any, ...]:
    values: list[Any] = []
    at = 0
    for read in readers:
        length, start = packet[at], at + 1
        if length >= _NULL:  # not a length of one byte
            if length == _NULL:
                values.append(None)
                at = start
                continue
            length, start = _read_integer(packet, at)
        at = start + length
        values.append(read(packet[start:at]))
    return tuple(values)


def _read_integer(packet: bytes, at: int) -> tuple[int, int]:
    """Return a length-encoded integer, and the position after it."""
    first = packet[at]
    if first < _NULL:
        return first, at + 1
    end = at + 1 + {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(packet[at + 1 : end], "little"), end


def _frame_packet(number: int, content: bytes) -> bytes:
    """Return a packet: the header with the length and this sequence number, and the content."""
    return (len(content) | number << 24).to_bytes(4, "little") + content


class _Stream:
    """Packets to and from the server: one message and its results."""

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

    def send(self, message: bytes) -> None:
        content = _QUERY + message
        # A packet of maximal length is followed by another one, which may be empty.
        for number, at in enumerate(range(0, len(content) + 1, _MAX_PACKET)):
            self._write(_frame_packet(number, content[at : at + _MAX_PACKET]))

    def _write(self, packet: bytes) -> None:
        try:
            sent = self._socket.send(packet)
            if sent < len(packet):
                self._socket.sendall(packet[sent:])
        except OSError as error:
            raise self._lost(CR.CR_SERVER_GONE_ERROR, error) from error

    def read_packet(self) -> bytes:
        content = b""
        length = _MAX_PACKET
        while length == _MAX_PACKET:
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

    def finish(self, status: int) -> None:
        """Record the server status after the last result. Closes the connection if the buffer has more bytes."""
        self._connection.server_status = status
        if self._at < len(self._buffer):  # more than the results: the next read would be out of step
            self._connection._force_close()

    def _fill(self, count: int) -> None:
        """Wait until the buffer has at least this many unread bytes."""
        parts = [self._buffer[self._at :]]
        missing = count - len(parts[0])
        try:
            while missing > 0:
                parts.append(self._socket.recv(max(_RECEIVE_BYTES, missing)))
                missing -= len(parts[-1])
                if not parts[-1]:
                    raise self._lost(CR.CR_SERVER_LOST, "the server closed it")
        except OSError as error:
            raise self._lost(CR.CR_SERVER_LOST, error) from error
        self._buffer, self._at = b"".join(parts), 0

    def _lost(self, number: int, reason: object) -> err.OperationalError:
        self._connection._force_close()
        return err.OperationalError(number, f"Lost connection to the server ({reason})")
