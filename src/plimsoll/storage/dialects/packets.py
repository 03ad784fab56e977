# SPDX-License-Identifier: Apache-2.0

"""Reads what a MySQL server answers to a message of statements, over a connection of PyMySQL.

PyMySQL makes an object of every packet and of every column of every answer, which takes longer than the server needs
to answer. Here the packets are taken apart where they lie. Only what our statements ask for is known: numbers, texts
and times. Errors are raised as PyMySQL raises them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from pymysql import err
from pymysql.connections import Connection
from pymysql.constants import COMMAND, CR, FIELD_TYPE, SERVER_STATUS

_OK, _NULL, _END, _ERROR = 0x00, 0xFB, 0xFE, 0xFF
_LONGEST_END = 9
_LONGEST = 0xFFFFFF


def _text(value: bytes) -> str:
    return value.decode()


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
    **dict.fromkeys(_TEXTS, _text),
}


def answers(connection: Connection[Any], message: str) -> list[list[tuple[Any, ...]]]:
    """The rows of each statement; the first that fails ends it."""
    connection._execute_command(COMMAND.COM_QUERY, message)
    connection._sock.settimeout(connection._read_timeout)
    connection._current_timeout = connection._read_timeout
    found, more = [], SERVER_STATUS.SERVER_MORE_RESULTS_EXISTS
    while more & SERVER_STATUS.SERVER_MORE_RESULTS_EXISTS:
        rows, more = _answer(connection)
        found.append(rows)
    connection.server_status = more
    return found


def _answer(connection: Connection[Any]) -> tuple[list[tuple[Any, ...]], int]:
    """The rows of one statement, and the status of the server after it."""
    packet = _packet(connection)
    if packet[0] == _OK:
        _, at = _number(packet, 1)
        _, at = _number(packet, at)
        return [], packet[at] | packet[at + 1] << 8
    readers = [_READERS[_packet(connection)[-6]] for _ in range(packet[0])]
    _packet(connection)  # the end of the columns
    rows: list[tuple[Any, ...]] = []
    while True:
        packet = _packet(connection)
        if packet[0] == _END and len(packet) < _LONGEST_END:
            return rows, packet[3] | packet[4] << 8
        rows.append(_row(packet, readers))


def _row(packet: bytes, readers: list[Callable[[bytes], Any]]) -> tuple[Any, ...]:
    values: list[Any] = []
    at = 0
    for read in readers:
        if packet[at] == _NULL:
            values.append(None)
            at += 1
            continue
        length, at = _number(packet, at)
        values.append(read(packet[at : at + length]))
        at += length
    return tuple(values)


def _number(packet: bytes, at: int) -> tuple[int, int]:
    """A number of a length that it tells itself, and where the next thing begins."""
    first = packet[at]
    if first < _NULL:
        return first, at + 1
    end = at + 1 + {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(packet[at + 1 : end], "little"), end


def _packet(connection: Connection[Any]) -> bytes:
    content = b""
    while True:
        header = _bytes(connection, 4)
        length = header[0] | header[1] << 8 | header[2] << 16
        part = _bytes(connection, length) if length else b""
        content = content + part if content else part
        if length < _LONGEST:
            break
    if content[0] == _ERROR:
        err.raise_mysql_exception(content)
    return content


def _bytes(connection: Connection[Any], count: int) -> bytes:
    try:
        found: bytes = connection._rfile.read(count)
    except OSError as error:
        connection._force_close()
        raise err.OperationalError(CR.CR_SERVER_LOST, f"Lost connection to the server ({error})") from error
    if len(found) < count:
        connection._force_close()
        raise err.OperationalError(CR.CR_SERVER_LOST, "Lost connection to the server")
    return found
