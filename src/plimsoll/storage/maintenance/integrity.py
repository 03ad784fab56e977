# SPDX-License-Identifier: Apache-2.0

"""Consistency checks of the rows, for the violations that the schema itself does not prevent.

A fault is an inconsistency, and has a remedy; a note is a valid state that an operator should look at. Checks only
read; each is one query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import (
    Column,
    Connection,
    Double,
    Row,
    Select,
    String,
    Table,
    and_,
    cast,
    func,
    inspect,
    or_,
    select,
)

from plimsoll.storage.schema import upgrades
from plimsoll.storage.tables import (
    allocations,
    changes,
    consumer_types,
    consumers,
    head,
    inventories,
    placement_aggregates,
    projects,
    resource_classes,
    resource_provider_aggregates,
    resource_provider_traits,
    resource_providers,
    traits,
    users,
)

Severity = Literal["fault", "note"]

# Maximum number of rows that a finding lists; the others are counted.
MAX_SHOWN = 10


@dataclass(frozen=True, slots=True)
class IntegrityFinding:
    """One kind of violation: the number of rows, the first of them, and the remedy for the operator."""

    severity: Severity
    problem: str
    where: tuple[str, ...]
    remedy: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class _Check:
    """A query whose every row is a violation, and the texts of its finding."""

    problem: str
    remedy: str
    query: Select[Any]
    describe_row: Callable[[Row[Any]], str]
    severity: Severity = "fault"

    def run(self, connection: Connection) -> IntegrityFinding | None:
        count = connection.scalar(select(func.count()).select_from(self.query.subquery())) or 0
        if not count:
            return None
        rows = connection.execute(self.query.limit(MAX_SHOWN)).all()
        return IntegrityFinding(
            self.severity, self.problem, tuple(map(self.describe_row, rows)), self.remedy, count
        )


def verify(connection: Connection) -> list[IntegrityFinding]:
    """Run every check; an empty list means that there are no violations."""
    checks = (*_CHECKS, _TYPES) if upgrades.has_consumer_types(connection) else _CHECKS
    found = [finding for check in checks if (finding := check.run(connection))]
    return found + _check_change_log(connection)


_DELETE = "Delete these rows with the database's own tools while the service is stopped."
_DELETE_CUSTOM = (
    "Ids below 10000 are standard classes, which the service adds when it starts: start it once and verify again."
    f" For other ids: {_DELETE}"
)
_REPARENT = "Set parent_provider_id and root_provider_id right while the service is stopped."
_RUN_DATA_MIGRATIONS = "Run `plimsoll db online_data_migrations`."
_PAST_CAPACITY = (
    "Nothing more is placed there until use has fallen. If the inventory was changed after the newest allocation (UTC),"
    " it was made smaller than its use, which the API allows. If the newest allocation is later, it was accepted past"
    " the capacity: look for a second service that writes to this database, such as OpenStack Placement on another"
    " controller, and for changes made with SQL."
)
_REPLACE_LOG = (
    "Stop every worker, empty plimsoll_changes, raise plimsoll_head.seq by one and start them again; and find"
    " out which other service writes to this database: while Plimsoll runs it must be the only one."
)
RESTORE_HEAD = (
    "INSERT INTO plimsoll_head (id, seq, mark) SELECT 1, COALESCE(MAX(seq), 0),"
    " COALESCE((SELECT mark FROM plimsoll_changes ORDER BY seq DESC LIMIT 1), 0) FROM plimsoll_changes"
)
"""Restores the row of the head from the last change."""


def _dangling(column: Column[Any], target: Column[Any], remedy: str = _DELETE) -> _Check:
    """Return the check for rows whose column refers to a row that does not exist."""
    table: Table = column.table
    target_rows = target.table.alias("target_rows")
    keys = [key for key in table.primary_key.columns if key is not column]
    return _Check(
        problem=f"{table.name}.{column.name} names a row of {target.table.name} that does not exist",
        remedy=remedy,
        query=select(column, *keys)
        .select_from(table.outerjoin(target_rows, column == target_rows.c[target.name]))
        .where(column.is_not(None), target_rows.c[target.name].is_(None))
        .order_by(column, *keys),
        describe_row=lambda row: ", ".join(f"{key} {value}" for key, value in row._mapping.items()),
    )


_REFERENCES = (
    _dangling(allocations.c.resource_provider_id, resource_providers.c.id),
    _dangling(allocations.c.resource_class_id, resource_classes.c.id, _DELETE_CUSTOM),
    _dangling(allocations.c.consumer_id, consumers.c.uuid, _RUN_DATA_MIGRATIONS),
    _dangling(inventories.c.resource_provider_id, resource_providers.c.id),
    _dangling(inventories.c.resource_class_id, resource_classes.c.id, _DELETE_CUSTOM),
    _dangling(resource_provider_traits.c.resource_provider_id, resource_providers.c.id),
    _dangling(resource_provider_traits.c.trait_id, traits.c.id),
    _dangling(resource_provider_aggregates.c.resource_provider_id, resource_providers.c.id),
    _dangling(resource_provider_aggregates.c.aggregate_id, placement_aggregates.c.id),
    _dangling(consumers.c.project_id, projects.c.id, "Point these consumers to a project that exists."),
    _dangling(consumers.c.user_id, users.c.id, "Point these consumers to a user that exists."),
    _dangling(resource_providers.c.parent_provider_id, resource_providers.c.id, _REPARENT),
    _dangling(resource_providers.c.root_provider_id, resource_providers.c.id, _REPARENT),
)

# Not in tables before 422ece571366.
_TYPES = _dangling(consumers.c.consumer_type_id, consumer_types.c.id, "Set consumer_type_id to NULL.")


def _provider(row: Row[Any]) -> str:
    return f"provider {row.uuid}"


def _trees() -> tuple[_Check, ...]:
    provider = resource_providers.alias("provider")
    parent = resource_providers.alias("parent")
    root = resource_providers.alias("root")
    listed = select(provider.c.uuid).order_by(provider.c.id)
    to_parent = provider.join(parent, provider.c.parent_provider_id == parent.c.id)
    to_root = provider.join(root, provider.c.root_provider_id == root.c.id)

    # A provider that a walk down from the roots does not reach is part of a cycle or below one.
    maybe_parent = provider.outerjoin(parent, provider.c.parent_provider_id == parent.c.id)
    reached = select(provider.c.id).select_from(maybe_parent).where(parent.c.id.is_(None)).cte(recursive=True)
    child = resource_providers.alias("child")
    reached = reached.union(select(child.c.id).join(reached, child.c.parent_provider_id == reached.c.id))

    return (
        _Check(
            "providers without a root",
            _RUN_DATA_MIGRATIONS,
            listed.where(provider.c.root_provider_id.is_(None)),
            _provider,
        ),
        _Check(
            "providers whose root is not itself a root",
            _REPARENT,
            listed.select_from(to_root).where(
                or_(
                    root.c.parent_provider_id.is_not(None),
                    root.c.root_provider_id.is_(None),
                    root.c.root_provider_id != root.c.id,
                )
            ),
            _provider,
        ),
        _Check(
            "providers without a parent that are not their own root",
            _REPARENT,
            listed.where(
                provider.c.parent_provider_id.is_(None), provider.c.root_provider_id != provider.c.id
            ),
            _provider,
        ),
        _Check(
            "providers with another root than their parent",
            _REPARENT,
            listed.select_from(to_parent).where(provider.c.root_provider_id != parent.c.root_provider_id),
            _provider,
        ),
        _Check(
            "providers that are their own ancestors, or are below such a provider",
            _REPARENT,
            listed.where(provider.c.id.not_in(select(reached.c.id))),
            _provider,
        ),
    )


def _past_capacity(row: Row[Any]) -> str:
    times = f"inventory changed {_time(row.changed)}, newest allocation {_time(row.claimed)}"
    return f"provider {row.uuid}, {row.name}: used {row.used}, capacity {row.capacity:g}; {times}"


def _time(moment: datetime | None) -> str:
    return "at an unknown time" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"


def _claims() -> tuple[_Check, ...]:
    held = allocations.join(
        resource_providers, allocations.c.resource_provider_id == resource_providers.c.id
    ).join(resource_classes, allocations.c.resource_class_id == resource_classes.c.id)
    matching_inventory = and_(
        inventories.c.resource_provider_id == allocations.c.resource_provider_id,
        inventories.c.resource_class_id == allocations.c.resource_class_id,
    )
    claim = (allocations.c.consumer_id, resource_providers.c.uuid, resource_classes.c.name)
    # The ratio as clients read it: a single-precision column calculates with a slightly different number.
    ratio = cast(cast(inventories.c.allocation_ratio, String(32)), Double)
    figures = (inventories.c.total, inventories.c.reserved, inventories.c.allocation_ratio)
    capacity = (inventories.c.total - inventories.c.reserved) * ratio
    changed = func.coalesce(inventories.c.updated_at, inventories.c.created_at)
    used = func.sum(allocations.c.used)

    def describe_row(row: Row[Any]) -> str:
        return f"consumer {row.consumer_id}, provider {row.uuid}, {row.name}"

    return (
        _Check(
            "allocations of a class without an inventory on their provider",
            "Give the provider that inventory back, or remove the allocations, through the API.",
            select(*claim)
            .select_from(held.outerjoin(inventories, matching_inventory))
            .where(inventories.c.id.is_(None))
            .order_by(allocations.c.id),
            describe_row,
        ),
        _Check(
            "consumers with several allocations of one class on one provider",
            "Write the consumer's allocations again through the API.",
            select(*claim).select_from(held).group_by(*claim).having(func.count() > 1).order_by(*claim),
            describe_row,
        ),
        _Check(
            "allocations of less than one unit",
            _DELETE,
            select(*claim).select_from(held).where(allocations.c.used < 1).order_by(allocations.c.id),
            describe_row,
        ),
        _Check(
            "inventories with more used than their capacity",
            _PAST_CAPACITY,
            select(
                resource_providers.c.uuid,
                resource_classes.c.name,
                used.label("used"),
                capacity.label("capacity"),
                changed.label("changed"),
                func.max(func.coalesce(allocations.c.updated_at, allocations.c.created_at)).label("claimed"),
            )
            .select_from(held.join(inventories, matching_inventory))
            .group_by(inventories.c.id, *figures, changed, resource_providers.c.uuid, resource_classes.c.name)
            .having(used > capacity)
            .order_by(inventories.c.id),
            _past_capacity,
            severity="note",
        ),
    )


_CHECKS = (*_REFERENCES, *_trees(), *_claims())


def _check_change_log(connection: Connection) -> list[IntegrityFinding]:
    """Check that change numbers have no gap and end at the head: each change takes the next number and adds a row."""
    if not inspect(connection).has_table(head.name):
        return [
            IntegrityFinding("note", "Plimsoll's own tables do not exist yet", (), "Run `plimsoll db sync`.")
        ]
    seq = connection.scalar(select(head.c.seq))
    if seq is None:
        return [
            IntegrityFinding(
                "fault", "plimsoll_head has no row", (), f"Stop every worker, and run: {RESTORE_HEAD}"
            )
        ]
    first, last, count = connection.execute(
        select(func.min(changes.c.seq), func.max(changes.c.seq), func.count())
    ).one()
    if count == 0:
        return []
    if last != seq:
        where = (f"head {seq}, last change {last}",)
        return [
            IntegrityFinding("fault", "the head is not the number of the last change", where, _REPLACE_LOG)
        ]
    if count != last - first + 1:
        where = (f"{count} rows from {first} to {last}",)
        return [IntegrityFinding("fault", "the change log has gaps", where, _REPLACE_LOG)]
    return []
