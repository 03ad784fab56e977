# SPDX-License-Identifier: Apache-2.0

"""Read the consumers that have allocations on some providers, and everything that each of them holds."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.domain.consumer import REMOVED_PROVIDER, Allocation, Consumer, Holding
from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.storage.database import Database

MAX_ALLOCATIONS = 2_000
"""Allocations on the providers that are read, at most. One more is the limit of the first query."""

_CONSUMERS_SQL = """
    SELECT c.uuid, p.external_id, u.external_id, t.name, c.generation
    FROM resource_providers rp JOIN allocations a ON a.resource_provider_id = rp.id
    JOIN consumers c ON c.uuid = a.consumer_id
    JOIN projects p ON p.id = c.project_id JOIN users u ON u.id = c.user_id
    LEFT JOIN consumer_types t ON t.id = c.consumer_type_id
    WHERE rp.uuid IN (...) LIMIT 2001
"""
_ALLOCATIONS_SQL = """
    SELECT a.consumer_id, p.uuid, r.name, a.used
    FROM allocations a LEFT JOIN resource_providers p ON p.id = a.resource_provider_id
    JOIN resource_classes r ON r.id = a.resource_class_id
    WHERE a.consumer_id IN (...)
"""


def consumers_on(
    database: Database, providers: Sequence[str], semantics: DatabaseSemantics
) -> list[Holding] | None:
    """Return the consumers with allocations on these providers, by uuid; None if there are too many allocations.

    Allocations without a consumer row are left out. The two queries may see different states.
    """
    rows = database.select_in(_CONSUMERS_SQL, providers)
    if len(rows) > MAX_ALLOCATIONS:
        return None
    consumers = {semantics.key(row[0]): Consumer(*row) for row in rows}
    if not consumers:
        return []
    held: dict[str, list[Allocation]] = {}
    uuids = sorted(consumer.uuid for consumer in consumers.values())
    for uuid, provider, resource_class, amount in database.select_in(_ALLOCATIONS_SQL, uuids):
        allocation = Allocation(provider or REMOVED_PROVIDER, resource_class, amount)
        held.setdefault(semantics.key(uuid), []).append(allocation)
    return [
        Holding(
            consumers[key],
            tuple([each for each in held[key] if each.provider != REMOVED_PROVIDER]),
            tuple([each for each in held[key] if each.provider == REMOVED_PROVIDER]),
        )
        for key in sorted(consumers.keys() & held.keys())
    ]
