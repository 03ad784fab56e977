# SPDX-License-Identifier: Apache-2.0

"""Reads what each owner uses: a few sums for each of them, made by the database.

By ids: with a million allocations, to put names to each takes longer than to add them up.
"""

from __future__ import annotations

from rpds import HashTrieMap
from sqlalchemy import Connection, Table, exists, func, select

from plimsoll.domain.catalog import Catalog
from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.domain.usage import CONSUMERS, Sums, Usages, added
from plimsoll.storage import tables as t
from plimsoll.storage.fetching import rows

_A, _C = t.allocations.c, t.consumers.c

_Account = tuple[int | None, int | None, int | None]
_NOBODY: _Account = (None, None, None)

_ACCOUNT = (_C.project_id, _C.user_id, _C.consumer_type_id)
_SUMS = (
    select(*_ACCOUNT, _A.resource_class_id, func.sum(_A.used))
    .select_from(t.allocations.outerjoin(t.consumers, _A.consumer_id == _C.uuid))
    .group_by(*_ACCOUNT, _A.resource_class_id)
)
# Few consumers hold nothing. To count all, and those, is several times as fast as to count who holds something.
_CONSUMERS = select(*_ACCOUNT, func.count()).group_by(*_ACCOUNT)
_IDLE = _CONSUMERS.where(~exists().where(_A.consumer_id == _C.uuid))


def load_usages(
    conn: Connection, classes: Catalog, types: Catalog, keeping: DatabaseSemantics
) -> tuple[Usages, bool]:
    """The sums of all owners, and whether some allocations have no owner, for want of the record of a consumer.

    A consumer whose project or user is missing does not count.
    """
    sums = _sums(conn, classes)
    projects, users = _keys(conn, t.projects, keeping), _keys(conn, t.users, keeping)
    found: dict[str, dict[str | None, dict[str, Sums]]] = {}
    # Many owners have one consumer or two, of a usual size: those that use the same share their sums.
    alike: dict[tuple[tuple[str, int], ...], Sums] = {}
    for (project_id, user_id, type_id), totals in sums.items():
        if totals and project_id in projects and user_id in users:
            term = None if type_id is None else types.by_id.get(type_id)
            by_type = found.setdefault(projects[project_id], {})
            by_user = by_type.setdefault(None if term is None else term.name, {})
            user = users[user_id]
            totals = added([by_user.get(user, {}), totals])
            by_user[user] = alike.setdefault(tuple(totals.items()), totals)
    usages = HashTrieMap(
        {
            project: {name: HashTrieMap(by_user) for name, by_user in by_type.items()}
            for project, by_type in found.items()
        }
    )
    return usages, _NOBODY in sums


def _sums(conn: Connection, classes: Catalog) -> dict[_Account, dict[str, int]]:
    sums: dict[_Account, dict[str, int]] = {}
    for *account, class_id, amount in rows(conn, _SUMS):
        totals = sums.setdefault((*account,), {})
        term = classes.by_id.get(class_id)
        if term is not None:
            totals[term.name] = int(amount)
    for sign, query in ((1, _CONSUMERS), (-1, _IDLE)):
        for *account, count in rows(conn, query):
            totals = sums.get((*account,), {})
            if totals:
                totals[CONSUMERS] = totals.get(CONSUMERS, 0) + sign * count
    return sums


def _keys(conn: Connection, table: Table, keeping: DatabaseSemantics) -> dict[int | None, str]:
    names = rows(conn, select(table.c.id, table.c.external_id))
    return {id_: keeping.key(name) for id_, name in names}
