# SPDX-License-Identifier: Apache-2.0

"""Compare the snapshot in memory with the rows in SQL at the same head."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields

from sqlalchemy import Connection

from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import Sums, Usages
from plimsoll.domain.world import World
from plimsoll.ledger.follow import follow
from plimsoll.ledger.ledger import Ledger
from plimsoll.storage import changes
from plimsoll.storage.load import load_world

_PROVIDERS_PER_STEP = 1_000
"""Providers that are compared before other requests may run."""


def differences(ledger: Ledger) -> list[str]:
    """Return a text for each difference between memory and SQL."""

    def compared(conn: Connection) -> list[str]:
        snapshot = follow(conn, ledger.snapshot(), changes.read_head(conn), ledger.runtime)
        pause = ledger.runtime.yield_now
        return list(compare(snapshot.world, load_world(conn, snapshot.world.semantics, pause).world, pause))

    return ledger.database.run_read(compared)


def compare(memory: World, sql: World, pause: Callable[[], None] = lambda: None) -> Iterator[str]:
    for number, uuid in enumerate(sorted(memory.providers.keys() | sql.providers.keys()), 1):
        if not number % _PROVIDERS_PER_STEP:
            pause()
        yield from _compare_providers(uuid, memory.provider(uuid), sql.provider(uuid))
    for attribute in ("classes", "traits", "consumer_types"):
        if getattr(memory, attribute) != getattr(sql, attribute):
            yield f"{attribute.replace('_', ' ')} differ: memory and SQL do not have the same names"
    if {name: memory.uuid_by_name[name] for name in memory.uuid_by_name} != {
        name: sql.uuid_by_name[name] for name in sql.uuid_by_name
    }:
        yield "the providers' names differ"
    if _trees(memory) != _trees(sql):
        yield "the trees differ"
    yield from _compare_usages(_sums(memory.usages), _sums(sql.usages))


def _compare_providers(uuid: str, memory: Provider | None, sql: Provider | None) -> Iterator[str]:
    if memory is None or sql is None:
        yield f"provider {uuid} is only in {'SQL' if memory is None else 'memory'}"
        return
    for field in fields(Provider):
        in_memory, in_sql = getattr(memory, field.name), getattr(sql, field.name)
        if field.compare and in_memory != in_sql:
            yield f"provider {uuid}: {field.name} is {in_memory!r} in memory, {in_sql!r} in SQL"


def _compare_usages(
    memory: dict[tuple[str, str, str], Sums], sql: dict[tuple[str, str, str], Sums]
) -> Iterator[str]:
    for owner in sorted(memory.keys() | sql.keys()):
        in_memory, in_sql = memory.get(owner), sql.get(owner)
        if in_memory != in_sql:
            label = "project {}, user {}, consumers {}".format(*owner)
            yield f"{label}: usage is {in_memory} in memory, {in_sql} in SQL"


def _sums(usages: Usages) -> dict[tuple[str, str, str], Sums]:
    return {
        (project, user, kind or "without a type"): sums
        for project, by_type in usages.items()
        for kind, users in by_type.items()
        for user, sums in users.items()
    }


def _trees(world: World) -> dict[str, frozenset[str]]:
    return {root: frozenset(world.trees[root]) for root in world.trees}
