# SPDX-License-Identifier: Apache-2.0

"""MariaDB 10.6 and MySQL 8.0.16 and later, through PyMySQL, or through mysqlclient if the URL names it.

Texts are compared by the collation of the tables, mostly case-insensitive; ratios are stored in single precision.
On a Galera cluster, a read through one node sees commits through other nodes.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Connection, text
from sqlalchemy.exc import DBAPIError

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.fast_paths import FastPaths
from plimsoll.runtime.base import Runtime
from plimsoll.storage.dialects.base import DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.dialects.collation import Collation, ratio_in_single_precision
from plimsoll.storage.dialects.server import (
    CONNECT_SECONDS,
    IDLE_TRANSACTION_SECONDS,
    LOCK_SECONDS,
    ServerDialect,
)
from plimsoll.storage.dialects.statements import OneByOneSender, run_statement
from plimsoll.storage.errors import (
    Busy,
    ConstraintFailed,
    DatabaseFault,
    DiskFull,
    HeadMoved,
    Interrupted,
    NoSuchDatabase,
    NotPermitted,
    ReadOnly,
    StatementTooLong,
    TooManyConnections,
    Unreachable,
    ValueNotStorable,
    retry_once_if_lost,
)
from plimsoll.storage.fast.multi_statement import Quote, fetch_results, render_statement
from plimsoll.storage.head import HEAD_GUARD, QUERY
from plimsoll.storage.sql import Statement

MIN_MARIADB_VERSION = (10, 6)
MIN_MYSQL_VERSION = (8, 0, 16)  # the first with CHECK constraints

# A server that hangs keeps its connections open: after this many seconds without input the connection is closed.
RESULT_SECONDS = 60
_SCHEMA_SECONDS = 60

PACKET_OVERHEAD_BYTES = 256
"""Bytes of a packet that are reserved for more than the message itself."""

_FAULTS: dict[type[DatabaseFault | ValueNotStorable], frozenset[int]] = {
    Unreachable: frozenset(
        (
            # connection lost or closed
            *(1042, 1043, 1053, 1079, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 4031),
            1047,  # Galera: this node is not part of the cluster
            1180,  # error during a commit, which was rolled back
            # the client library's numbers for the same
            *(2002, 2003, 2005, 2006, 2012, 2013, 2014, 2026, 2055),
        )
    ),
    TooManyConnections: frozenset((1040, 1203, 1226)),
    Busy: frozenset(
        (
            *(1205, 1213),  # lock wait timeout; deadlock, or a write conflict between Galera nodes
            1020,  # row changed since it was read
            1050,  # the table exists: another Galera node has created it at the same time
            1412,  # the definition of a table was changed by another node
        )
    ),
    Interrupted: frozenset((1317, 1969, 3024)),
    HeadMoved: frozenset((3819, 4025)),  # a CHECK constraint failed: its name is in the text
    ReadOnly: frozenset((1290, 1792, 1836, 1874)),
    DiskFull: frozenset((3, 1021, 1026, 1030, 1114, 1194)),
    NoSuchDatabase: frozenset((1049,)),
    NotPermitted: frozenset(
        (
            *(1044, 1142, 1143, 1227),  # on a database, a table, a column; or globally
            # wrong password, host not allowed, password expired, account locked
            *(1045, 1130, 1698, 1820, 1862, 3118, 4151),
        )
    ),
    StatementTooLong: frozenset((1153, 1301)),  # packet, or result of a function
    ValueNotStorable: frozenset((1267, 1270, 1271, 3854, 3988)),  # a character that the tables cannot store
}
_FAULT_OF_NUMBER = {number: kind for kind, numbers in _FAULTS.items() for number in numbers}

# Client flags of the MySQL protocol.
_FOUND_ROWS, _MULTI_STATEMENTS = 1 << 1, 1 << 16

_TABLE_COLLATION = text(
    "SELECT t.table_collation, c.character_set_name FROM information_schema.tables t"
    " JOIN information_schema.collation_character_set_applicability c ON c.collation_name = t.table_collation"
    " WHERE t.table_schema = DATABASE() AND t.table_name = 'resource_providers'"
)
_DATABASE_COLLATION = text("SELECT @@collation_database, @@character_set_database")


class MySQL(ServerDialect):
    begin_read = Statement("BEGIN")

    def __init__(self, url: URL, options: DatabaseOptions, runtime: Runtime, fast_paths: FastPaths) -> None:
        self._driver = "mysqldb" if url.drivername.endswith("+mysqldb") else "pymysql"
        self._protocol = (
            import_module("plimsoll.storage.fast.mysql_protocol")
            if self._driver == "pymysql" and fast_paths.mysql_protocol
            else None
        )
        self._max_message_bytes: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        """The longest message that the server accepts on each connection."""
        # `utf8` in URLs of the reference lacks some characters. The tables decide which characters are stored.
        utf8 = url.set(drivername=f"mysql+{self._driver}").update_query_dict({"charset": "utf8mb4"})
        super().__init__(utf8, options, runtime, fast_paths)

    def _create_connections(self) -> None:
        self._is_mariadb = self._is_galera = False
        super()._create_connections()

    @property
    def is_multi_primary(self) -> bool:
        return self._is_galera

    def connect_arguments(self) -> dict[str, Any]:
        defaults = {"connect_timeout": CONNECT_SECONDS, "read_timeout": RESULT_SECONDS}
        # SQLAlchemy needs FOUND_ROWS: an UPDATE then counts matching rows, not only changed ones.
        arguments: dict[str, Any] = {"client_flag": _FOUND_ROWS | _MULTI_STATEMENTS}
        if self._driver == "pymysql":
            arguments["conv"] = _converters()
        return arguments | {name: value for name, value in defaults.items() if name not in self._url.query}

    def socket_of(self, connection: Any) -> int | None:
        if self._driver != "pymysql":
            return None
        return connection._sock.fileno() if connection.open else -1

    def set_up_reader(self, connection: Any) -> None:
        self._set_up(connection, "READ ONLY")

    def set_up_writer(self, connection: Any) -> None:
        settings = [f"innodb_lock_wait_timeout = {LOCK_SECONDS}"]
        if self._is_mariadb:
            settings.append(f"idle_transaction_timeout = {IDLE_TRANSACTION_SECONDS}")
            settings.append("check_constraint_checks = ON")  # a CHECK constraint guards the head
        self._set_up(connection, "READ WRITE", *settings)
        # A statement outside of a transaction begins one. A Galera node may roll back our transaction between two
        # statements, after a conflict; without this, the next statement would commit by itself.
        connection.autocommit(False)

    def _set_up(self, connection: Any, access: str, *settings: str) -> None:
        _enable_keepalive(connection)
        # Resource class 0 is VCPU: a 0 in an INSERT must not become the next number.
        modes = [mode for mode in (self._options.mysql_sql_mode or "").split(",") if mode]
        mode = ",".join([*modes, "NO_AUTO_VALUE_ON_ZERO"])
        settings = (
            f"sql_mode = '{mode}'",
            "time_zone = '+00:00'",
            "group_concat_max_len = 16777216",
            *settings,
        )
        if self._is_galera and self._options.causal_reads:
            settings = (*settings, "wsrep_sync_wait = 1")
        cursor = connection.cursor()
        # A transaction sees one state from its first plain read on; locking reads see the last commit.
        cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, {access}")
        cursor.execute(f"SET SESSION {', SESSION '.join(settings)}")
        cursor.execute("SELECT @@max_allowed_packet")
        self._max_message_bytes[connection] = int(cursor.fetchone()[0]) - PACKET_OVERHEAD_BYTES
        cursor.close()

    def inspect(self, connection: Connection) -> DatabaseSemantics:
        description = str(connection.scalar(text("SELECT VERSION()")))
        mariadb = "mariadb" in description.lower()
        version = tuple(connection.dialect.server_version_info or (0,))
        if version < (MIN_MARIADB_VERSION if mariadb else MIN_MYSQL_VERSION):
            minimum = [".".join(map(str, numbers)) for numbers in (MIN_MARIADB_VERSION, MIN_MYSQL_VERSION)]
            raise UnusableDatabaseError(
                f"{self.where} is {description}; Plimsoll needs MariaDB {minimum[0]} or MySQL {minimum[1]}, or later."
            )
        self._is_mariadb, self._is_galera = mariadb, is_galera(connection)
        if self._is_galera and not mariadb:  # see `as_one_statement`: MySQL has no such blocks
            self.sender = OneByOneSender(self._runtime)
        collation, charset = (
            connection.execute(_TABLE_COLLATION).first() or connection.execute(_DATABASE_COLLATION).one()
        )
        comparison = Collation(collation, charset, self._query_weights)
        return DatabaseSemantics(key=comparison.key, ratio=ratio_in_single_precision)

    def _query_weights(self, query: str, parameters: tuple[str, ...]) -> list[Any]:
        return retry_once_if_lost(lambda: self._query_weights_once(query, parameters))

    def _query_weights_once(self, query: str, parameters: tuple[str, ...]) -> list[Any]:
        try:
            with self.read() as connection:
                return list(connection.exec_driver_sql(query, parameters))
        except DBAPIError as error:
            fault = None if error.orig is None else self.fault_of(error.orig)
            if fault is None:
                raise
            raise fault from error

    def lock_schema(self, connection: Any) -> None:
        name = f"plimsoll.schema.{self._url.database}"[:64]
        lock = Statement("SELECT GET_LOCK(%s, %s)", (name, _SCHEMA_SECONDS))
        ((is_locked,),) = run_statement(connection, lock, self._runtime.yield_now)
        if not is_locked:
            raise Busy("Another process has been changing its schema for a minute.")

    def execute_message(self, connection: Any, message: str) -> list[list[Any]]:
        if self._protocol is not None:
            results: list[list[Any]] = self._protocol.execute_message(connection, message, self._runtime)
            return results
        with contextlib.closing(connection.cursor()) as cursor:
            cursor.execute(message)
            return fetch_results(cursor)

    def execute_query(self, connection: Any, statement: Statement) -> list[Any]:
        if self._protocol is None:
            return super().execute_query(connection, statement)
        return self.execute_message(connection, render_statement(statement, self.quote(connection)))[-1]

    def send_head_query(self, connection: Any) -> None:
        if self._protocol is not None:  # the drivers cannot send without waiting for the result
            self._protocol.send_message(connection, QUERY)

    def receive_head(self, connection: Any) -> Sequence[Any]:
        if self._protocol is not None:
            rows = self._protocol.receive_results(connection, self._runtime)[-1]
        else:
            rows = self.execute_query(connection, Statement(QUERY))
        row: Sequence[Any] = rows[0]
        return row

    def max_message_bytes(self, connection: Any) -> int:
        return self._max_message_bytes[connection]

    def as_one_statement(self, message: str) -> str:
        # A Galera node may abort a transaction between two statements of a message, and then runs the rest of it: a
        # COMMIT at the end would commit half of the transaction. A block is one statement, which fails as a whole.
        return f"BEGIN NOT ATOMIC {message};END" if self._is_mariadb else message

    def quote(self, connection: Any) -> Quote:
        if self._protocol is not None:
            quote: Quote = self._protocol.quote(connection)
            return quote
        if self._driver == "pymysql":
            return lambda text: str(connection.literal(text))
        return lambda text: str(connection.literal(text), "utf-8")

    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotStorable | None:
        number = error.args[0] if error.args else None
        if type(error).__name__ == "InterfaceError" and number in (0, 2006, 2013):
            return Unreachable("The connection was lost.")
        kind = _FAULT_OF_NUMBER.get(number) if isinstance(number, int) else None
        if kind is StatementTooLong:
            return StatementTooLong()
        if kind is HeadMoved and HEAD_GUARD not in str(error):
            return ConstraintFailed(error)
        return None if kind is None else self.fault(kind, error)


def is_galera(connection: Connection) -> bool:
    """True if this node belongs to a Galera cluster."""
    row = connection.execute(text("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'")).first()
    return row is not None and row[1] == "ON"


def _converters() -> dict[Any, Any]:
    """PyMySQL's converters with a faster one for times: its regular expression takes most of a full load."""
    from pymysql.constants import FIELD_TYPE
    from pymysql.converters import conversions, convert_datetime

    def read_time(text: str) -> Any:
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            return convert_datetime(text)

    return {**conversions, FIELD_TYPE.DATETIME: read_time}


def _enable_keepalive(connection: Any) -> None:
    """Detect a host that has vanished within 30 s; with mysqlclient, which hides its socket, within two hours."""
    sock = getattr(connection, "_sock", None)
    if isinstance(sock, socket.socket) and sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4)):
            if hasattr(socket, option):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
