# SPDX-License-Identifier: Apache-2.0

"""The rows of a database, read without the service, and a check of their consistency.

The statements are separate from the service's, so that an error in those cannot hide itself here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from sqlalchemy import create_engine, make_url, text

from plimsoll.storage.database import Database
from plimsoll.storage.maintenance import integrity
from tests.support.databases import DRIVERS, engine_of

ALLOCATIONS = """
    SELECT a.consumer_id, p.uuid, c.name, a.used FROM allocations a
    LEFT JOIN resource_providers p ON p.id = a.resource_provider_id
    LEFT JOIN resource_classes c ON c.id = a.resource_class_id
"""
CONSUMERS = """
    SELECT c.uuid, c.generation, p.external_id, u.external_id FROM consumers c
    LEFT JOIN projects p ON p.id = c.project_id LEFT JOIN users u ON u.id = c.user_id
"""
INVENTORIES = """
    SELECT p.uuid, c.name, i.total FROM inventories i
    LEFT JOIN resource_providers p ON p.id = i.resource_provider_id
    LEFT JOIN resource_classes c ON c.id = i.resource_class_id
"""
Rows = Counter[tuple[Any, ...]]


class DatabaseRows:
    """The rows of one database. Every query sees the last commit."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._engine = create_engine(
            make_url(url).set(drivername=DRIVERS[engine_of(url)]),
            isolation_level="AUTOCOMMIT",
            pool_pre_ping=True,
        )

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        with self._engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement))]

    def close(self) -> None:
        self._engine.dispose()

    def allocations(self) -> Rows:
        """Consumer, provider, class and amount of each allocation, with its number of rows, which should be 1."""
        return Counter(self.query(ALLOCATIONS))

    def allocation_counts(self, hosts: Collection[str]) -> Counter[str]:
        """The number of allocation rows of each consumer at these hosts."""
        return Counter(row[0] for row in self.query(ALLOCATIONS) if row[1] in hosts)

    def consumers(self) -> dict[str, tuple[int, str, str]]:
        """Generation, project and user of each consumer."""
        rows = self.query(CONSUMERS)
        consumers = {row[0]: (row[1], row[2], row[3]) for row in rows}
        assert len(consumers) == len(rows), "a consumer has two rows"
        return consumers

    def generations(self) -> dict[str, int]:
        return dict(row[:2] for row in self.query("SELECT uuid, generation FROM resource_providers"))

    def names(self) -> Counter[str]:
        return Counter(name for (name,) in self.query("SELECT name FROM resource_providers"))

    def inventories(self) -> Rows:
        return Counter(self.query(INVENTORIES))

    def head(self) -> int:
        return int(self.query("SELECT seq FROM plimsoll_head")[0][0])

    def operations(self, after: int = 0) -> list[str]:
        """The operations in the change log after this change, in order."""
        return [
            row[0]
            for row in self.query(f"SELECT operation FROM plimsoll_changes WHERE seq > {after} ORDER BY seq")
        ]

    def assert_consistent(self) -> None:
        """The change log has no gap up to the head, and no row contradicts another."""
        numbers = [row[0] for row in self.query("SELECT seq FROM plimsoll_changes ORDER BY seq")]
        assert numbers == list(range(1, len(numbers) + 1)), "the change log has gaps"
        assert self.head() == len(numbers), "the head is not at the end of the change log"
        database = Database(self.url)
        with database.read() as connection:
            findings = integrity.verify(connection)
        database.dispose()
        assert [finding for finding in findings if finding.severity == "fault"] == []
