# SPDX-License-Identifier: Apache-2.0

"""MariaDB 10.6 and MySQL 8.0.16 and later, through PyMySQL, or mysqlclient if the URL says so.

Texts compare as the collation of the tables says, mostly without regard to case; ratios are kept as single
precision. On a Galera cluster, a read through one node sees what was committed through another.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Connection, text
from sqlalchemy.exc import DBAPIError

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.runtime.scheduling import BusyPoll
from plimsoll.storage.dialects.base import DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.dialects.collation import Collation, ratio_in_single_precision
from plimsoll.storage.dialects.server import ABANDONED_SECONDS, CONNECT_SECONDS, LOCK_SECONDS, ServerDialect
from plimsoll.storage.errors import (
    Busy,
    ConstraintFailed,
    DatabaseFault,
    DiskFull,
    Interrupted,
    NoSuchDatabase,
    NotPermitted,
    Overtaken,
    ReadOnly,
    TooLong,
    TooManyConnections,
    Unreachable,
    ValueNotKept,
    asked_again_if_lost,
)
from plimsoll.storage.fast.multi_statement import Quote, answers_of, filled
from plimsoll.storage.head import GUARD, QUERY
from plimsoll.storage.sql import Statement

ROWS_SECONDS = 250e-6
"""In which a server on the same machine, or nearly so, finds a few rows."""

OLDEST_MARIADB = (10, 6)
OLDEST_MYSQL = (8, 0, 16)  # the first that knows checks

# A server that was stopped in its tracks keeps its connections: after so long without an answer we hang up.
ANSWER_SECONDS = 60
_SCHEMA_SECONDS = 60

BESIDE_STATEMENTS = 256
"""Bytes of a packet that are left for what is around the statements of a message: see `with_commit`."""

_FAULTS: dict[type[DatabaseFault | ValueNotKept], frozenset[int]] = {
    Unreachable: frozenset(
        (
            *(1042, 1043, 1053, 1079, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 4031),  # lost or ended
            1047,  # Galera: this node does not belong to the cluster at present
            1180,  # an error during a commit, which was undone
            *(2002, 2003, 2005, 2006, 2012, 2013, 2014, 2026, 2055),  # the client's own words for it
        )
    ),
    TooManyConnections: frozenset((1040, 1203, 1226)),
    Busy: frozenset(
        (
            *(1205, 1213),  # a lock not to be had in time; a deadlock, or a race lost between Galera nodes
            1020,  # changed since it was last read
        )
    ),
    Interrupted: frozenset((1317, 1969, 3024)),
    Overtaken: frozenset((3819, 4025)),  # a check has failed: which one is in the text
    ReadOnly: frozenset((1290, 1792, 1836, 1874)),
    DiskFull: frozenset((3, 1021, 1026, 1030, 1114, 1194)),
    NoSuchDatabase: frozenset((1049,)),
    NotPermitted: frozenset(
        (
            *(1044, 1142, 1143, 1227),  # on a database, a table, a column; or at all
            *(1045, 1130, 1698, 1820, 1862, 3118, 4151),  # wrong password, host not let in, expired, locked
        )
    ),
    TooLong: frozenset((1153, 1301)),  # a packet, or the result of a function
    ValueNotKept: frozenset((1267, 1270, 1271, 3854, 3988)),  # a character that the tables have no place for
}
_KIND_OF = {number: kind for kind, numbers in _FAULTS.items() for number in numbers}

# Of MySQL's protocol; both drivers know them by these numbers.
_FOUND_ROWS, _MULTI_STATEMENTS = 1 << 1, 1 << 16

_ABOUT = text(
    "SELECT t.table_collation, c.character_set_name FROM information_schema.tables t"
    " JOIN information_schema.collation_character_set_applicability c ON c.collation_name = t.table_collation"
    " WHERE t.table_schema = DATABASE() AND t.table_name = 'resource_providers'"
)
_DEFAULT = text("SELECT @@collation_database, @@character_set_database")


class MySQL(ServerDialect):
    def __init__(self, url: URL, options: DatabaseOptions) -> None:
        driver = "mysqldb" if url.drivername.endswith("+mysqldb") else "pymysql"
        self._packets = import_module("plimsoll.storage.fast.mysql_protocol") if driver == "pymysql" else None
        self._rows_come = BusyPoll(ROWS_SECONDS)
        self._limits: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        """The longest message that each connection takes, in bytes."""
        # What the reference's URLs call utf8 has no room for every character; the tables decide what they keep.
        super().__init__(
            url.set(drivername=f"mysql+{driver}").update_query_dict({"charset": "utf8mb4"}), options
        )

    def _start_afresh(self) -> None:
        self._is_mariadb = self._is_galera = False
        super()._start_afresh()

    @property
    def is_multi_primary(self) -> bool:
        return self._is_galera

    def connect_arguments(self) -> dict[str, Any]:
        given = {"connect_timeout": CONNECT_SECONDS, "read_timeout": ANSWER_SECONDS}
        # SQLAlchemy asks for the first, to be told of rows that an update has found and not changed.
        ours: dict[str, Any] = {"client_flag": _FOUND_ROWS | _MULTI_STATEMENTS}
        if self._packets is not None:
            ours["conv"] = _converters()
        return ours | {name: value for name, value in given.items() if name not in self._url.query}

    def socket_of(self, connection: Any) -> int | None:
        if self._packets is None:
            return None
        return connection._sock.fileno() if connection.open else -1

    def set_up_reader(self, connection: Any) -> None:
        self._set_up(connection, "READ ONLY")

    def set_up_writer(self, connection: Any) -> None:
        settings = [f"innodb_lock_wait_timeout = {LOCK_SECONDS}"]
        if self._is_mariadb:
            settings.append(f"idle_transaction_timeout = {ABANDONED_SECONDS}")
            settings.append("check_constraint_checks = ON")  # it guards the head
        self._set_up(connection, "READ WRITE", *settings)
        # Each statement begins a transaction where there is none. A Galera node may end ours while we think, when
        # another one was faster; what we say next must not stand alone then.
        connection.autocommit(False)

    def set_up_probe(self, connection: Any) -> None:
        connection.autocommit(True)
        if self._packets is not None:
            self._head_query = self._packets.often_asked(connection, QUERY)

    def _set_up(self, connection: Any, access: str, *settings: str) -> None:
        _notice_a_vanished_host(connection)
        # Class number 0 is VCPU, not a wish for the next number.
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
        # A transaction sees one state from its first plain read on; what it locks, it sees as it is.
        cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, {access}")
        cursor.execute(f"SET SESSION {', SESSION '.join(settings)}")
        cursor.execute("SELECT @@max_allowed_packet")
        self._limits[connection] = int(cursor.fetchone()[0]) - BESIDE_STATEMENTS
        cursor.close()

    def get_to_know(self, connection: Connection) -> DatabaseSemantics:
        about = str(connection.scalar(text("SELECT VERSION()")))
        mariadb = "mariadb" in about.lower()
        version = tuple(connection.dialect.server_version_info or (0,))
        if version < (OLDEST_MARIADB if mariadb else OLDEST_MYSQL):
            oldest = [".".join(map(str, numbers)) for numbers in (OLDEST_MARIADB, OLDEST_MYSQL)]
            raise UnusableDatabaseError(
                f"{self.where} is {about}; Plimsoll needs MariaDB {oldest[0]} or MySQL {oldest[1]}, or later."
            )
        galera = connection.execute(text("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'")).first()
        self._is_mariadb, self._is_galera = mariadb, galera is not None and galera[1] == "ON"
        # This connection was made before we knew; what is made from now on is made for such a server.
        connection.detach()
        collation, charset = connection.execute(_ABOUT).first() or connection.execute(_DEFAULT).one()
        collated = Collation(collation, charset, self._weights)
        return DatabaseSemantics(key=collated.key, ratio=ratio_in_single_precision)

    def _weights(self, query: str, parameters: tuple[str, ...]) -> list[Any]:
        return asked_again_if_lost(lambda: self._weighed(query, parameters))

    def _weighed(self, query: str, parameters: tuple[str, ...]) -> list[Any]:
        try:
            with self.read() as connection:
                return list(connection.exec_driver_sql(query, parameters))
        except DBAPIError as error:
            fault = None if error.orig is None else self.fault_of(error.orig)
            if fault is None:
                raise
            raise fault from error

    @contextlib.contextmanager
    def schema_lock(self, connection: Connection) -> Iterator[None]:
        name = f"plimsoll.schema.{self._url.database}"[:64]
        with connection.begin():
            wanted = {"name": name, "seconds": _SCHEMA_SECONDS}
            taken = connection.scalar(text("SELECT GET_LOCK(:name, :seconds)"), wanted)
        if not taken:
            raise Busy("Another process has been changing its schema for a minute.")
        try:
            yield
        finally:
            # It is held by the session; a session that is closed lets go of it.
            connection.invalidate()

    def answers(self, connection: Any, message: str) -> list[list[Any]]:
        if self._packets is not None:
            answers: list[list[Any]] = self._packets.answers(connection, message)
            return answers
        with contextlib.closing(connection.cursor()) as cursor:
            cursor.execute(message)
            return answers_of(cursor)

    def rows(self, connection: Any, statement: Statement) -> list[Any]:
        if self._packets is None:
            return super().rows(connection, statement)
        query = filled(statement, self.quote(connection))
        with self._rows_come:
            self._packets.say(connection, query)
            self._rows_come.spots(self.socket_of(connection))
            rows: list[Any] = self._packets.heard(connection)[-1]
            return rows

    def say_head(self, connection: Any) -> None:
        if self._packets is not None:
            self._head_query.say()

    def hear_head(self, connection: Any) -> Sequence[Any]:
        row: Sequence[Any]
        if self._packets is not None:
            row = self._head_query.heard()
        else:  # this driver cannot but wait
            row = self.last_answer(connection, QUERY)[0]
        return row

    def with_commit(self, message: str) -> str:
        # One answer instead of one for each statement: to be woken for each, and to wait for one's turn in this
        # process, takes as long as the statements do.
        return f"BEGIN NOT ATOMIC {message};COMMIT;END" if self._is_mariadb else super().with_commit(message)

    def longest_message(self, connection: Any) -> int:
        return self._limits[connection]

    def quote(self, connection: Any) -> Quote:
        if self._packets is not None:
            quote: Quote = self._packets.quote(connection)
            return quote
        return lambda text: str(connection.literal(text), "utf-8")

    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotKept | None:
        number = error.args[0] if error.args else None
        if type(error).__name__ == "InterfaceError" and number in (0, 2006, 2013):
            return Unreachable("The connection was lost.")
        kind = _KIND_OF.get(number) if isinstance(number, int) else None
        if kind is TooLong:
            return TooLong()
        if kind is Overtaken and GUARD not in str(error):
            return ConstraintFailed(error)
        return None if kind is None else self.fault(kind, error)


def _converters() -> dict[Any, Any]:
    """PyMySQL's own, but for times: it reads them with a regular expression, which is most of reading a world."""
    from pymysql.constants import FIELD_TYPE
    from pymysql.converters import conversions, convert_datetime

    def read_time(text: str) -> Any:
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            return convert_datetime(text)

    return {**conversions, FIELD_TYPE.DATETIME: read_time}


def _notice_a_vanished_host(connection: Any) -> None:
    """Within half a minute. mysqlclient keeps its socket to itself, and the system's two hours with it."""
    opened = getattr(connection, "_sock", None)
    if isinstance(opened, socket.socket) and opened.family in (socket.AF_INET, socket.AF_INET6):
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4)):
            if hasattr(socket, option):
                opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
