# SPDX-License-Identifier: Apache-2.0

"""Create a cloud through the API of a running service, in the forms that the reference still accepts.

Compute hosts are trees of three levels (host, NUMA nodes, network cards); a disk pool and an address pool are shared by
aggregates; one inventory is smaller than its usage; claims use several microversions.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from tests.differential.requests import SERVICE, Request, Version, write
from tests.takeover.installation import RunningService

NEWEST = Version.of("placement 1.39")
HOSTS = 4
PROJECTS = ("project-a", "project-b")
TYPES = ("INSTANCE", "MIGRATION")

NUMA_TRAITS = ["HW_NUMA_ROOT", "HW_CPU_X86_AVX2", "CUSTOM_FAST"]
RATIOS = (1.0, 16.7, 0.3333333333, 1.23456789012, 0.1, 9.99)

NAMES = ("café", "cafe", "Cafe", "CAFE ", "straße", "strasse", "a name with  two spaces", "日本語", "naïve😀")
"""Some engines compare some of these names as equal, and reject the second."""


def uuid_of(*words: object) -> str:
    """Return a uuid that depends only on the words."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, " ".join(map(str, words))))


def at(minor: int) -> Version:
    return Version.of(f"placement 1.{minor}")


def put(path: str, body: Any = None, version: Version = NEWEST) -> Request:
    return write("put", "PUT", path, version, body)


def post(path: str, body: Any, version: Version = NEWEST) -> Request:
    return write("post", "POST", path, version, body)


def delete(path: str, version: Version = NEWEST) -> Request:
    return write("delete", "DELETE", path, version)


def as_service(request: Request) -> Request:
    """Send the request with a service token, which reshapes need."""
    others = tuple(header for header in request.headers if header[0] != "x-auth-token")
    return Request(
        request.kind, request.method, request.path, request.query, (*SERVICE, *others), request.body
    )


def provider(name: str, parent: str | None = None) -> Request:
    body = {"uuid": uuid_of(name), "name": name}
    return post("/resource_providers", body | ({"parent_provider_uuid": uuid_of(parent)} if parent else {}))


def inventories(name: str, generation: int, **totals: Any) -> Request:
    """Set inventories: by class, a total or all fields of the inventory."""
    given = {
        resource_class: figures if isinstance(figures, dict) else {"total": figures}
        for resource_class, figures in totals.items()
    }
    body = {"resource_provider_generation": generation, "inventories": given}
    return put(f"/resource_providers/{uuid_of(name)}/inventories", body)


def traits(name: str, generation: int, *given: str) -> Request:
    body = {"resource_provider_generation": generation, "traits": list(given)}
    return put(f"/resource_providers/{uuid_of(name)}/traits", body)


def aggregates(name: str, generation: int, *given: str) -> Request:
    body = {"resource_provider_generation": generation, "aggregates": list(given)}
    return put(f"/resource_providers/{uuid_of(name)}/aggregates", body)


def claim(
    consumer: str, held: dict[str, dict[str, int]], generation: int | None = None, **more: Any
) -> Request:
    """Set the allocations of a consumer: by provider name, amounts by class."""
    body = {
        "allocations": {uuid_of(name): {"resources": amounts} for name, amounts in held.items()},
        "project_id": PROJECTS[0],
        "user_id": "user-1",
        "consumer_generation": generation,
        "consumer_type": TYPES[0],
    }
    return put(f"/allocations/{uuid_of(consumer)}", body | more)


def make(service: RunningService) -> list[str]:
    """Create the cloud; return the names that the database rejected as equal to an existing one."""
    for request in (*_names(), *_shared(), *_hosts(), *_claims(), *_late_changes()):
        response = service.send(request)
        assert response.status < 300, f"{request}\n{response}"
    return [name for name in NAMES if service.send(provider(name)).status == 409]


def _names() -> Iterator[Request]:
    for name in ("CUSTOM_FAST", "CUSTOM_RACK_1", "CUSTOM_UNUSED"):
        yield put(f"/traits/{name}")
    for name in ("CUSTOM_LICENCE", "CUSTOM_OLD", "CUSTOM_UNUSED"):
        yield put(f"/resource_classes/{name}")


def _shared() -> Iterator[Request]:
    """Sharing providers: their inventory is available to every tree in a common aggregate."""
    pools: dict[str, dict[str, Any]] = {
        "disk pool": {"DISK_GB": {"total": 100_000, "reserved": 100, "max_unit": 2000, "step_size": 5}},
        "address pool": {"IPV4_ADDRESS": 254},
    }
    for name, totals in pools.items():
        yield provider(name)
        yield inventories(name, 0, **totals)
        yield traits(name, 1, "MISC_SHARES_VIA_AGGREGATE")
        # An aggregate without hyphens is stored as it is sent.
        yield aggregates(name, 2, uuid_of("rack", 0), uuid_of("storage", name).replace("-", ""))


def _hosts() -> Iterator[Request]:
    for number in range(HOSTS):
        host = f"host {number}"
        yield provider(host)
        yield inventories(host, 0, CUSTOM_LICENCE={"total": 10, "allocation_ratio": RATIOS[number]})
        yield aggregates(host, 1, uuid_of("rack", number % 2))
        for node in range(2):
            numa = f"{host} numa {node}"
            yield provider(numa, host)
            cpus = {"total": 32, "reserved": 2, "max_unit": 16, "allocation_ratio": RATIOS[number + node]}
            yield inventories(numa, 0, VCPU=cpus, MEMORY_MB={"total": 65536, "step_size": 512})
            yield traits(numa, 1, *NUMA_TRAITS[: 1 + (number + node) % 3])
            card = f"{numa} card"
            yield provider(card, numa)
            yield inventories(card, 0, SRIOV_NET_VF=8, NET_BW_EGR_KILOBIT_PER_SEC={"total": 10_000_000})
    yield traits("host 0 numa 0 card", 1, "HW_NIC_SRIOV", "CUSTOM_RACK_1")


def _claims() -> Iterator[Request]:
    """Claims at several microversions: with types, generations, owners, and in the old list form."""
    for number in range(2 * HOSTS):
        numa = f"host {number % HOSTS} numa {number // HOSTS}"
        held = {
            numa: {"VCPU": 1 + number % 2, "MEMORY_MB": 2048},
            f"{numa} card": {"SRIOV_NET_VF": 2},
            "disk pool": {"DISK_GB": 20},
        }
        owner: dict[str, Any] = {"project_id": PROJECTS[number % 2], "user_id": f"user-{number % 3}"}
        yield claim(f"server {number}", held, consumer_type=TYPES[number % 2], **owner)
    one = {uuid_of("host 0 numa 0"): {"resources": {"VCPU": 1}}}
    body: dict[str, Any] = {"allocations": one, "project_id": PROJECTS[0], "user_id": "user-1"}
    yield put(f"/allocations/{uuid_of('of 1.28')}", body | {"consumer_generation": None}, at(28))
    yield put(f"/allocations/{uuid_of('of 1.12')}", body, at(12))
    listed = [
        {"resource_provider": {"uuid": uuid_of("host 0 numa 1")}, "resources": {"VCPU": 1, "MEMORY_MB": 512}}
    ]
    body["allocations"] = listed
    yield put(f"/allocations/{uuid_of('of 1.8')}", body, at(8))
    yield put(f"/allocations/{uuid_of('of 1.0')}", {"allocations": listed}, at(0))


def _late_changes() -> Iterator[Request]:
    """Shrink an inventory below its usage, and rename a provider."""
    node = uuid_of("host 1 numa 0")
    figures = {"total": 1, "allocation_ratio": 1.0, "resource_provider_generation": 3}
    yield put(f"/resource_providers/{node}/inventories/VCPU", figures)
    yield put(f"/resource_providers/{uuid_of('host 3')}", {"name": "host 3, renamed"})
