# SPDX-License-Identifier: Apache-2.0

"""List consumers in the order of their uuids, page by page, by the indexes of the reference's tables.

The indexes are (uuid), (project, uuid), (project, user, uuid), (type) and, of allocations, (provider, ...) and
(consumer). Two kinds of queries use them, and no page reads more rows than NARROW_ROWS or EXAMINED_ROWS:

- If a condition (provider, tree, type, age) has at most NARROW_ROWS rows, they are all read by its index and sorted.
- Else the consumers are walked in the order of an index that has their uuids in order, and the other conditions are
  filters. After EXAMINED_ROWS consumers the page ends, even if it is not full. Uuids are random, so that a condition
  that many consumers meet fills a page soon.

The optimizer of the database must not choose another index for a filter, by statistics that may be old. Therefore
filters compare an expression (`column + 0`) instead of the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Select, func, literal, select

from plimsoll.storage import tables as t

NARROW_ROWS = 5_000
EXAMINED_ROWS = 10_000
FIRST_WINDOW = 8
"""Consumers that a walk examines first, for each that is wanted. Only if these are not enough it examines the rest."""

CLOCK_TOLERANCE = timedelta(minutes=10)
"""Ids are in the order of creation, except for the differences between the clocks of the writers' machines."""

_LOOKUPS_PER_QUERY = 500

_A, _C, _P = t.allocations.c, t.consumers.c, t.resource_providers.c

Conditions = list[ColumnElement[bool]]


class ConsumerFilter(NamedTuple):
    """Which consumers are listed; None is any."""

    project: str | None = None
    user: str | None = None
    type: str | None = None
    is_untyped: bool = False
    """Only consumers without a type."""
    provider: str | None = None
    """The uuid of a provider of which they hold something."""
    tree: str | None = None
    """The uuid of the root of a tree of which they hold something."""
    created_before: datetime | None = None
    created_since: datetime | None = None


class UuidPage(NamedTuple):
    uuids: Sequence[str]
    next: str | None
    """The uuid after which the next page begins. None if there are no more."""


class _Ids(NamedTuple):
    """The row ids of a filter. None if a name or uuid has no row."""

    project: int | None = None
    user: int | None = None
    type: int | None = None
    provider: int | None = None
    root: int | None = None


class _Narrow(NamedTuple):
    """A condition with few rows."""

    rows: int
    uuids: Select[Any]
    """The uuids of its consumers."""
    of_allocations: bool
    """Whether the query reads allocations, of which a consumer has several, or consumers."""


def page_of_uuids(conn: Connection, wanted: ConsumerFilter, after: str, limit: int) -> UuidPage:
    """Return at most `limit` uuids of consumers after `after`, in their order."""
    assert limit > 0
    ids = _ids(conn, wanted)
    if ids is None:
        return UuidPage((), None)
    narrow = min(_narrow_conditions(conn, wanted, ids), key=lambda each: each.rows, default=None)
    if narrow is None:
        return _walk(conn, wanted, ids, after, limit)
    if narrow.of_allocations:
        return _holders(conn, narrow.uuids, _filters(wanted, ids), after, limit)
    uuid = _unindexed(_C.uuid)
    query = narrow.uuids.where(*_filters(wanted, ids), uuid > after).order_by(uuid)
    return _page(conn.scalars(query.limit(limit + 1)).all(), limit)


def _ids(conn: Connection, wanted: ConsumerFilter) -> _Ids | None:
    """Return the row ids; None if a row does not exist, so that no consumer can meet the filter."""
    lookups: tuple[tuple[str | None, Column[Any]], ...] = (
        (wanted.project, t.projects.c.external_id),
        (wanted.user, t.users.c.external_id),
        (wanted.type, t.consumer_types.c.name),
        (wanted.provider, _P.uuid),
        (wanted.tree, _P.uuid),
    )
    found: list[int | None] = []
    for text, column in lookups:
        row_id = None if text is None else conn.scalar(select(column.table.c.id).where(column == text))
        if text is not None and row_id is None:
            return None
        found.append(row_id)
    return _Ids(*found)


def _filters(wanted: ConsumerFilter, ids: _Ids) -> Conditions:
    """Return all conditions as filters, which use no index except that of a consumer's own allocations."""
    conditions: Conditions = []
    if ids.project is not None:
        conditions.append(_C.project_id + 0 == ids.project)
    if ids.user is not None:
        conditions.append(_C.user_id + 0 == ids.user)
    if ids.type is not None or wanted.is_untyped:
        conditions.append(func.coalesce(_C.consumer_type_id, -1) == (-1 if ids.type is None else ids.type))
    if wanted.created_before is not None:
        conditions.append(_C.created_at < wanted.created_before)
    if wanted.created_since is not None:
        conditions.append(_C.created_at >= wanted.created_since)
    if ids.provider is not None:
        conditions.append(_holds(_A.resource_provider_id + 0 == ids.provider))
    if ids.root is not None:
        root = select(_P.root_provider_id).where(_P.id == _A.resource_provider_id).scalar_subquery()
        conditions.append(_holds(root == ids.root))
    return conditions


def _holds(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that a consumer has such an allocation.

    It is a count: the optimizer might turn EXISTS into a join that begins with all allocations.
    """
    count = select(func.count()).select_from(t.allocations).where(_A.consumer_id == _C.uuid, condition)
    return count.correlate(t.consumers).scalar_subquery() > 0


def _narrow_conditions(conn: Connection, wanted: ConsumerFilter, ids: _Ids) -> list[_Narrow]:
    """Return the conditions with at most NARROW_ROWS rows. Ages are tried last: they take some twenty queries."""
    queries: list[tuple[Select[Any], bool]] = []
    if ids.provider is not None:
        queries.append((select(_A.consumer_id).where(_A.resource_provider_id == ids.provider), True))
    if ids.root is not None:
        members = select(_A.consumer_id).join(t.resource_providers, _P.id == _A.resource_provider_id)
        queries.append((members.where(_P.root_provider_id == ids.root), True))
    if ids.type is not None:
        queries.append((select(_C.uuid).where(_C.consumer_type_id == ids.type), False))
    if wanted.is_untyped:
        queries.append((select(_C.uuid).where(_C.consumer_type_id.is_(None)), False))
    narrow = []
    for query, of_allocations in queries:
        some = query.with_only_columns(literal(1), maintain_column_froms=True).limit(NARROW_ROWS + 1)
        rows = conn.scalar(select(func.count()).select_from(some.subquery())) or 0
        if rows <= NARROW_ROWS:
            narrow.append(_Narrow(rows, query, of_allocations))
    if not narrow and (wanted.created_before is not None or wanted.created_since is not None):
        low, high = _id_range(conn, wanted)
        if high - low <= NARROW_ROWS:
            narrow.append(_Narrow(high - low, select(_C.uuid).where(_C.id >= low, _C.id < high), False))
    return narrow


def _id_range(conn: Connection, wanted: ConsumerFilter) -> tuple[int, int]:
    """Return a range of ids that has all consumers of the wanted age: ids are in the order of creation."""
    # Two queries: for both in one SQLite reads all rows.
    first, last = conn.scalar(select(func.min(_C.id))), conn.scalar(select(func.max(_C.id)))
    if first is None or last is None:
        return 0, 0
    low, high = first, last + 1
    if wanted.created_since is not None:
        low = _first_since(conn, low, high, wanted.created_since - CLOCK_TOLERANCE)
    if wanted.created_before is not None:
        high = max(low, _first_since(conn, low, high, wanted.created_before + CLOCK_TOLERANCE))
    return low, high


def _first_since(conn: Connection, low: int, high: int, time: datetime) -> int:
    """Return the lowest id in a range that was created at this time or later, by binary search; or its end."""
    while low < high:
        middle = (low + high) // 2
        row = conn.execute(
            select(_C.id, _C.created_at).where(_C.id >= middle, _C.id < high).order_by(_C.id).limit(1)
        ).first()
        if row is None or (row.created_at is not None and row.created_at >= time):
            high = middle
        else:  # a row without a time is one of an old release
            low = row.id + 1
    return low


def _holders(conn: Connection, holders: Select[Any], filters: Conditions, after: str, limit: int) -> UuidPage:
    """Return a page of the consumers of few allocations: first all their uuids, then those that meet the filters."""
    uuid = _unindexed(_A.consumer_id)
    uuids = conn.scalars(holders.where(uuid > after).group_by(_A.consumer_id).order_by(uuid)).all()
    found: list[str] = []
    for start in range(0, len(uuids), _LOOKUPS_PER_QUERY):
        some = uuids[start : start + _LOOKUPS_PER_QUERY]
        query = select(_C.uuid).where(_C.uuid.in_(some), *filters).order_by(_unindexed(_C.uuid))
        found += conn.scalars(query)
        if len(found) > limit:
            break
    return _page(found, limit)


def _walk(conn: Connection, wanted: ConsumerFilter, ids: _Ids, after: str, limit: int) -> UuidPage:
    """Return a page of the consumers in the order of an index, after at most EXAMINED_ROWS of them."""
    in_index: Conditions = []
    if ids.project is not None:
        in_index.append(_C.project_id == ids.project)
        ids, wanted = ids._replace(project=None), wanted._replace(project=None)
        if ids.user is not None:
            in_index.append(_C.user_id == ids.user)
            ids, wanted = ids._replace(user=None), wanted._replace(user=None)
    filters = _filters(wanted, ids)
    if not filters:
        some = select(_C.uuid).where(*in_index, _C.uuid > after).order_by(_C.uuid).limit(limit + 1)
        return _page(conn.scalars(some).all(), limit)
    found: list[str] = []
    examined, window = 0, min(FIRST_WINDOW * limit, EXAMINED_ROWS)
    while examined < EXAMINED_ROWS:
        ordered = select(_C.uuid).where(*in_index, _C.uuid > after).order_by(_C.uuid)
        end = conn.scalar(ordered.offset(window - 1).limit(1))
        within = ordered if end is None else ordered.where(_C.uuid <= end)
        found += conn.scalars(within.where(*filters).limit(limit + 1 - len(found)))
        if len(found) > limit or end is None:
            return _page(found, limit)
        examined, window, after = examined + window, EXAMINED_ROWS - examined - window, end
    return UuidPage(found, after)


def _page(uuids: Sequence[str], limit: int) -> UuidPage:
    """Return the page of these uuids, of which there is one more than `limit` if there is a next page."""
    return UuidPage(uuids, None) if len(uuids) <= limit else UuidPage(uuids[:limit], uuids[limit - 1])


def _unindexed(column: ColumnElement[str]) -> ColumnElement[str]:
    """Return an expression that is equal to a column of texts and compares in the same order, without its index."""
    return column.concat("")
