# SPDX-License-Identifier: Apache-2.0

"""Sends messages of statements to a MySQL server and reads the results, on a connection of PyMySQL.

PyMySQL makes an object of every packet and of every column of every result, which takes longer than the server needs
for the query. Here packets are cut out of the receive buffer. Only the column types of our statements are supported:
integers, texts and times. Errors are raised as PyMySQL raises them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

from pymysql import err
from pymysql.connections import Connection
from pymysql.constants import COMMAND, CR, FIELD_TYPE, SERVER_STATUS

from plimsoll.runtime.base import Runtime

_OK, _NULL, _END, _ERROR = 0x00, 0xFB, 0xFE, 0xFF
_MAX_END_PACKET = 9
"""Bytes. A longer packet with the same first byte is a row."""
_MAX_PACKET = 0xFFFFFF
_RECEIVE_BYTES = 1 << 14
_ROWS_PER_YIELD = 500
"""Rows that are read before a pause, in which other requests run."""
_HEADER = struct.Struct("<I")
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
    connection: Connection[Any], message: str, runtime: Runtime
) -> list[list[tuple[Any, ...]]]:
    """Run a message of statements. Return the rows of each statement; the first error is raised and ends it."""
    send_message(connection, message)
    return receive_results(connection, runtime)


def send_message(connection: Connection[Any], message: str) -> None:
    """Send a message of statements without waiting for its results."""
    socket = _socket(connection)
    content = _QUERY + message.encode()
    # A packet of maximal length is followed by another one, which may be empty.
    for number, at in enumerate(range(0, len(content) + 1, _MAX_PACKET)):
        packet = _frame_packet(number, content[at : at + _MAX_PACKET])
        try:
            sent = socket.send(packet)
            if sent < len(packet):
                socket.sendall(packet[sent:])
        except OSError as error:
            raise _lost(connection, CR.CR_SERVER_GONE_ERROR, error) from error


def receive_results(connection: Connection[Any], runtime: Runtime) -> list[list[tuple[Any, ...]]]:
    """Return the rows of each statement of the message that was sent. Yields after each few hundred rows."""
    packets = _packets(connection, runtime)
    try:
        results, status = [], _MORE
        while status & _MORE:
            rows, status = _read_result(packets, runtime.yield_now)
            results.append(rows)
        connection.server_status = status
        return results
    finally:
        packets.close()


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


def _read_result(packets: Iterator[bytes], pause: Callable[[], None]) -> tuple[list[tuple[Any, ...]], int]:
    """Return the rows of one statement, and the server status after it."""
    packet = next(packets)
    count = packet[0]
    if count == _OK:
        _, at = _read_integer(packet, 1)
        _, at = _read_integer(packet, at)
        return [], packet[at] | packet[at + 1] << 8
    if count == _ERROR:
        err.raise_mysql_exception(packet)
    readers = [_READERS[next(packets)[-6]] for _ in range(count)]
    next(packets)  # the end of the columns
    rows: list[tuple[Any, ...]] = []
    for packet in packets:
        if packet[0] >= _END:
            if packet[0] == _ERROR:
                err.raise_mysql_exception(packet)
            if len(packet) < _MAX_END_PACKET:
                break
        rows.append(_row(packet, readers))
        if not len(rows) % _ROWS_PER_YIELD:
            pause()
    return rows, packet[3] | packet[4] << 8


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


def _packets(connection: Connection[Any], runtime: Runtime) -> Generator[bytes]:
    """Yield the packets of the results, without end.

    If it is closed before all received bytes were used, it closes the connection: the next results would be out of step.
    """
    _wait_for_input(connection, runtime)
    buffer, at = _receive(connection, b"", 4), 0
    long_packet = b""
    try:
        while True:
            try:
                (header,) = _HEADER.unpack_from(buffer, at)
            except struct.error:
                buffer, at = _receive(connection, buffer[at:], 4), 0
                continue
            length = header & _MAX_PACKET  # the fourth byte is the sequence number
            begin, at = at + 4, at + 4 + length
            if at > len(buffer):
                buffer, begin, at = _receive(connection, buffer[begin:], length), 0, length
            if length == _MAX_PACKET:
                long_packet += buffer[begin:at]
            elif long_packet:
                packet, long_packet = long_packet + buffer[begin:at], b""
                yield packet
            else:
                yield buffer[begin:at]
    finally:
        if at < len(buffer):
            connection._force_close()


def _wait_for_input(connection: Connection[Any], runtime: Runtime) -> None:
    """Wait for the first bytes of the results: a receive before them would fail at first, and wait at a higher cost."""
    socket, seconds = _socket(connection), connection._read_timeout
    if seconds is None or runtime.has_input(socket.fileno()):
        return
    try:
        runtime.wait_for_input(socket.fileno(), seconds)
    except OSError as error:
        raise _lost(connection, CR.CR_SERVER_LOST, error) from error


def _receive(connection: Connection[Any], received: bytes, count: int) -> bytes:
    """Receive until there are at least `count` bytes, and return them with those that were `received` before."""
    socket, parts = connection._sock, [received]
    missing = count - len(received)
    try:
        while missing > 0:
            parts.append(socket.recv(max(_RECEIVE_BYTES, missing)))
            missing -= len(parts[-1])
            if not parts[-1]:
                raise _lost(connection, CR.CR_SERVER_LOST, "the server closed it")
    except OSError as error:
        raise _lost(connection, CR.CR_SERVER_LOST, error) from error
    return b"".join(parts)


def _socket(connection: Connection[Any]) -> Any:
    """Return the socket of a connection, with the timeout for results: PyMySQL sets others for its own calls."""
    socket = connection._sock
    if socket is None:
        raise err.InterfaceError(0, "")
    if socket.gettimeout() != connection._read_timeout:
        socket.settimeout(connection._read_timeout)
    return socket


def _lost(connection: Connection[Any], number: int, reason: object) -> err.OperationalError:
    connection._force_close()
    return err.OperationalError(number, f"Lost connection to the server ({reason})")
