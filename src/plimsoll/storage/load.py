# SPDX-License-Identifier: Apache-2.0

"""Load the whole world from SQL, at the start of a process or when it is too far behind the change log.

A provider whose root is missing is left out, as the reference leaves it out of its responses; `plimsoll db verify`
reports it.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, String, Table, cast, func, select

from plimsoll.domain.catalog import Catalog, CatalogEntry
from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.domain.inventory import FIGURES, Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.world import LastIds, World
from plimsoll.storage import tables as t
from plimsoll.storage.fetching import Fetch, fetch_rows
from plimsoll.storage.sql import Statement
from plimsoll.storage.usages import load_usages

LAST_IDS = Statement(
    "SELECT (SELECT COALESCE(MAX(id), 0) FROM (SELECT MAX(id) AS id FROM resource_providers"
    " UNION ALL SELECT MAX(resource_provider_id) FROM allocations"
    " UNION ALL SELECT MAX(resource_provider_id) FROM inventories"
    " UNION ALL SELECT MAX(resource_provider_id) FROM resource_provider_aggregates) AS ids),"
    " (SELECT COALESCE(MAX(id), 0) FROM traits),"
    " (SELECT COALESCE(MAX(id), 0) FROM consumer_types)"
)
"""See `LastIds`. It counts rows whose provider is deleted: a new provider must not get the id that they refer to."""

_EMPTY: frozenset[str] = frozenset()


class Loaded(NamedTuple):
    world: World
    has_allocations_without_consumer: bool
    """True if some allocations have no consumer row, because an old Placement release wrote them."""


def load_world(
    conn: Connection, semantics: DatabaseSemantics = EXACT, pause: Callable[[], None] = lambda: None
) -> Loaded:
    """Return the world that the transaction of this connection reads. Calls `pause` after each few thousand rows."""
    fetch = partial(fetch_rows, conn, pause)
    with _gc_disabled():
        classes = _catalog(conn, t.resource_classes)
        traits = _catalog(conn, t.traits)
        consumer_types = _catalog(conn, t.consumer_types)
        usages, has_allocations_without_consumer = load_usages(fetch, classes, consumer_types, semantics)
        world = World.of(
            _providers(fetch, classes, traits), classes, traits, consumer_types, semantics, usages
        )
        counting = world.with_last_ids(LastIds(*conn.exec_driver_sql(LAST_IDS.sql).one()))
        return Loaded(counting, has_allocations_without_consumer)


@contextlib.contextmanager
def _gc_disabled() -> Iterator[None]:
    """Disable garbage collection: during a load it finds nothing and takes half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _catalog(conn: Connection, table: Table) -> Catalog:
    rows = conn.execute(select(table.c.id, table.c.name, table.c.created_at, table.c.updated_at))
    return Catalog(CatalogEntry(id_, name, updated or created) for id_, name, created, updated in rows)


def _providers(fetch: Fetch, classes: Catalog, traits: Catalog) -> Iterable[Provider]:
    inventories = _inventories(fetch, classes)
    used = _used(fetch, classes)
    provider_traits = _name_sets(
        fetch, t.resource_provider_traits, "trait_id", {entry.id: entry.name for entry in traits}
    )
    a = t.placement_aggregates.c
    aggregates = _name_sets(
        fetch,
        t.resource_provider_aggregates,
        "aggregate_id",
        {row[0]: row[1] for row in fetch(select(a.id, a.uuid))},
    )
    p = t.resource_providers.c
    columns: tuple[Any, ...] = (
        p.id,
        p.uuid,
        p.name,
        p.generation,
        p.root_provider_id,
        p.parent_provider_id,
        func.coalesce(p.updated_at, p.created_at),
    )
    listed = list(fetch(select(*columns).order_by(p.id)))
    uuids: dict[int | None, str] = {row.id: row.uuid for row in listed}
    for id_, uuid, name, generation, root_id, parent_id, modified_at in listed:
        root = uuids.get(root_id)
        if root is None:
            continue
        yield Provider(
            id=id_,
            uuid=uuid,
            # The schema allows a provider without a name; its uuid replaces it.
            name=uuid if name is None else name,
            root=root,
            parent=uuids.get(parent_id),
            generation=generation or 0,
            inventories=inventories.get(id_, {}),
            used=used.get(id_, {}),
            traits=provider_traits.get(id_, _EMPTY),
            aggregates=aggregates.get(id_, _EMPTY),
            modified_at=modified_at,
        )


def _inventories(fetch: Fetch, classes: Catalog) -> dict[int, dict[str, Inventory]]:
    i = t.inventories.c
    columns: tuple[Any, ...] = (
        i.resource_provider_id,
        i.resource_class_id,
        *[i[name] for name in FIGURES],
        func.coalesce(i.updated_at, i.created_at),
    )
    found: dict[int, dict[str, Inventory]] = {}
    for row in fetch(select(*columns).order_by(i.id)):
        provider_id, class_id, *values = row
        entry = classes.by_id.get(class_id)
        if entry is not None:
            found.setdefault(provider_id, {})[entry.name] = Inventory(*values)
    return found


def _used(fetch: Fetch, classes: Catalog) -> dict[int, dict[str, int]]:
    a = t.allocations.c
    sums = select(a.resource_provider_id, a.resource_class_id, func.sum(a.used)).group_by(
        a.resource_provider_id, a.resource_class_id
    )
    found: dict[int, dict[str, int]] = {}
    for provider_id, class_id, amount in fetch(sums):
        entry = classes.by_id.get(class_id)
        if entry is not None:
            found.setdefault(provider_id, {})[entry.name] = int(amount)
    return found


def _name_sets(fetch: Fetch, table: Table, column: str, names: dict[int, str]) -> dict[int, frozenset[str]]:
    provider_id, member_id = table.c.resource_provider_id, table.c[column]
    # One row per provider, with all ids in one text: ten times as many rows would take ten times as long.
    lists = select(provider_id, func.aggregate_strings(cast(member_id, String(20)), ",")).group_by(
        provider_id
    )
    # Most hosts of a cloud have the same traits and aggregates: equal sets are shared.
    by_list: dict[str, frozenset[str]] = {}
    by_set: dict[frozenset[str], frozenset[str]] = {}
    found: dict[int, frozenset[str]] = {}
    for id_, listed in fetch(lists):
        name_set = by_list.get(listed)
        if name_set is None:
            looked_up = (names.get(int(number)) for number in listed.split(","))
            name_set = frozenset(name for name in looked_up if name is not None)
            name_set = by_list[listed] = by_set.setdefault(name_set, name_set)
        found[id_] = name_set
    return found
