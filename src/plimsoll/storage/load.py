# SPDX-License-Identifier: Apache-2.0

"""Reads a whole world from SQL: what a process does at its start, and when it fell too far behind.

Everything that memory holds is checked on the way in: a provider whose tree is broken is left out, as the
reference leaves it out of its answers, and `plimsoll db verify` names it.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, String, Table, cast, func, select

from plimsoll.domain.catalog import Catalog, Term
from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.world import LastIds, World
from plimsoll.storage import tables as t
from plimsoll.storage.fetching import rows
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
"""See `LastIds`. Rows that have outlived their provider must not become another's."""

_NO_MARKS: frozenset[str] = frozenset()


class Loaded(NamedTuple):
    world: World
    has_unrecorded: bool
    """Whether there are allocations without the record of a consumer, from clients of the first days."""


def load_world(conn: Connection, keeping: DatabaseSemantics = EXACT) -> Loaded:
    """The world as this connection's transaction sees it."""
    with _no_collection():
        classes = _catalog(conn, t.resource_classes)
        traits = _catalog(conn, t.traits)
        consumer_types = _catalog(conn, t.consumer_types)
        usages, has_unrecorded = load_usages(conn, classes, consumer_types, keeping)
        world = World.of(_providers(conn, classes, traits), classes, traits, consumer_types, keeping, usages)
        counting = world.counting_from(LastIds(*conn.exec_driver_sql(LAST_IDS.sql).one()))
        return Loaded(counting, has_unrecorded)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Nothing of a world is garbage while it is made, and to look for some again and again takes half the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _catalog(conn: Connection, table: Table) -> Catalog:
    rows = conn.execute(select(table.c.id, table.c.name, table.c.created_at, table.c.updated_at))
    return Catalog(Term(id_, name, updated or created) for id_, name, created, updated in rows)


def _providers(conn: Connection, classes: Catalog, traits: Catalog) -> Iterable[Provider]:
    inventories = _inventories(conn, classes)
    used = _used(conn, classes)
    provider_traits = _marks(
        conn, t.resource_provider_traits, "trait_id", {term.id: term.name for term in traits}
    )
    a = t.placement_aggregates.c
    aggregates = _marks(
        conn,
        t.resource_provider_aggregates,
        "aggregate_id",
        {row[0]: row[1] for row in rows(conn, select(a.id, a.uuid))},
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
    listed = list(rows(conn, select(*columns).order_by(p.id)))
    uuids: dict[int | None, str] = {row.id: row.uuid for row in listed}
    for id_, uuid, name, generation, root_id, parent_id, modified_at in listed:
        root = uuids.get(root_id)
        if root is None:
            continue
        yield Provider(
            id=id_,
            uuid=uuid,
            # The schema allows a provider without a name; it goes by its uuid.
            name=uuid if name is None else name,
            root=root,
            parent=uuids.get(parent_id),
            generation=generation or 0,
            inventories=inventories.get(id_, {}),
            used=used.get(id_, {}),
            traits=provider_traits.get(id_, _NO_MARKS),
            aggregates=aggregates.get(id_, _NO_MARKS),
            modified_at=modified_at,
        )


def _inventories(conn: Connection, classes: Catalog) -> dict[int, dict[str, Inventory]]:
    i = t.inventories.c
    columns: tuple[Any, ...] = (
        i.resource_provider_id,
        i.resource_class_id,
        i.total,
        i.reserved,
        i.min_unit,
        i.max_unit,
        i.step_size,
        i.allocation_ratio,
        func.coalesce(i.updated_at, i.created_at),
    )
    found: dict[int, dict[str, Inventory]] = {}
    for row in rows(conn, select(*columns).order_by(i.id)):
        provider_id, class_id, total, reserved, min_unit, max_unit, step_size, ratio, modified_at = row
        term = classes.by_id.get(class_id)
        if term is not None:
            found.setdefault(provider_id, {})[term.name] = Inventory(
                total, reserved, min_unit, max_unit, step_size, ratio, modified_at=modified_at
            )
    return found


def _used(conn: Connection, classes: Catalog) -> dict[int, dict[str, int]]:
    a = t.allocations.c
    sums = select(a.resource_provider_id, a.resource_class_id, func.sum(a.used)).group_by(
        a.resource_provider_id, a.resource_class_id
    )
    found: dict[int, dict[str, int]] = {}
    for provider_id, class_id, amount in rows(conn, sums):
        term = classes.by_id.get(class_id)
        if term is not None:
            found.setdefault(provider_id, {})[term.name] = int(amount)
    return found


def _marks(conn: Connection, table: Table, column: str, names: dict[int, str]) -> dict[int, frozenset[str]]:
    provider_id, mark_id = table.c.resource_provider_id, table.c[column]
    # One row for each provider, its marks in one text: ten times as many rows take ten times as long.
    lists = select(provider_id, func.aggregate_strings(cast(mark_id, String(20)), ",")).group_by(provider_id)
    # Most hosts of a cloud are marked alike: those that are share one set.
    by_list: dict[str, frozenset[str]] = {}
    by_set: dict[frozenset[str], frozenset[str]] = {}
    found: dict[int, frozenset[str]] = {}
    for id_, listed in rows(conn, lists):
        marks = by_list.get(listed)
        if marks is None:
            there = (names.get(int(number)) for number in listed.split(","))
            marks = frozenset(name for name in there if name is not None)
            marks = by_list[listed] = by_set.setdefault(marks, marks)
        found[id_] = marks
    return found
