# SPDX-License-Identifier: Apache-2.0

"""Read consumers and single allocations: they are not in memory, and are read by index on demand."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Dialect, Join, Select, select

from plimsoll.domain.consumer import (
    REMOVED_PROVIDER,
    Allocation,
    Consumer,
    ConsumerAllocations,
    Holding,
    ProviderAllocations,
)
from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.runtime.base import Runtime
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from plimsoll.storage.sql import queries

_A, _C, _P, _RC = t.allocations.c, t.consumers.c, t.resource_providers.c, t.resource_classes.c

_OWNED_CONSUMERS = t.consumers.join(t.projects, _C.project_id == t.projects.c.id).join(
    t.users, _C.user_id == t.users.c.id
)

# The allocations of one consumer, and of one provider. Python sorts them by the last column, which is faster than
# ORDER BY. Outer joins are not nested: for nested joins SQLite materializes all allocations first.
_BY_CONSUMER_SQL = """
    SELECT c.uuid, p.external_id, u.external_id, t.name, c.generation,
        rp.uuid, rp.generation, rc.name, a.used, COALESCE(a.updated_at, a.created_at), a.id
    FROM consumers c JOIN projects p ON p.id = c.project_id JOIN users u ON u.id = c.user_id
    LEFT JOIN consumer_types t ON t.id = c.consumer_type_id
    LEFT JOIN allocations a ON a.consumer_id = c.uuid
    LEFT JOIN resource_providers rp ON rp.id = a.resource_provider_id
    LEFT JOIN resource_classes rc ON rc.id = a.resource_class_id
    WHERE c.uuid IN (...)
"""
_BY_PROVIDER_SQL = """
    SELECT rp.generation, p.id, u.id, c.uuid, c.generation, rc.name, a.used,
        COALESCE(a.updated_at, a.created_at), a.id
    FROM resource_providers rp JOIN resource_providers root ON root.id = rp.root_provider_id
    LEFT JOIN allocations a ON a.resource_provider_id = rp.id
    LEFT JOIN resource_classes rc ON rc.id = a.resource_class_id
    LEFT JOIN consumers c ON c.uuid = a.consumer_id
    LEFT JOIN projects p ON p.id = c.project_id LEFT JOIN users u ON u.id = c.user_id
    WHERE rp.uuid IN (...)
"""
_BY_LAST = itemgetter(-1)

# Many consumers and their allocations, for the decision of each claim.
_CONSUMERS_SQL = """
    SELECT c.uuid, p.external_id, u.external_id, t.name, c.generation
    FROM consumers c JOIN projects p ON p.id = c.project_id JOIN users u ON u.id = c.user_id
    LEFT JOIN consumer_types t ON t.id = c.consumer_type_id
    WHERE c.uuid IN (...)
"""
_ALLOCATIONS_SQL = """
    SELECT a.consumer_id, p.uuid, r.name, a.used
    FROM allocations a LEFT JOIN resource_providers p ON p.id = a.resource_provider_id
    JOIN resource_classes r ON r.id = a.resource_class_id
    WHERE a.consumer_id IN (...) ORDER BY a.id
"""


class HoldingsQuery:
    """The queries for the consumers of a batch and their allocations, and the parser of their results.

    Results are keyed by `DatabaseSemantics.key` of the uuid: the stored spelling may differ from the requested one.
    """

    def __init__(
        self, dialect: Dialect, uuids: Iterable[str], semantics: DatabaseSemantics, runtime: Runtime
    ) -> None:
        self._key = semantics.key
        self._iterate = runtime.iterate_with_yields
        in_order = sorted(uuids)
        for_consumers = queries(dialect, _CONSUMERS_SQL, in_order)
        self.queries = [*for_consumers, *queries(dialect, _ALLOCATIONS_SQL, in_order)]
        self._consumer_queries = len(for_consumers)

    def holdings(self, *results: Iterable[Any]) -> dict[str, Holding]:
        """Return the holdings by key, from the rows of each query."""
        consumer_rows = chain.from_iterable(results[: self._consumer_queries])
        allocation_rows = chain.from_iterable(results[self._consumer_queries :])
        consumers: dict[str, Consumer] = {}
        for row in self._iterate(consumer_rows):
            consumers[self._key(row[0])] = Consumer(*row)
        allocations: dict[str, list[Allocation]] = {}
        orphans: dict[str, list[Allocation]] = {}
        for consumer, provider, resource_class, amount in self._iterate(allocation_rows):
            kind = orphans if provider is None else allocations
            kind.setdefault(self._key(consumer), []).append(
                Allocation(provider or REMOVED_PROVIDER, resource_class, amount)
            )
        holdings: dict[str, Holding] = {}
        for key in self._iterate(consumers.keys() | allocations.keys() | orphans.keys()):
            held, orphaned = tuple(allocations.get(key, ())), tuple(orphans.get(key, ()))
            holdings[key] = Holding(consumers.get(key), held, orphaned)
        return holdings


def allocations_of_consumer(database: Database, uuid: str) -> ConsumerAllocations:
    """Return the allocations of a consumer. Like the reference, omit allocations without a consumer row."""
    rows = sorted(database.select_in(_BY_CONSUMER_SQL, [uuid]), key=_BY_LAST)
    by_provider: dict[str, tuple[int, dict[str, int]]] = {}
    times: set[datetime | str | None] = set()
    for _, _, _, _, _, provider, generation, resource_class, used, modified, _ in rows:
        if provider is not None and resource_class is not None:
            held = by_provider.get(provider)
            if held is None:
                held = by_provider[provider] = generation or 0, {}
            held[1][resource_class] = used
            times.add(modified)
    return ConsumerAllocations(Consumer(*rows[0][:5]) if rows else None, by_provider, _latest(times))


def allocations_of_provider(database: Database, uuid: str) -> ProviderAllocations | None:
    """Return the allocations on a provider, or None if it does not exist. Omit allocations without a consumer row."""
    rows = sorted(database.select_in(_BY_PROVIDER_SQL, [uuid]), key=_BY_LAST)
    by_consumer: dict[str, tuple[int, dict[str, int]]] = {}
    times: set[datetime | str | None] = set()
    for (
        _,
        project,
        user,
        consumer,
        generation,
        resource_class,
        used,
        modified,
        _,
    ) in database.runtime.iterate_with_yields(rows):
        if project is not None and user is not None and resource_class is not None:
            held = by_consumer.get(consumer)
            if held is None:
                held = by_consumer[consumer] = generation, {}
            held[1][resource_class] = used
            times.add(modified)
    return ProviderAllocations(rows[0][0] or 0, by_consumer, _latest(times)) if rows else None


def allocations_of_owner(
    conn: Connection, project: str, user: str | None
) -> list[tuple[str, dict[str, int]]]:
    """Return (provider, amounts by class) for each consumer of a project, or of one user in it, and each provider."""
    query = _of_owner(
        select(_C.uuid, _P.uuid, _RC.name, _A.used).select_from(
            _owned_allocations().join(t.resource_providers, _A.resource_provider_id == _P.id)
        ),
        project,
        user,
    ).order_by(_C.id, _A.id)
    entries: dict[tuple[str, str], dict[str, int]] = {}
    for consumer, provider, resource_class, used in conn.execute(query):
        entries.setdefault((consumer, provider), {})[resource_class] = used
    return [(provider, resources) for (_, provider), resources in entries.items()]


def _owned_allocations() -> Join:
    return t.allocations.join(_OWNED_CONSUMERS, _A.consumer_id == _C.uuid).join(
        t.resource_classes, _A.resource_class_id == _RC.id
    )


def _of_owner(query: Select[Any], project: str, user: str | None) -> Select[Any]:
    query = query.where(t.projects.c.external_id == project)
    return query if user is None else query.where(t.users.c.external_id == user)


def _latest(times: set[datetime | str | None]) -> datetime | None:
    """Return the latest time that is known. Rows of one write share their time, so the set is small."""
    return max((_time(each) for each in times if each is not None), default=None)


def _time(value: datetime | str) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value
