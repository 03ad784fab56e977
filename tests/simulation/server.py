# SPDX-License-Identifier: Apache-2.0

"""The simulated database: one server, or the nodes of a Galera cluster.

SQLite runs the statements: each node has a file in memory, in WAL mode, so that a transaction that reads sees one state
while others commit. The lock of the head, its timeout, lost sessions, and the order and certification of a cluster's
write sets are simulated here.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from plimsoll.storage.dialects.server import LOCK_SECONDS
from plimsoll.storage.sql import Statement
from tests.simulation.scheduler import Group, Scheduler, Task, Violation

BEGIN_READ, BEGIN_WRITE, COMMIT, ROLLBACK = "BEGIN", "BEGIN WRITE", "COMMIT", "ROLLBACK"
_FOR_UPDATE = " FOR UPDATE"
_MOVE_HEAD = "UPDATE plimsoll_head"
_PRUNE = "DELETE FROM plimsoll_changes"
_CONSTANT_TABLES = "alembic_version", "resource_classes", "traits", "unplaced"
"""Tables that no operation of a run changes."""


class SessionLost(sqlite3.OperationalError):
    """The connection was lost."""


class Deadlock(sqlite3.OperationalError):
    """The server has rolled back the transaction: a deadlock, a lock timeout, or a conflict between nodes."""


class Cancelled(sqlite3.OperationalError):
    """A statement was cancelled."""


class Result(NamedTuple):
    rows: list[Any]
    description: Any
    row_count: int
    last_id: int | None


Contents = Mapping[str, list[tuple[Any, ...]]]
"""All rows, by table."""


class NodeFile:
    """The SQLite file of a node, and its connections. One run after the other uses them: opening one takes long."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[sqlite3.Connection] = []
        self.admin = self.take()
        """For the simulator itself: reads of the last committed state, and restores."""
        self._tables = [
            name
            for (name,) in self.admin.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not any(part in name for part in _CONSTANT_TABLES)
        ]

    def take(self) -> sqlite3.Connection:
        if self._idle:
            return self._idle.pop()
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    def give_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute(ROLLBACK)
        self._idle.append(connection)

    def contents(self) -> Contents:
        return {table: self.admin.execute(f"SELECT * FROM {table}").fetchall() for table in self._tables}

    def replace_contents(self, contents: Contents) -> None:
        self.admin.execute("BEGIN IMMEDIATE")
        for table, rows in contents.items():
            self.admin.execute(f"DELETE FROM {table}")
            if rows:
                places = ", ".join("?" * len(rows[0]))
                self.admin.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
        self.admin.execute(COMMIT)

    def close(self) -> None:
        for connection in (*self._idle, self.admin):
            connection.close()


class Node:
    """One server, or one node of a cluster."""

    def __init__(self, cluster: Cluster, number: int, file: NodeFile) -> None:
        self.cluster = cluster
        self.number = number
        self.file = file
        self.admin = file.admin
        self.sessions: list[Session] = []
        self.applied = 0
        """How many write sets of the cluster this node has applied."""
        self.writer: Session | None = None
        """The session that holds the lock of the head, and with it SQLite's write lock."""
        self.waiters: list[Task] = []
        """Tasks that wait for the lock of the head, or for write sets to be applied."""

    def wake_waiters(self) -> None:
        for task in self.waiters:
            self.cluster.scheduler.wake(task)

    def wait(self, reason: str, seconds: float) -> None:
        scheduler = self.cluster.scheduler
        task = scheduler.current
        if task is None:
            raise Deadlock("the simulator itself would wait")
        self.waiters.append(task)
        try:
            scheduler.block(reason, seconds)
        finally:
            self.waiters.remove(task)

    def close(self) -> None:
        for session in list(self.sessions):
            session.end()


class Cluster:
    """All nodes, and the order of their write sets. A single server is a cluster of one node."""

    def __init__(
        self,
        scheduler: Scheduler,
        files: Sequence[NodeFile],
        on_commit: Callable[[sqlite3.Connection], None],
        counts: Counter[str],
    ) -> None:
        self.scheduler = scheduler
        self.counts = counts
        self._on_commit = on_commit
        self.order: list[Sequence[Statement]] = []
        """The write sets of the cluster: the statements of each committed transaction."""
        self.group = Group("server")
        self._session_numbers = itertools.count(1)
        self.nodes = [Node(self, number, file) for number, file in enumerate(files)]
        if self.is_galera:
            for node in self.nodes:
                scheduler.spawn(
                    f"applier {node.number}", self.group, partial(self._apply_forever, node), is_daemon=True
                )

    @property
    def is_galera(self) -> bool:
        return len(self.nodes) > 1

    def connect(self, node: Node, owner: object) -> Session:
        session = Session(node, next(self._session_numbers), owner)
        node.sessions.append(session)
        return session

    def is_lost(self, number: int) -> bool:
        return all(session.number != number for node in self.nodes for session in node.sessions)

    def restart(self, node: Node) -> None:
        """End all sessions of a node."""
        for session in list(node.sessions):
            session.end()

    def prune(self, up_to: int) -> None:
        """Delete changes as the pruner of a process with many writes would, if no transaction is under way."""
        if all(node.writer is None for node in self.nodes):
            for node in self.nodes:
                node.admin.execute(f"{_PRUNE} WHERE seq <= ?", (up_to,))

    def backup(self) -> Contents:
        newest = max(self.nodes, key=lambda node: node.applied)
        return newest.file.contents()

    def restore(self, backup: Contents) -> None:
        """Replace the contents of all nodes. Every session ends."""
        self.order.clear()
        for node in self.nodes:
            self.restart(node)
            node.applied = 0
            node.file.replace_contents(backup)
            node.wake_waiters()

    def committed(self, node: Node, statements: Sequence[Statement]) -> None:
        """Append a write set that this node has committed, and have the history checked."""
        if self.is_galera:
            self.order.append(statements)
            node.applied += 1
            for each in self.nodes:
                each.wake_waiters()
        self._on_commit(node.admin)

    def certify(self, node: Node) -> None:
        """All write sets change the row of the head: one that this node has not applied yet is a conflict."""
        if self.is_galera and node.applied < len(self.order):
            self.counts["Galera conflicts"] += 1
            raise Deadlock("a write set of another node was certified first")

    def close(self) -> None:
        for node in self.nodes:
            node.close()

    def _apply_forever(self, node: Node) -> None:
        while True:
            while node.applied == len(self.order):
                node.wait("a write set", -1)
            self.scheduler.pause()
            if node.applied == len(self.order):
                continue
            if node.writer is not None:  # a replicated write set aborts a local transaction
                self.counts["Galera aborts"] += 1
                node.writer.abort()
            node.admin.execute("BEGIN IMMEDIATE")
            for sql, values in self.order[node.applied]:
                node.admin.execute(sql, values)
            node.admin.execute(COMMIT)
            node.applied += 1
            node.wake_waiters()


class Session:
    """A connection as the server has it: at most one transaction."""

    def __init__(self, node: Node, number: int, owner: object) -> None:
        self._node = node
        self.number = number
        self.owner = owner
        """The client: all its sessions end if it does."""
        self._connection = node.file.take()
        self.is_ended = False
        self.in_write = False
        self._was_aborted = False
        self._written: list[Statement] = []

    def run(self, statements: Sequence[Statement]) -> list[Result]:
        """Run the statements of one message. The first failure ends it."""
        return [self._execute(*each) for each in statements]

    def end(self) -> None:
        """End the session: the transaction is rolled back."""
        if not self.is_ended:
            self.is_ended = True
            self._node.sessions.remove(self)
            self._rollback()
            self._node.file.give_back(self._connection)

    def abort(self) -> None:
        """Roll back the transaction, unless the session has ended meanwhile. The next statement fails."""
        if not self.is_ended:  # else another session may have the connection to the file
            self._rollback()
            self._was_aborted = True

    def _execute(self, sql: str, values: Sequence[Any] = ()) -> Result:
        if self.is_ended:
            raise SessionLost("the server has ended the session")
        self._check_not_aborted(sql)
        if sql == BEGIN_WRITE:
            self.in_write = True
        elif sql == ROLLBACK:
            self._rollback()
        elif sql == COMMIT:
            self._commit()
        else:
            return self._run(sql, values)
        return Result([], None, -1, None)

    def _check_not_aborted(self, sql: str) -> None:
        if self._was_aborted:
            self._was_aborted = False
            if sql != ROLLBACK:
                raise Deadlock("the transaction was aborted")

    def _run(self, sql: str, values: Sequence[Any]) -> Result:
        is_select = sql.lstrip().startswith("SELECT")
        if is_select:
            self._wait_until_applied()
            self._check_not_aborted(sql)
        if sql.endswith(_FOR_UPDATE):
            self._lock()
            sql = sql.removesuffix(_FOR_UPDATE)
        elif not is_select and sql not in (BEGIN_READ, COMMIT):
            if sql.startswith((_MOVE_HEAD, _PRUNE)):
                self._lock()
            elif self._node.writer is not self and not sql.startswith("PRAGMA"):
                raise Violation(f"a write without the lock of the head: {sql}")
            self._written.append(Statement(sql, tuple(values)))
            if sql.startswith(_PRUNE):
                self._node.cluster.counts["prunings"] += 1
        cursor = self._connection.execute(sql, tuple(values))
        return Result(cursor.fetchall(), cursor.description, cursor.rowcount, cursor.lastrowid)

    def _wait_until_applied(self) -> None:
        """Galera's causal reads: wait for every write set that was ordered before."""
        node = self._node
        target = len(node.cluster.order)
        while node.applied < min(target, len(node.cluster.order)) and not self.is_ended:
            node.wait("write sets of other nodes", -1)
        if self.is_ended:
            raise SessionLost("the server has ended the session")

    def _lock(self) -> None:
        node, scheduler = self._node, self._node.cluster.scheduler
        deadline = scheduler.now + LOCK_SECONDS
        if node.writer not in (None, self):
            node.cluster.counts["waits for the head"] += 1
        while node.writer not in (None, self):
            if scheduler.now >= deadline:
                node.cluster.counts["lock timeouts"] += 1
                raise Deadlock("lock wait timeout")
            node.wait("the lock of the head", deadline - scheduler.now)
            if self.is_ended:
                raise SessionLost("the server has ended the session")
        if node.writer is None:
            if not self.in_write:
                raise Violation("the head is locked outside of a write transaction")
            node.writer = self
            self._connection.execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        if self._node.writer is not self:
            if self._connection.in_transaction:
                self._connection.execute(COMMIT)
            self.in_write = False
            return
        try:
            self._node.cluster.certify(self._node)
        except Deadlock:
            self._rollback()
            raise
        self._connection.execute(COMMIT)
        written = self._written
        self._release()
        self._node.cluster.committed(self._node, written)

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute(ROLLBACK)
        self._release()

    def _release(self) -> None:
        self.in_write = False
        self._written = []
        if self._node.writer is self:
            self._node.writer = None
            self._node.wake_waiters()
