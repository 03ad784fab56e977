# SPDX-License-Identifier: Apache-2.0

"""The database of a run, and what can be killed of it. Servers are private and durable, as an operator has them."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.audit import rows
from tests.support.servers import GaleraCluster, MariaDB, PostgreSQL, Server

NAME = "audit"
ENGINES = ("sqlite", "postgresql", "mariadb", "galera")


class AuditedDatabase(abc.ABC):
    """A database is at one URL, or each of its nodes is at one. Victims are killed and brought back by number."""

    victims = 0
    """How many parts there are to kill."""

    @abc.abstractmethod
    def urls(self) -> list[str]: ...

    def node_of(self, service: int) -> int:
        """Which of the URLs the service with this number uses."""
        return 0

    def copies(self) -> list[rows.Rows]:
        """All that is there, by plain SQL: once, or from each node that has it."""
        return [rows.read(url) for url in self.urls()]

    def kill(self, victim: int) -> None:
        raise NotImplementedError

    def revive(self, victim: int) -> None:
        raise NotImplementedError

    def settle(self) -> None:
        """Waits until all of it is well again."""
        return


class SQLiteFile(AuditedDatabase):
    """Nobody serves it, so nobody can be killed but the services themselves."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "audit.sqlite"

    def urls(self) -> list[str]:
        return [f"sqlite:///{self.path}"]


class OneServer(AuditedDatabase):
    victims = 1

    def __init__(self, server: Server) -> None:
        self._server = server

    def urls(self) -> list[str]:
        return [self._server.url(NAME)]

    def kill(self, victim: int) -> None:
        self._server.kill()

    def revive(self, victim: int) -> None:
        self._server.start()


class Cluster(AuditedDatabase):
    """`spread`: services are at all three nodes, one each in turn; otherwise all are at the first."""

    def __init__(self, cluster: GaleraCluster, *, spread: bool) -> None:
        self._cluster = cluster
        self._spread = spread
        self.victims = len(cluster.nodes)

    def urls(self) -> list[str]:
        return [self._cluster.url(NAME, node) for node in range(self.victims)]

    def node_of(self, service: int) -> int:
        return service % self.victims if self._spread else 0

    def copies(self) -> list[rows.Rows]:
        # A node answers when it has applied all that the others have committed.
        waits = "SET SESSION wsrep_sync_wait = 1"
        return [rows.read(url, waits) for url in self.urls()]

    def kill(self, victim: int) -> None:
        self._cluster.nodes[victim].kill()

    def revive(self, victim: int) -> None:
        self._cluster.start()

    def settle(self) -> None:
        self._cluster.wait_until_synced()


@contextmanager
def opened(engine: str, directory: Path, *, spread: bool) -> Iterator[AuditedDatabase]:
    if engine == "sqlite":
        yield SQLiteFile(directory)
    elif engine == "galera":
        with GaleraCluster() as cluster:
            cluster.create_database(NAME)
            yield Cluster(cluster, spread=spread)
    else:
        with PostgreSQL() if engine == "postgresql" else MariaDB() as server:
            server.create_database(NAME)
            yield OneServer(server)


def missing(engine: str) -> str | None:
    """Why a run on this engine is not possible here, if it is not."""
    if engine == "postgresql":
        return PostgreSQL.missing()
    if engine == "mariadb":
        return MariaDB.missing()
    return GaleraCluster.missing() if engine == "galera" else None
