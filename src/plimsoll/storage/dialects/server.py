# SPDX-License-Identifier: Apache-2.0

"""What database servers have in common: pools of connections, the probe of the head, messages of many statements.

Nothing is connected before it is first needed. A lost connection is replaced by the next one who needs it.
"""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import TimeoutError as NoFreeConnection
from sqlalchemy.pool import NullPool, QueuePool

from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.runtime.scheduling import BusyPoll, has_input
from plimsoll.storage.dialects.base import DatabaseOptions
from plimsoll.storage.dialects.connection_cache import CachedConnection, ConnectionCache
from plimsoll.storage.dialects.errors import as_sqlalchemys
from plimsoll.storage.dialects.forks import begin_anew_after_fork
from plimsoll.storage.dialects.head_probe import HeadProbe
from plimsoll.storage.dialects.startup import StartupCheck
from plimsoll.storage.dialects.transaction import Transaction, of, tell_outcome
from plimsoll.storage.dialects.writers import WriteConnections, send_nothing
from plimsoll.storage.errors import (
    Busy,
    DatabaseFault,
    NotPermitted,
    Overtaken,
    Unreachable,
    ValueNotKept,
)
from plimsoll.storage.fast.multi_statement import (
    Quote,
    filled,
    joined,
    messages,
)
from plimsoll.storage.head import QUERY, Head
from plimsoll.storage.sql import Statement, query

CONNECT_SECONDS = 10
LOCK_SECONDS = 10
"""How long a writer waits for the head before it gives up and says so."""
ABANDONED_SECONDS = 30
"""After so long without a word in the middle of a transaction, a writer is taken for dead and loses the head."""

HEAD_SECONDS = 100e-6
"""In which a server on the same machine, or nearly so, tells the head."""

LONGEST_MESSAGE = 1 << 29
"""Bytes. PostgreSQL takes a gigabyte, and allocates two for it."""

MOST_THREADS = 1 << 16
# oslo.db's defaults, which the reference runs with.
POOL_SIZE, MAX_OVERFLOW, POOL_SECONDS = 5, 50, 30


class ServerDialect(ABC):
    """One database on a server. What differs between servers is in the methods that have no body here."""

    begin = ""
    """How a transaction that writes begins; nothing, where the first statement does it."""

    def __init__(self, url: URL, options: DatabaseOptions) -> None:
        self._url = url
        self._options = options
        self.where = url.render_as_string(hide_password=True)
        self._start_afresh()
        begin_anew_after_fork(self)

    def _start_afresh(self) -> None:
        options = self._options
        overflow = MAX_OVERFLOW if options.max_overflow is None else options.max_overflow
        self._readers = self._engine(options.max_pool_size or POOL_SIZE, overflow)
        # Each statement is a transaction by itself: nothing to begin, nothing to end. Writers do both by themselves,
        # see `writing`; to SQLAlchemy they look the same.
        alone = {"isolation_level": "AUTOCOMMIT", "skip_autocommit_rollback": True}
        self._writing = self._engine(1, MAX_OVERFLOW, **alone)
        dialect = self._writing.dialect
        self._drivers_error = dialect.loaded_dbapi.Error
        self._writers = WriteConnections(
            self._writing,
            self.fault_of,
            recycle_seconds=options.connection_recycle_time,
            connect=self._connect_writer,
            is_lost=self._is_lost,
        )
        # After a commit nothing more may be sent: if that failed, what is done would be taken for not done.
        dialect.do_rollback = send_nothing  # type: ignore[method-assign, assignment]
        self._glancers = self._engine(options.max_pool_size or POOL_SIZE, overflow, **alone)
        looking = create_engine(self._url, poolclass=NullPool, connect_args=self.connect_arguments(), **alone)
        event.listen(looking, "connect", lambda connection, _: self.set_up_reader(connection))
        self._lookers = ConnectionCache(
            looking,
            lambda: CachedConnection(looking.raw_connection()),
            options.max_pool_size or POOL_SIZE,
            options.connection_recycle_time,
        )
        # As many as a pool would let in.
        most = MOST_THREADS if overflow < 0 else (options.max_pool_size or POOL_SIZE) + overflow
        self._may_look = threading.Semaphore(most)
        event.listen(self._glancers, "connect", lambda connection, _: self.set_up_reader(connection))
        event.listen(self._readers, "connect", lambda connection, _: self.set_up_reader(connection))
        event.listen(self._writing, "connect", lambda connection, _: self.set_up_writer(connection))
        event.listen(self._writing, "before_cursor_execute", self._begin)
        # Without a pool: who asks anew because a connection was lost must not be given another lost one.
        self._fresh = create_engine(self._url, poolclass=NullPool, connect_args=self.connect_arguments())
        event.listen(self._fresh, "connect", lambda connection, _: self.set_up_writer(connection))
        self._head_comes = BusyPoll(HEAD_SECONDS)
        self._probe = HeadProbe(self._connect_probe, self.say_head, self._hear_head_soon)
        self._met = StartupCheck(self.where, self._options, self._get_acquainted, self.fault_of)
        self._keeping = EXACT

    def _engine(self, pool_size: int, max_overflow: int, **options: Any) -> Engine:
        return create_engine(
            self._url,
            poolclass=QueuePool,
            pool_size=pool_size,
            max_overflow=max_overflow,
            pool_timeout=self._options.pool_timeout or POOL_SECONDS,
            pool_recycle=self._options.connection_recycle_time,
            pool_use_lifo=True,
            # Whoever takes a connection ends its transaction; to end it again costs a round trip.
            pool_reset_on_return=None,
            connect_args=self.connect_arguments(),
            **options,
        )

    # What differs

    @abstractmethod
    def connect_arguments(self) -> dict[str, Any]: ...

    @abstractmethod
    def socket_of(self, connection: Any) -> int | None:
        """The number of a driver connection's socket, if it tells."""

    @abstractmethod
    def set_up_reader(self, connection: Any) -> None:
        """A new connection of the driver, for transactions that see one state of the database."""

    @abstractmethod
    def set_up_writer(self, connection: Any) -> None:
        """A new connection of the driver, for transactions in which each statement sees what is committed."""

    @abstractmethod
    def set_up_probe(self, connection: Any) -> None:
        """A new connection of the driver, each statement of which is a transaction by itself."""

    @abstractmethod
    def get_to_know(self, connection: Connection) -> DatabaseSemantics:
        """At the first contact: is this a server that we can use, and how does it keep things?"""

    @abstractmethod
    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotKept | None: ...

    def fault(
        self, kind: type[DatabaseFault | ValueNotKept], error: BaseException
    ) -> DatabaseFault | ValueNotKept:
        """One about rights names the user that we come as: not every database does, and an operator must know."""
        return NotPermitted(error, self._url.username) if kind is NotPermitted else kind(error)

    @abstractmethod
    def schema_lock(self, connection: Connection) -> contextlib.AbstractContextManager[object]:
        """Whoever holds it is the only one to change the schema."""

    @abstractmethod
    def answers(self, connection: Any, message: str) -> list[list[Any]]:
        """What a message of several statements gives on a connection of the driver: the rows of each of them."""

    def last_answer(self, connection: Any, message: str) -> list[Any]:
        """The rows of the last of the statements, where the others have none that matter."""
        return self.answers(connection, message)[-1]

    def rows(self, connection: Any, statement: Statement) -> list[Any]:
        """Those of one query, on a connection of the driver."""
        return self.last_answer(connection, filled(statement, self.quote(connection)))

    @abstractmethod
    def say_head(self, connection: Any) -> None:
        """Asks for the head, on a connection of the driver for the probe, and does not wait."""

    @abstractmethod
    def hear_head(self, connection: Any) -> Sequence[Any]:
        """The head's row, which was asked for."""

    def with_commit(self, message: str) -> str:
        """The last statements of a transaction, and its commit."""
        return f"{message};COMMIT"

    def longest_message(self, connection: Any) -> int:
        """Bytes that the server takes in one message on a connection of the driver."""
        return LONGEST_MESSAGE

    @abstractmethod
    def quote(self, connection: Any) -> Quote:
        """For texts in statements, by the rules of this connection of the driver."""

    # What does not

    def taking_the_head(self) -> Statement:
        return Statement(f"{QUERY} FOR UPDATE")

    @property
    def works_by_itself(self) -> bool:
        return True

    @property
    def is_multi_primary(self) -> bool:
        return False

    def counting_along(self, table: str, rows: int) -> Sequence[Statement]:
        return ()

    def keeping(self) -> DatabaseSemantics:
        self._meet()
        return self._keeping

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        self._meet()
        with self._connected(self._readers) as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def glance(self) -> Iterator[Connection]:
        self._meet()
        with self._connected(self._glancers) as connection:
            yield connection

    def write(self, expected: Head | None = None) -> contextlib.AbstractContextManager[Connection]:
        return self._writers.writing(expected)

    @contextlib.contextmanager
    def change_schema(self) -> Iterator[Connection]:
        self._meet()
        with (
            self._connected(self._writing) as connection,
            self.schema_lock(connection),
            Transaction(connection, self.fault_of),
        ):
            yield connection

    def ask_head(self) -> Callable[[], Head]:
        return partial(self._probe.hear, self._probe.ask())

    def ask(self, connection: Connection, queries: Sequence[Statement]) -> list[list[Any]]:
        """All in one message, the answers one after the other; the first that fails ends it."""
        writing = of(connection)
        driver = connection.connection.driver_connection if writing is None else writing.driver
        try:
            quote = self.quote(driver)
            return self._asked(writing, driver, [filled(each, quote) for each in queries])
        except self._drivers_error as error:
            raise as_sqlalchemys(error, connection.dialect) from error

    def _asked(self, writing: Transaction | None, driver: Any, queries: Sequence[str]) -> list[list[Any]]:
        """What comes first in a transaction that writes begins it, and takes the head that it expects."""
        first: list[str] = []
        expected = None
        if writing is not None and not writing.begun:
            writing.begun, expected = True, writing.expected
            first += [self.begin] if self.begin else []
            first += [] if expected is None else [self.taking_the_head().sql]
        asked = [*first, *queries]
        if len(asked) == 1:
            answers = [self.last_answer(driver, asked[0])]
        else:
            answers = []
            for message in joined(asked, self.longest_message(driver)) if asked else ():
                answers += self.answers(driver, message)
        if expected is not None and Head(*answers[len(first) - 1][0]) != expected:
            raise Overtaken
        return answers[len(first) :]

    def look(self, sql: str, values: Sequence[Any]) -> list[Any]:
        self._meet()
        if not self._may_look.acquire(timeout=self._options.pool_timeout or POOL_SECONDS):
            raise Busy("All connections for reads are in use.")
        try:
            return self._looked_up(sql, values)
        finally:
            self._may_look.release()

    def _looked_up(self, sql: str, values: Sequence[Any]) -> list[Any]:
        looker = self._lookers.take()
        try:
            rows = self.rows(looker.driver, query(self._glancers.dialect, sql, values))
        except BaseException as error:
            looker.connection.invalidate()
            if isinstance(self.fault_of(error), Unreachable):  # the others will be lost as well
                self._lookers.let_go()
            raise
        self._lookers.keep(looker)
        return rows

    def run_last(self, connection: Connection, statements: Sequence[Statement]) -> None:
        writing = of(connection)
        assert writing is not None, "a transaction that writes"
        driver = writing.driver
        try:
            quote, limit = self.quote(driver), self.longest_message(driver)
            *before, last = messages(self._after_begin(writing, statements), quote, limit)
            for message in before:
                self.last_answer(driver, message)
            try:
                self.last_answer(driver, self.with_commit(last))
            except Exception as error:
                tell_outcome(as_sqlalchemys(error, connection.dialect), self.fault_of)
                raise
        except self._drivers_error as error:
            raise as_sqlalchemys(error, connection.dialect) from error
        writing.committed = True

    def _after_begin(self, writing: Transaction, statements: Sequence[Statement]) -> Sequence[Statement]:
        """Whether the head is the expected one is told by the first of the statements."""
        if writing.begun:
            return statements
        assert writing.expected is not None, "nobody has taken the head"
        writing.begun = True
        return [Statement(self.begin), *statements] if self.begin else statements

    def _begin(self, connection: Connection, *_: object) -> None:
        """Before a statement of SQLAlchemy's."""
        writing = of(connection)
        if writing is not None and not writing.begun:
            try:
                self._asked(writing, writing.driver, ())
            except self._drivers_error as error:
                raise as_sqlalchemys(error, connection.dialect) from error

    def dispose(self) -> None:
        self._readers.dispose()
        self._lookers.let_go()
        self._glancers.dispose()
        self._writers.let_go()
        self._writing.dispose()
        self._probe.close()

    def forget_parent(self) -> object:
        left = (self._readers, self._glancers, self._lookers, self._writing, self._writers, self._probe)
        self._start_afresh()
        return left

    @contextlib.contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        """A connection of a pool. One in which anything went wrong does not go back there."""
        with self._open(engine) as connection:
            try:
                yield connection
            except BaseException:
                connection.invalidate()
                raise

    def _open(self, engine: Engine) -> Connection:
        try:
            return engine.connect()
        except NoFreeConnection as error:
            raise Busy(error) from error

    def _is_lost(self, connection: Any) -> bool:
        """Whether the server has hung up meanwhile: nothing else does it say by itself.

        If that is found out only when everything is sent, down to the commit, nobody knows what became of it.
        """
        number = self.socket_of(connection)
        if number is None:
            return False
        return number < 0 or has_input(number)

    def _hear_head_soon(self, connection: Any) -> Sequence[Any]:
        """It was asked for a while ago."""
        with self._head_comes:
            self._head_comes.spots(self.socket_of(connection))
            return self.hear_head(connection)

    def _connect_writer(self) -> Connection:
        self._meet()
        return self._open(self._writing)

    def _connect_probe(self) -> Any:
        self._meet()
        made = self._fresh.raw_connection()
        connection = made.driver_connection
        made.detach()
        self.set_up_probe(connection)
        return connection

    def _meet(self) -> None:
        if not self._met.is_done:
            self._met.make()

    def _get_acquainted(self) -> None:
        with self._writing.connect() as connection, connection.begin():
            self._keeping = self.get_to_know(connection)
