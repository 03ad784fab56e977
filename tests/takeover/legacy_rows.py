# SPDX-License-Identifier: Apache-2.0

"""Insert rows that a database of many years contains, and that the API cannot create any more.

Many hosts with many instances, as the reference writes them. And rows of older releases: providers without a root or
a generation, allocations without a consumer, consumers without a type.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, insert, select

from plimsoll.storage import tables as t
from tests.support.databases import open_connection
from tests.takeover.cloud import PROJECTS, TYPES, uuid_of

HOSTS = 25
CONSUMERS = 40
"""Consumers per host, each with three allocations: 3,000 in total."""

LONG_AGO = datetime(2019, 2, 3, 4, 5, 6, 789_000)

ROOTLESS = ("old host 0", "old host 1")
OLD_CLASS = "CUSTOM_OLD"
"""Their only class: the reference fails with status 500 if a search finds a provider without a root."""
NO_GENERATION = "old host 2"
INCOMPLETE = tuple(f"incomplete consumer {number}" for number in range(5))


def fill(url: str, scale: int = 1) -> None:
    with open_connection(url) as connection:
        ids = _Ids(connection)
        hosts = [f"flat host {number}" for number in range(HOSTS * scale)]
        _add_hosts(connection, ids, hosts)
        _add_consumers(connection, ids, hosts)
        _add_incomplete_rows(connection, ids)


class _Ids:
    """Ids of existing rows, by name."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, table: Table, key: str) -> dict[str, int]:
        return {row[0]: row[1] for row in self._connection.execute(select(table.c[key], table.c.id))}

    def ensure(self, table: Table, key: str, names: tuple[str, ...]) -> dict[str, int]:
        missing = set(names) - self.of(table, key).keys()
        if missing:
            self._connection.execute(
                insert(table), [{key: name, "created_at": LONG_AGO} for name in sorted(missing)]
            )
        return self.of(table, key)


def _add_providers(connection: Connection, ids: _Ids, names: list[str], **values: Any) -> dict[str, int]:
    """Insert root providers as the reference does: insert the row, then set its root to itself."""
    rows = [
        {"uuid": uuid_of(name), "name": name, "generation": 7, "created_at": _time(place)} | values
        for place, name in enumerate(names)
    ]
    connection.execute(insert(t.resource_providers), rows)
    by_uuid = ids.of(t.resource_providers, "uuid")
    added = {name: by_uuid[uuid_of(name)] for name in names}
    p = t.resource_providers.c
    connection.execute(
        t.resource_providers.update()
        .where(p.id.in_(list(added.values())), p.root_provider_id.is_(None))
        .values(root_provider_id=p.id)
    )
    return added


def _add_hosts(connection: Connection, ids: _Ids, names: list[str]) -> None:
    hosts = _add_providers(connection, ids, names, updated_at=LONG_AGO + timedelta(days=900))
    connection.execute(
        insert(t.inventories), [row for host in hosts.values() for row in _inventories(ids, host)]
    )
    fast = ids.of(t.traits, "name")["CUSTOM_FAST"]
    rack = ids.of(t.placement_aggregates, "uuid")[uuid_of("rack", 0)]
    some = [host for host in hosts.values() if host % 5 == 0]
    connection.execute(
        insert(t.resource_provider_traits),
        [{"resource_provider_id": host, "trait_id": fast, "created_at": LONG_AGO} for host in some],
    )
    connection.execute(
        insert(t.resource_provider_aggregates),
        [{"resource_provider_id": host, "aggregate_id": rack, "created_at": LONG_AGO} for host in some],
    )


def _inventories(ids: _Ids, host: int) -> list[dict[str, Any]]:
    classes = ids.of(t.resource_classes, "name")
    figures = {"VCPU": (512, 4, 16.0), "MEMORY_MB": (4_000_000, 512, 1.5), "DISK_GB": (20_000, 0, 0.9)}
    return [
        {
            "resource_provider_id": host,
            "resource_class_id": classes[name],
            "total": total,
            "reserved": reserved,
            "min_unit": 1,
            "max_unit": total,
            "step_size": 1,
            "allocation_ratio": ratio,
            "created_at": LONG_AGO,
            "updated_at": _time(host) if name == "VCPU" else None,
        }
        for name, (total, reserved, ratio) in figures.items()
    ]


def _add_consumers(connection: Connection, ids: _Ids, hosts: list[str]) -> None:
    projects = ids.ensure(t.projects, "external_id", (*PROJECTS, "project-c"))
    users = ids.ensure(t.users, "external_id", ("user-0", "user-1", "user-9"))
    types: list[int | None] = [None, *ids.ensure(t.consumer_types, "name", TYPES).values()]
    providers = ids.of(t.resource_providers, "uuid")
    classes = ids.of(t.resource_classes, "name")
    consumers, allocations = [], []
    for place, host in enumerate(hosts):
        for number in range(CONSUMERS):
            uuid = uuid_of("instance", host, number)
            consumers.append(
                {
                    "uuid": uuid,
                    "project_id": list(projects.values())[(place + number) % len(projects)],
                    "user_id": list(users.values())[number % len(users)],
                    "generation": 1 + number % 4,
                    "consumer_type_id": types[number % len(types)],
                    "created_at": _time(number),
                    "updated_at": None,
                }
            )
            allocations += _held(
                uuid, providers[uuid_of(host)], classes, {"VCPU": 2, "MEMORY_MB": 4096, "DISK_GB": 40}, number
            )
    connection.execute(insert(t.consumers), consumers)
    connection.execute(insert(t.allocations), allocations)


def _held(
    consumer: str, provider: int, classes: dict[str, int], amounts: dict[str, int], age: int
) -> list[dict[str, Any]]:
    return [
        {
            "resource_provider_id": provider,
            "consumer_id": consumer,
            "resource_class_id": classes[name],
            "used": used,
            "created_at": _time(age),
            "updated_at": None,
        }
        for name, used in amounts.items()
    ]


def _add_incomplete_rows(connection: Connection, ids: _Ids) -> None:
    """Insert rows of releases before trees, consumers and generations, each on its own host."""
    rootless = _add_providers(connection, ids, list(ROOTLESS))
    p = t.resource_providers.c
    connection.execute(
        t.resource_providers.update().where(p.id.in_(rootless.values())).values(root_provider_id=None)
    )
    classes = ids.of(t.resource_classes, "name")
    rows = [
        row | {"resource_class_id": classes[OLD_CLASS]} for row in _inventories(ids, rootless[ROOTLESS[0]])
    ]
    connection.execute(insert(t.inventories), rows[:1])
    no_generation = _add_providers(connection, ids, [NO_GENERATION], generation=None)
    connection.execute(insert(t.inventories), _inventories(ids, no_generation[NO_GENERATION]))
    known = ids.of(t.resource_providers, "uuid")[uuid_of("flat host 0")]
    for place, consumer in enumerate(INCOMPLETE):
        on_rootless = place % 2 == 0
        host = rootless[ROOTLESS[0]] if on_rootless else known
        amounts = {OLD_CLASS: 3} if on_rootless else {"VCPU": 3, "DISK_GB": 7}
        connection.execute(insert(t.allocations), _held(uuid_of(consumer), host, classes, amounts, place))


def _time(number: int) -> datetime:
    """Return a different time for each number, with the fraction of a second that some engines store."""
    return LONG_AGO + timedelta(hours=number, milliseconds=37 * number)
