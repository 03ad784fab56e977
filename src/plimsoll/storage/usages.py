# SPDX-License-Identifier: Apache-2.0

"""Load the usage of each owner: a few sums for each, calculated by the database.

The database groups by ids: with a million allocations, joining the names takes longer than adding up.
"""

from __future__ import annotations

from rpds import HashTrieMap
from sqlalchemy import Table, exists, func, select

from plimsoll.domain.catalog import Catalog
from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.domain.usage import CONSUMERS, Sums, Usages, added
from plimsoll.storage import tables as t
from plimsoll.storage.fetching import Fetch

_A, _C = t.allocations.c, t.consumers.c

_Account = tuple[int | None, int | None, int | None]
_NO_CONSUMER: _Account = (None, None, None)

_ACCOUNT = (_C.project_id, _C.user_id, _C.consumer_type_id)
_SUMS = (
    select(*_ACCOUNT, _A.resource_class_id, func.sum(_A.used))
    .select_from(t.allocations.outerjoin(t.consumers, _A.consumer_id == _C.uuid))
    .group_by(*_ACCOUNT, _A.resource_class_id)
)
# Few consumers have no allocations. To subtract them from all is several times as fast as to count the others.
_CONSUMERS = select(*_ACCOUNT, func.count()).group_by(*_ACCOUNT)
_CONSUMERS_WITHOUT_ALLOCATIONS = _CONSUMERS.where(~exists().where(_A.consumer_id == _C.uuid))


def load_usages(
    fetch: Fetch, classes: Catalog, types: Catalog, semantics: DatabaseSemantics
) -> tuple[Usages, bool]:
    """Return the sums of all owners, and whether some allocations have no consumer row and so no owner.

    A consumer whose project or user is missing is not counted.
    """
    sums = _sums(fetch, classes)
    projects, users = _keys(fetch, t.projects, semantics), _keys(fetch, t.users, semantics)
    by_project: dict[str, dict[str | None, dict[str, Sums]]] = {}
    # Many owners have one or two consumers of a common size: equal sums are shared.
    shared: dict[tuple[tuple[str, int], ...], Sums] = {}
    for (project_id, user_id, type_id), totals in sums.items():
        if totals and project_id in projects and user_id in users:
            entry = None if type_id is None else types.by_id.get(type_id)
            by_type = by_project.setdefault(projects[project_id], {})
            by_user = by_type.setdefault(None if entry is None else entry.name, {})
            user = users[user_id]
            totals = added([by_user.get(user, {}), totals])
            by_user[user] = shared.setdefault(tuple(totals.items()), totals)
    usages = HashTrieMap(
        {
            project: {name: HashTrieMap(by_user) for name, by_user in by_type.items()}
            for project, by_type in by_project.items()
        }
    )
    return usages, _NO_CONSUMER in sums


def _sums(fetch: Fetch, classes: Catalog) -> dict[_Account, dict[str, int]]:
    sums: dict[_Account, dict[str, int]] = {}
    for *account, class_id, amount in fetch(_SUMS):
        totals = sums.setdefault((*account,), {})
        entry = classes.by_id.get(class_id)
        if entry is not None:
            totals[entry.name] = int(amount)
    for sign, query in ((1, _CONSUMERS), (-1, _CONSUMERS_WITHOUT_ALLOCATIONS)):
        for *account, count in fetch(query):
            totals = sums.get((*account,), {})
            if totals:
                totals[CONSUMERS] = totals.get(CONSUMERS, 0) + sign * count
    return sums


def _keys(fetch: Fetch, table: Table, semantics: DatabaseSemantics) -> dict[int | None, str]:
    names = fetch(select(table.c.id, table.c.external_id))
    return {id_: semantics.key(name) for id_, name in names}
