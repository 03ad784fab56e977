# SPDX-License-Identifier: Apache-2.0

"""Usage by owner: sums by project, consumer type and user, so that no request has to sum single allocations.

The maps are hash tries, like those of the world: a claim replaces the sums of one user at a cost that does not depend
on the number of users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from rpds import HashTrieMap

from plimsoll.domain.consumer import Account, Allocation

V = TypeVar("V")

CONSUMERS = "consumers"

Sums = Mapping[str, int]
"""Amounts by resource class. The key CONSUMERS (no class name is in lower case) has the number of consumers.

Zero amounts are absent. One mapping for both, to save memory: there may be tens of thousands of owners.
"""

Users: TypeAlias = "HashTrieMap[str, Sums]"
Usages: TypeAlias = "HashTrieMap[str, Mapping[str | None, Users]]"
"""By key of the project, type, and key of the user (`DatabaseSemantics.key`). Users without usage are absent."""

Key = Callable[[str], str]

_NO_TYPES: Mapping[str | None, Users] = {}
_NO_USERS: Users = HashTrieMap()
_NO_SUMS: Sums = {}


def added(sums: Iterable[Sums]) -> dict[str, int]:
    """Return the sums of all these, by resource class."""
    totals: dict[str, int] = {}
    for each in sums:
        for name, amount in each.items():
            totals[name] = totals.get(name, 0) + amount
    return totals


def without_zeros(sums: Sums) -> Sums:
    """Remove the amounts that have become zero."""
    assert min(sums.values()) >= 0
    return {name: amount for name, amount in sums.items() if amount}


def by_type(usages: Usages, key: Key, project: str, user: str | None) -> dict[str | None, Sums]:
    """Return the usage of a project, or of one user in it, by consumer type."""
    types = usages.get(key(project), _NO_TYPES).items()
    if user is None:
        return {name: added(users.values()) for name, users in types}
    user = key(user)
    return {name: users[user] for name, users in types if user in users}


def with_holding(
    usages: Usages, key: Key, account: Account | None, held: tuple[Allocation, ...], sign: int = 1
) -> Usages:
    """Add the allocations of a consumer of this account; with the sign -1, subtract them.

    A consumer without allocations or account does not count.
    """
    if not held or account is None:
        return usages
    return _with_sums(
        usages, key(account.project), key(account.user), account.type, lambda sums: _changed(sums, held, sign)
    )


def with_sums_added(usages: Usages, project: str, user: str, kind: str | None, more: Sums) -> Usages:
    """Add sums, which may be negative, to those of one owner. `project` and `user` are keys."""
    return _with_sums(usages, project, user, kind, lambda sums: without_zeros(added((sums, more))))


def _with_sums(
    usages: Usages, project: str, user: str, kind: str | None, change: Callable[[Sums], Sums]
) -> Usages:
    """Replace the sums of one owner. Owners without usage are removed."""
    types = usages.get(project, _NO_TYPES)
    users = types.get(kind, _NO_USERS)
    sums = change(users.get(user, _NO_SUMS))
    users = users.insert(user, sums) if sums else users.discard(user)
    types = {**types, kind: users} if users else {name: types[name] for name in types if name != kind}
    return usages.insert(project, types) if types else usages.discard(project)


def with_class_renamed(usages: Usages, name: str, new_name: str) -> Usages:
    return _with_changed(usages, name, lambda sums: renamed(sums, name, new_name))


def renamed(mapping: Mapping[str, V], name: str, new_name: str) -> Mapping[str, V]:
    return {new_name if key == name else key: value for key, value in mapping.items()}


def has_class(usages: Usages, name: str) -> bool:
    """Return whether some owner has usage of this class."""
    return any(
        name in sums for types in usages.values() for users in types.values() for sums in users.values()
    )


def without_class(usages: Usages, name: str) -> Usages:
    return _with_changed(usages, name, lambda sums: {each: sums[each] for each in sums if each != name})


def _with_changed(usages: Usages, name: str, change: Callable[[Sums], Sums]) -> Usages:
    """Apply `change` to all sums with this class. The result is never empty: it still has CONSUMERS."""
    for project, types in usages.items():
        for kind, users in types.items():
            for user, sums in users.items():
                if name in sums:
                    users = users.insert(user, change(sums))
            types = {**types, kind: users}
        usages = usages.insert(project, types)
    return usages


def _changed(sums: Sums, held: tuple[Allocation, ...], sign: int) -> Sums:
    totals = dict(sums)
    totals[CONSUMERS] = totals.get(CONSUMERS, 0) + sign
    for _, resource_class, amount in held:
        totals[resource_class] = totals.get(resource_class, 0) + sign * amount
    return totals if sign > 0 else without_zeros(totals)
