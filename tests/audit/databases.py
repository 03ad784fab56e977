# SPDX-License-Identifier: Apache-2.0

"""The database of a run and its parts that can be killed. Servers are private and commit durably."""

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
    """A database with one URL, or one URL per node. Victims are killed and restarted by number."""

    victims = 0
    """How many parts can be killed."""

    @abc.abstractmethod
    def urls(self) -> list[str]: ...

    def node_of(self, service: int) -> int:
        """Return the index of the URL that this service uses."""
        return 0

    def read_all(self) -> list[rows.Rows]:
        """Read all rows by plain SQL, from each node."""
        return [rows.read(url) for url in self.urls()]

    def kill(self, victim: int) -> None:
        raise NotImplementedError

    def revive(self, victim: int) -> None:
        raise NotImplementedError

    def settle(self) -> None:
        """Wait until every node is available and synced."""
        return


class SQLiteFile(AuditedDatabase):
    """A file without a server: only the services can be killed."""

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
    """`spread`: services are assigned to the three nodes round-robin; otherwise all use the first node."""

    def __init__(self, cluster: GaleraCluster, *, spread: bool) -> None:
        self._cluster = cluster
        self._spread = spread
        self.victims = len(cluster.nodes)

    def urls(self) -> list[str]:
        return [self._cluster.url(NAME, node) for node in range(self.victims)]

    def node_of(self, service: int) -> int:
        return service % self.victims if self._spread else 0

    def read_all(self) -> list[rows.Rows]:
        # With this setting a node first applies all writes that other nodes have committed.
        sync_first = "SET SESSION wsrep_sync_wait = 1"
        return [rows.read(url, sync_first) for url in self.urls()]

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
    """Return why a run on this engine is not possible here, or None."""
    if engine == "postgresql":
        return PostgreSQL.missing()
    if engine == "mariadb":
        return MariaDB.missing()
    return GaleraCluster.missing() if engine == "galera" else None
