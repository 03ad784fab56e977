# SPDX-License-Identifier: Apache-2.0

"""Capacity and usage of all providers, whole or by group; usage of owners by group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import CONSUMERS, Sums, Usages, Users, added
from plimsoll.domain.utilisation import ProviderTotals, used_up_classes
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World
from plimsoll.service.placement import Placement
from plimsoll.storage.owner_names import PROJECTS, USERS, read_names

Pause = Callable[[], object]
Key = str | None
"""The key of a group; None for providers without aggregates or traits, and for consumers without a type."""


@unhashable_value
class OwnerTotals:
    """The usage of a group of consumers."""

    consumers: int
    used: dict[str, int]


# Groups of providers


def of_all(world: World, pause: Pause) -> ProviderTotals:
    whole = ProviderTotals()
    for host, used_up in _hosts(world, pause):
        for provider in host:
            whole.add(provider, used_up)
    return whole


def by_root(world: World, pause: Pause) -> dict[Key, ProviderTotals]:
    """Return the sums of each tree, by the uuid of its root."""
    groups: dict[Key, ProviderTotals] = {}
    for host, used_up in _hosts(world, pause):
        totals = groups[host[0].root] = ProviderTotals()
        for provider in host:
            totals.add(provider, used_up)
    return groups


def by_aggregate(world: World, pause: Pause) -> dict[Key, ProviderTotals]:
    """Return the sums of each aggregate. A provider counts in each of its aggregates."""
    return _by_sets(world, lambda provider: provider.aggregates, pause)


def by_trait(world: World, pause: Pause) -> dict[Key, ProviderTotals]:
    """Return the sums of the providers with each trait. A provider counts for each of its traits."""
    return _by_sets(world, lambda provider: provider.traits, pause)


def _by_sets(
    world: World, set_of: Callable[[Provider], frozenset[str]], pause: Pause
) -> dict[Key, ProviderTotals]:
    # Many providers have the same set: they are added up once, and then for each member.
    by_set: dict[frozenset[str], ProviderTotals] = {}
    for host, used_up in _hosts(world, pause):
        for provider in host:
            members = set_of(provider)
            if members not in by_set:
                by_set[members] = ProviderTotals()
            by_set[members].add(provider, used_up)
    groups: dict[Key, ProviderTotals] = {}
    for members, totals in by_set.items():
        for key in members or (None,):
            if key not in groups:
                groups[key] = ProviderTotals()
            groups[key].merge(totals)
            pause()
    return groups


def _hosts(world: World, pause: Pause) -> Iterator[tuple[list[Provider], frozenset[str]]]:
    """Yield each tree with the classes that are used up in it."""
    for root in world.trees:
        host = list(world.tree(root))
        yield host, used_up_classes(host)
        pause()


# Groups of owners. `pause` is also called during a query: it must not release the permit of the request.


def by_consumer_type(placement: Placement, project: str | None, pause: Pause) -> dict[Key, OwnerTotals]:
    """Return the usage of each consumer type, in one project or in all (None)."""
    world = placement.world()
    sums: dict[Key, list[Sums]] = {}
    for _, kind, users in _accounts(world.usages, world.semantics, project):
        sums.setdefault(kind, []).extend(users.values())
        pause()
    return _totals(sums, pause)


def by_project(placement: Placement, project: str | None, pause: Pause) -> dict[Key, OwnerTotals]:
    """Return the usage of each project, or of one."""
    world = placement.world()
    sums: dict[str, list[Sums]] = {}
    for key, _, users in _accounts(world.usages, world.semantics, project):
        sums.setdefault(key, []).extend(users.values())
        pause()
    if project is not None:
        return _totals({project: each} if (each := sums.get(world.semantics.key(project))) else {}, pause)
    names = placement.ledger.database.run_read(lambda conn: read_names(conn, PROJECTS, pause))
    return _totals(_named(sums, names, world.semantics, pause), pause)


def by_user(placement: Placement, project: str | None, pause: Pause) -> dict[Key, OwnerTotals]:
    """Return the usage of each user, in one project or in all (None)."""
    world = placement.world()
    sums: dict[str, list[Sums]] = {}
    for _, _, users in _accounts(world.usages, world.semantics, project):
        for user, each in users.items():
            sums.setdefault(user, []).append(each)
        pause()
    names = placement.ledger.database.run_read(lambda conn: read_names(conn, USERS, pause))
    return _totals(_named(sums, names, world.semantics, pause), pause)


def _accounts(
    usages: Usages, semantics: DatabaseSemantics, project: str | None
) -> Iterator[tuple[str, str | None, Users]]:
    """Yield the key of each project with each type and the sums of its users."""
    keys: Iterable[str] = usages if project is None else (semantics.key(project),)
    for key in keys:
        for kind, users in usages.get(key, {}).items():
            yield key, kind, users


def _named(
    sums: dict[str, list[Sums]], names: Iterable[str], semantics: DatabaseSemantics, pause: Pause
) -> dict[Key, list[Sums]]:
    """Replace the keys of owners by their names. In memory there are only keys: see `DatabaseSemantics.key`."""
    named: dict[Key, list[Sums]] = {}
    for name in names:
        found = sums.get(semantics.key(name))
        if found is not None:
            named[name] = found
        pause()
    return named


def _totals(sums: dict[Key, list[Sums]], pause: Pause) -> dict[Key, OwnerTotals]:
    groups: dict[Key, OwnerTotals] = {}
    for key, listed in sums.items():
        whole = added(listed)
        groups[key] = OwnerTotals(whole.pop(CONSUMERS, 0), whole)
        pause()
    return groups
