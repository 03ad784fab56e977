# SPDX-License-Identifier: Apache-2.0

"""Insert the rows of a small cloud as old releases wrote them, into a database of any revision.

The first releases stored custom resource classes only, from id 10000 on, and no record for a standard class.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, insert, inspect, select

from plimsoll.storage import tables as t
from tests.support.databases import open_connection
from tests.takeover.cloud import uuid_of
from tests.takeover.revisions.reference import ApiRequest

VCPU, MEMORY_MB, DISK_GB, CUSTOM_FPGA = 0, 1, 2, 10_000
LONG_AGO = datetime(2019, 4, 10, 12, 30, 15)
PROVIDERS = ("host 0", "host 0 numa 0", "host 0 numa 1", "host 1", "disk pool", "café")
PARENTS = {"host 0 numa 0": "host 0", "host 0 numa 1": "host 0"}
CONSUMERS = tuple(f"instance {number}" for number in range(4))
ROOTLESS = "host 1"
INCOMPLETE = "instance of an old release"


def fill(url: str) -> None:
    """Insert rows that are complete."""
    with open_connection(url) as connection:
        providers = _providers(connection)
        _inventories(connection, providers)
        _traits_and_aggregates(connection, providers)
        _consumers(connection, providers)


def make_incomplete(url: str) -> None:
    """Remove the root of a provider, and insert allocations without a consumer."""
    with open_connection(url) as connection:
        p = t.resource_providers
        connection.execute(p.update().where(p.c.name == ROOTLESS).values(root_provider_id=None))
        host = _ids(connection, p, "name")[ROOTLESS]
        _insert(connection, t.allocations, _allocation(host, uuid_of(INCOMPLETE), VCPU, 1, 9))


def requests() -> list[ApiRequest]:
    """Return GET requests that read every table."""
    targets = ["/resource_providers", "/resource_classes", "/traits?associated=true"]
    for name in PROVIDERS[:2]:
        parts = ("", "/inventories", "/usages", "/allocations", "/traits", "/aggregates")
        targets += [f"/resource_providers/{uuid_of(name)}{part}" for part in parts]
    targets += [f"/allocations/{uuid_of(name)}" for name in (*CONSUMERS, INCOMPLETE)]
    targets += [
        "/allocation_candidates?resources=VCPU:1,MEMORY_MB:64",
        "/allocation_candidates?resources=VCPU:1,DISK_GB:10&required=HW_CPU_X86_AVX2",
    ]
    old = [ApiRequest(target, "1.12") for target in targets if target.startswith("/resource_providers")]
    # Not from 1.38 on: there the reference fails on PostgreSQL, see docs/differences.md.
    usages = ApiRequest("/usages?project_id=project-0", "1.37")
    return [*map(ApiRequest, targets), *old, usages]


def _providers(connection: Connection) -> dict[str, int]:
    p = t.resource_providers
    _insert(
        connection,
        p,
        *({"uuid": uuid_of(name), "name": name, "generation": place} for place, name in enumerate(PROVIDERS)),
    )
    ids = _ids(connection, p, "name")
    for name in PROVIDERS:
        parent = PARENTS.get(name)
        values = {"parent_provider_id": parent and ids[parent], "root_provider_id": ids[parent or name]}
        connection.execute(p.update().where(p.c.id == ids[name]).values(**values))
    return ids


def _inventories(connection: Connection, providers: dict[str, int]) -> None:
    _insert(connection, t.resource_classes, {"id": CUSTOM_FPGA, "name": "CUSTOM_FPGA"})
    classes = {
        "host 0 numa 0": (VCPU, MEMORY_MB),
        "host 0 numa 1": (VCPU, MEMORY_MB, CUSTOM_FPGA),
        "host 1": (VCPU, MEMORY_MB, DISK_GB),
        "disk pool": (DISK_GB,),
    }
    figures = {"total": 4096, "reserved": 7, "min_unit": 1, "max_unit": 512, "step_size": 1}
    _insert(
        connection,
        t.inventories,
        *(
            {
                "resource_provider_id": providers[name],
                "resource_class_id": each,
                "allocation_ratio": 1.5 + each % 3,
                **figures,
            }
            for name, listed in classes.items()
            for each in listed
        ),
    )


def _traits_and_aggregates(connection: Connection, providers: dict[str, int]) -> None:
    names = ("HW_CPU_X86_AVX2", "CUSTOM_FAST", "MISC_SHARES_VIA_AGGREGATE")
    _insert(connection, t.traits, *({"name": name} for name in names))
    traits = _ids(connection, t.traits, "name")
    held = {"host 0 numa 0": names[0], "host 1": names[0], "host 0": names[1], "disk pool": names[2]}
    _insert(
        connection,
        t.resource_provider_traits,
        *({"resource_provider_id": providers[host], "trait_id": traits[name]} for host, name in held.items()),
    )
    _insert(connection, t.placement_aggregates, {"uuid": uuid_of("rack")})
    rack = _ids(connection, t.placement_aggregates, "uuid")[uuid_of("rack")]
    members = ("host 0", "host 0 numa 0", "disk pool")
    _insert(
        connection,
        t.resource_provider_aggregates,
        *({"resource_provider_id": providers[name], "aggregate_id": rack} for name in members),
    )


def _consumers(connection: Connection, providers: dict[str, int]) -> None:
    _insert(connection, t.projects, *({"external_id": f"project-{number}"} for number in range(2)))
    _insert(connection, t.users, {"external_id": "user-0"})
    projects, users = (_ids(connection, table, "external_id") for table in (t.projects, t.users))
    types: dict[str, int] = {}
    if inspect(connection).has_table(t.consumer_types.name):
        _insert(connection, t.consumer_types, {"name": "INSTANCE"})
        types = _ids(connection, t.consumer_types, "name")
    for place, name in enumerate(CONSUMERS):
        row: dict[str, Any] = {
            "uuid": uuid_of(name),
            "project_id": projects[f"project-{place % 2}"],
            "user_id": users["user-0"],
            "generation": place,
        }
        # Half of the consumers have a type, where the revision has types.
        _insert(
            connection,
            t.consumers,
            row | ({"consumer_type_id": types["INSTANCE"]} if types and place < 2 else {}),
        )
        host = providers["host 0 numa 0" if place < 2 else "host 1"]
        claims = ((host, VCPU, 2), (host, MEMORY_MB, 128), (providers["disk pool"], DISK_GB, 20))
        rows = (_allocation(provider, uuid_of(name), each, used, place) for provider, each, used in claims)
        _insert(connection, t.allocations, *rows)


def _allocation(provider: int, consumer: str, resource_class: int, used: int, age: int) -> dict[str, Any]:
    return {
        "resource_provider_id": provider,
        "consumer_id": consumer,
        "resource_class_id": resource_class,
        "used": used,
        "created_at": LONG_AGO + timedelta(hours=age),
    }


def _insert(connection: Connection, table: Table, *rows: dict[str, Any]) -> None:
    times = {"created_at": LONG_AGO, "updated_at": LONG_AGO + timedelta(days=1)}
    connection.execute(insert(table), [times | row for row in rows])


def _ids(connection: Connection, table: Table, key: str) -> dict[str, int]:
    return {row[0]: row[1] for row in connection.execute(select(table.c[key], table.c.id))}
