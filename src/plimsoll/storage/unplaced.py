# SPDX-License-Identifier: Apache-2.0

"""The tables of unplaced searches: one row per query of a project, and one row per search for its request ids.

Equal searches share a row with a count, so that a client that repeats one query does not displace the others. Each
search has a row of its own too, with both request ids and the summary at its time, so that the id of each failed
request finds the reason of that request. Both tables are pruned by age and by their number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, delete, func, insert, or_, select
from sqlalchemy.dialects import mysql, postgresql, sqlite

from plimsoll.domain.unplaced import SearchSummary, UnplacedEntry, UnplacedQuery, UnplacedRequest
from plimsoll.storage import tables as t

MAX_QUERY_CHARS = 8_000
MAX_SUMMARY_CHARS = 2_000
MAX_ID_CHARS = 255
MAX_REQUEST_ID_CHARS = 64
"""Longer texts are cut; the fingerprint is that of the whole query."""

REQUESTS_SHOWN = 10
"""Searches of an entry that a list shows, the newest ones."""
MAX_MATCHES = 100
"""Searches with one request id that are read, at most."""
PRUNE_BATCH = 200
"""Rows that are deleted in one transaction, at most."""

_U, _R = t.unplaced.c, t.unplaced_requests.c
_WHY = ("revision", "reason", "verdict", "summary")


class UnplacedFilter(NamedTuple):
    """Which entries are listed; None is any."""

    project: str | None = None
    reason: str | None = None
    since: datetime | None = None
    """Entries with a search at this time or later."""


class UnplacedPosition(NamedTuple):
    """The place of an entry in the list, which is ordered by these two, the newest first."""

    last_at: datetime
    id: int


def record(
    conn: Connection,
    searches: Mapping[UnplacedQuery, Sequence[UnplacedRequest]],
    pause: Callable[[], None] = lambda: None,
) -> list[UnplacedQuery]:
    """Add searches, the oldest first within each query. Return the queries that had no entry before.

    Calls `pause` after each query: the statements take about a millisecond.
    """
    new: list[UnplacedQuery] = []
    # In one order, so that two writers do not wait for each other's rows.
    for query in sorted(searches, key=lambda each: each.fingerprint):
        requests = searches[query]
        conn.execute(_upsert(conn.dialect.name, _entry_values(query, requests)))
        found = conn.execute(
            select(_U.id, _U.searches).where(_U.fingerprint == query.fingerprint).with_for_update()
        ).one()
        if found.searches == len(requests):
            new.append(query)
        conn.execute(insert(t.unplaced_requests), [_request_values(found.id, each) for each in requests])
        pause()
    return new


def _entry_values(query: UnplacedQuery, requests: Sequence[UnplacedRequest]) -> dict[str, Any]:
    last = requests[-1]
    return {
        "fingerprint": query.fingerprint,
        "project_id": _cut(query.project, MAX_ID_CHARS),
        "query": _cut(query.query, MAX_QUERY_CHARS),
        "microversion": query.microversion,
        "searches": len(requests),
        "first_at": requests[0].at,
        "last_at": last.at,
        "user_id": _cut(last.user, MAX_ID_CHARS),
        **_why_values(last.why),
    }


def _request_values(entry: int, request: UnplacedRequest) -> dict[str, Any]:
    return {
        "unplaced_id": entry,
        "at": request.at,
        "request_id": _cut(request.request_id, MAX_REQUEST_ID_CHARS),
        "global_request_id": _cut(request.global_request_id, MAX_REQUEST_ID_CHARS),
        "user_id": _cut(request.user, MAX_ID_CHARS),
        **_why_values(request.why),
    }


def _why_values(why: SearchSummary) -> dict[str, Any]:
    return {
        "revision": why.revision,
        "reason": why.reason,
        "verdict": why.verdict,
        "summary": _cut(why.summary, MAX_SUMMARY_CHARS),
    }


def _cut(text: str | None, longest: int) -> str | None:
    """Cut a text, and escape what some database cannot store: control characters and lone surrogates."""
    if text is None:
        return None
    if not text.isprintable():
        text = "".join(
            each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
        )
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _upsert(dialect: str, values: dict[str, Any]) -> Any:
    """Return the statement that inserts an entry, or adds to the entry with its fingerprint."""
    replaced = ("last_at", "user_id", *_WHY)
    if dialect in ("mysql", "mariadb"):
        add = mysql.insert(t.unplaced).values(values)
        more = {name: add.inserted[name] for name in replaced}
        return add.on_duplicate_key_update(searches=_U.searches + add.inserted.searches, **more)
    kind = postgresql.insert if dialect == "postgresql" else sqlite.insert
    put = kind(t.unplaced).values(values)
    more = {name: put.excluded[name] for name in replaced}
    sums = {"searches": _U.searches + put.excluded.searches}
    return put.on_conflict_do_update(index_elements=[_U.fingerprint], set_={**more, **sums})


def page(
    conn: Connection, wanted: UnplacedFilter, limit: int, after: UnplacedPosition | None
) -> list[UnplacedEntry]:
    """Return at most `limit` entries after this position, the newest first, each with its last searches."""
    conditions = _conditions(wanted)
    if after is not None:
        before = and_(_U.last_at == after.last_at, _U.id < after.id)
        conditions.append(or_(_U.last_at < after.last_at, before))
    rows = conn.execute(
        select(t.unplaced).where(*conditions).order_by(_U.last_at.desc(), _U.id.desc()).limit(limit)
    ).all()
    number = func.row_number().over(partition_by=_R.unplaced_id, order_by=_R.id.desc())
    numbered = (
        select(_R.id, number.label("number"))
        .where(_R.unplaced_id.in_([row.id for row in rows]))
        .subquery("numbered")
    )
    last = (
        select(t.unplaced_requests)
        .join(numbered, numbered.c.id == _R.id)
        .where(numbered.c.number <= REQUESTS_SHOWN)
    )
    return _with_requests(conn, rows, last)


def with_request_id(conn: Connection, request_id: str, wanted: UnplacedFilter) -> list[UnplacedEntry]:
    """Return the entries of the searches that have this id, own or global, each with these searches alone."""
    matching = _matching_ids(request_id)
    ids = conn.scalars(matching.limit(MAX_MATCHES)).all()
    matched = select(t.unplaced_requests).where(_R.id.in_(ids))
    entries = select(_R.unplaced_id).where(_R.id.in_(ids))
    rows = conn.execute(
        select(t.unplaced)
        .where(_U.id.in_(entries), *_conditions(wanted))
        .order_by(_U.last_at.desc(), _U.id.desc())
    ).all()
    return _with_requests(conn, rows, matched)


def _matching_ids(request_id: str) -> Select[Any]:
    """Return the query for the ids of searches with this request id. A UNION, so that each part uses its index."""
    both = (
        select(_R.id)
        .where(_R.request_id == request_id)
        .union(select(_R.id).where(_R.global_request_id == request_id))
        .subquery("matching")
    )
    return select(both.c.id).order_by(both.c.id.desc())


def _conditions(wanted: UnplacedFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.project is not None:
        conditions.append(_U.project_id == wanted.project)
    if wanted.reason is not None:
        conditions.append(_U.reason == wanted.reason)
    if wanted.since is not None:
        conditions.append(_U.last_at >= wanted.since)
    return conditions


def _with_requests(conn: Connection, rows: Sequence[Row[Any]], requests: Select[Any]) -> list[UnplacedEntry]:
    if not rows:
        return []
    found = conn.execute(requests.order_by(_R.unplaced_id, _R.id.desc())).all()
    by_entry = {
        entry: tuple(map(_request, listed)) for entry, listed in groupby(found, lambda row: row.unplaced_id)
    }
    return [replace(_entry(row), requests=by_entry.get(row.id, ())) for row in rows]


def _entry(row: Row[Any]) -> UnplacedEntry:
    query = UnplacedQuery(row.project_id, row.query, row.microversion)
    return UnplacedEntry(row.id, query, row.searches, row.first_at, row.last_at, row.user_id, _why(row))


def _request(row: Row[Any]) -> UnplacedRequest:
    return UnplacedRequest(row.at, row.request_id, row.global_request_id, row.user_id, _why(row))


def _why(row: Row[Any]) -> SearchSummary:
    return SearchSummary(row.revision, row.reason, row.verdict, row.summary)


def prune(conn: Connection, keep: int, keep_requests: int, oldest: datetime) -> int:
    """Delete at most PRUNE_BATCH entries, and as many searches, that are too old or too many. Return the number."""
    beyond = select(_U.id).order_by(_U.last_at.desc(), _U.id.desc()).offset(keep).limit(PRUNE_BATCH)
    expired = select(_U.id).where(_U.last_at < oldest).limit(PRUNE_BATCH)
    entries = {*conn.scalars(beyond), *conn.scalars(expired)}
    if entries:
        conn.execute(delete(t.unplaced).where(_U.id.in_(entries)))
        conn.execute(delete(t.unplaced_requests).where(_R.unplaced_id.in_(entries)))
    surplus = select(_R.id).order_by(_R.id.desc()).offset(keep_requests).limit(PRUNE_BATCH)
    # In the order of ids, which is nearly that of time: no index on the time is needed.
    first = conn.execute(select(_R.id, _R.at).order_by(_R.id).limit(PRUNE_BATCH)).all()
    requests = {*conn.scalars(surplus), *(row.id for row in first if row.at < oldest)}
    if requests:
        conn.execute(delete(t.unplaced_requests).where(_R.id.in_(requests)))
    return len(entries) + len(requests)
