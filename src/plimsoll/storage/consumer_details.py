# SPDX-License-Identifier: Apache-2.0

"""Read consumers with everything they hold, by their uuids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from plimsoll.domain.consumer import Consumer, ListedConsumer
from plimsoll.storage import tables as t

_UUIDS_PER_QUERY = 500

_A, _C, _P = t.allocations.c, t.consumers.c, t.resource_providers.c

_CONSUMERS = select(
    _C.uuid,
    t.projects.c.external_id.label("project"),
    t.users.c.external_id.label("user"),
    t.consumer_types.c.name.label("type"),
    _C.generation,
    _C.created_at,
    _C.updated_at,
).select_from(
    t.consumers.join(t.projects, t.projects.c.id == _C.project_id)
    .join(t.users, t.users.c.id == _C.user_id)
    .outerjoin(t.consumer_types, t.consumer_types.c.id == _C.consumer_type_id)
)
_ALLOCATIONS = (
    select(_A.consumer_id, _P.uuid, _P.name, t.resource_classes.c.name.label("class_name"), _A.used)
    .join(t.resource_providers, _P.id == _A.resource_provider_id)
    .join(t.resource_classes, t.resource_classes.c.id == _A.resource_class_id)
    .order_by(_A.id)
)


def consumers_with_allocations(
    conn: Connection, uuids: Sequence[str], key: Callable[[str], str], pause: Callable[[], None]
) -> list[ListedConsumer]:
    """Return these consumers in the order of the uuids; consumers that do not exist are left out.

    `key` makes equal texts of two spellings that the database compares as equal.
    """
    found: list[ListedConsumer] = []
    for start in range(0, len(uuids), _UUIDS_PER_QUERY):
        found += _read(conn, uuids[start : start + _UUIDS_PER_QUERY], key)
        pause()
    return found


def _read(conn: Connection, uuids: Sequence[str], key: Callable[[str], str]) -> list[ListedConsumer]:
    held: dict[str, dict[str, tuple[str, dict[str, int]]]] = {}
    for row in conn.execute(_ALLOCATIONS.where(_A.consumer_id.in_(uuids))):
        by_provider = held.setdefault(key(row.consumer_id), {})
        by_provider.setdefault(row.uuid, (row.name or row.uuid, {}))[1][row.class_name] = row.used
    rows = {key(row.uuid): row for row in conn.execute(_CONSUMERS.where(_C.uuid.in_(uuids)))}
    return [_listed(rows[each], held.get(each, {})) for each in map(key, uuids) if each in rows]


def _listed(row: Any, allocations: dict[str, tuple[str, dict[str, int]]]) -> ListedConsumer:
    consumer = Consumer(row.uuid, row.project, row.user, row.type, row.generation)
    return ListedConsumer(consumer, row.created_at, row.updated_at, allocations)
