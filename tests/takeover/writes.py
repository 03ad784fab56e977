# SPDX-License-Identifier: Apache-2.0

"""Writes of every kind through a running service.

The names of each round start with its prefix: both services can execute the same writes, one after the other, without
conflicts.
"""

from __future__ import annotations

from typing import Any

from tests.differential.requests import Request, read
from tests.takeover.cloud import (
    NEWEST,
    aggregates,
    as_service,
    at,
    claim,
    delete,
    inventories,
    post,
    provider,
    put,
    traits,
    uuid_of,
)
from tests.takeover.installation import RunningService
from tests.takeover.legacy_rows import INCOMPLETE, NO_GENERATION


def providers(prefix: str) -> list[str]:
    """Return the names of the providers that a round creates, including those that it deletes."""
    return [f"{prefix} {name}" for name in ("host", "numa", "card", "spare", "gone", "moved", "ünïcode ☃")]


def consumers(prefix: str) -> list[str]:
    return [f"{prefix} {name}" for name in ("server", "mover", "cleared", "deleted", "shaped", "second")]


class WriteRound:
    """Sends writes to one service; every write must succeed."""

    def __init__(self, service: RunningService, prefix: str) -> None:
        self._service = service
        self._prefix = prefix

    def write_everything(self) -> None:
        self._write_names()
        self._write_providers()
        self._write_inventories()
        self._write_traits_and_aggregates()
        self._claim()
        self._reshape()
        self._change_legacy_rows()

    def _named(self, name: str) -> str:
        return f"{self._prefix} {name}"

    def _custom(self, name: str) -> str:
        return f"CUSTOM_{self._prefix.upper()}_{name}"

    def _send_all(self, *requests: Request) -> None:
        for request in requests:
            response = self._service.send(request)
            assert response.status < 300, f"{request}\n{response}"

    def _get(self, path: str) -> Any:
        response = self._service.send(read("get", path, NEWEST))
        assert response.status == 200, response
        return response.json()

    def _generation(self, name: str) -> int:
        generation: int = self._get(f"/resource_providers/{uuid_of(name)}")["generation"]
        return generation

    def _held(self, consumer: str) -> dict[str, Any]:
        held: dict[str, Any] = self._get(f"/allocations/{uuid_of(consumer)}")
        return held

    def _write_names(self) -> None:
        for name in ("NEW", "GONE"):
            self._send_all(
                put(f"/traits/{self._custom(name)}"), put(f"/resource_classes/{self._custom(name)}")
            )
        self._send_all(post("/resource_classes", {"name": self._custom("OLDER")}, at(2)))
        renamed = put(f"/resource_classes/{self._custom('OLDER')}", {"name": self._custom("RENAMED")}, at(6))
        self._send_all(
            renamed,
            delete(f"/traits/{self._custom('GONE')}"),
            delete(f"/resource_classes/{self._custom('GONE')}"),
        )

    def _write_providers(self) -> None:
        host, numa, card, spare, gone, moved, unicode = providers(self._prefix)
        self._send_all(provider(host), provider(numa, host), provider(card, numa), provider(spare))
        self._send_all(provider(gone), provider(moved), provider(unicode))
        self._send_all(delete(f"/resource_providers/{uuid_of(gone)}"))
        below = {"name": f"{moved}, and renamed", "parent_provider_uuid": uuid_of(host)}
        self._send_all(put(f"/resource_providers/{uuid_of(moved)}", below))
        # Move a whole tree below another one, and back.
        tree = f"/resource_providers/{uuid_of(host)}"
        self._send_all(put(tree, {"name": host, "parent_provider_uuid": uuid_of(spare)}))
        self._send_all(put(tree, {"name": host, "parent_provider_uuid": None}))

    def _write_inventories(self) -> None:
        host, numa, card, spare, *_ = providers(self._prefix)
        ratio = {"total": 100, "reserved": 3, "max_unit": 50, "allocation_ratio": 0.3333333333}
        self._send_all(inventories(numa, self._generation(numa), VCPU=ratio, MEMORY_MB=4096, PGPU=4))
        self._send_all(
            inventories(card, self._generation(card), **{self._custom("NEW"): 8, "SRIOV_NET_VF": 8})
        )
        path = f"/resource_providers/{uuid_of(host)}/inventories"
        self._send_all(post(path, {"resource_class": "DISK_GB", "total": 500}, at(4)))
        self._send_all(
            put(f"{path}/DISK_GB", {"total": 600, "resource_provider_generation": self._generation(host)})
        )
        self._send_all(delete(f"/resource_providers/{uuid_of(numa)}/inventories/PGPU"))
        self._send_all(inventories(spare, self._generation(spare), VCPU=8, DISK_GB=10))
        self._send_all(delete(f"/resource_providers/{uuid_of(spare)}/inventories"))

    def _write_traits_and_aggregates(self) -> None:
        host, numa, card, spare, *_ = providers(self._prefix)
        self._send_all(traits(numa, self._generation(numa), "HW_NUMA_ROOT", self._custom("NEW")))
        self._send_all(traits(spare, self._generation(spare), "CUSTOM_FAST"))
        self._send_all(delete(f"/resource_providers/{uuid_of(spare)}/traits"))
        self._send_all(
            aggregates(host, self._generation(host), uuid_of("rack", 0), uuid_of(self._prefix, "rack"))
        )
        self._send_all(aggregates(card, self._generation(card), uuid_of(self._prefix, "rack")))
        self._send_all(aggregates(card, self._generation(card)))

    def _claim(self) -> None:
        host, numa, card, *_ = providers(self._prefix)
        server, mover, cleared, deleted, _, second = consumers(self._prefix)
        held = {numa: {"VCPU": 2, "MEMORY_MB": 512}, card: {"SRIOV_NET_VF": 1}, host: {"DISK_GB": 10}}
        for consumer in (server, mover, cleared, deleted):
            self._send_all(claim(consumer, held))
        # A client changes the result of a GET and sends it back.
        other_owner = {"project_id": f"project-{self._prefix}", "user_id": f"user-{self._prefix}"}
        self._send_all(
            claim(server, {numa: {"VCPU": 4}}, 1, consumer_type=self._prefix.upper(), **other_owner)
        )
        # A move in one write: allocations go from one consumer to the other.
        moved = {
            uuid_of(mover): self._held(mover) | {"allocations": {}},
            uuid_of(second): self._held(mover) | {"consumer_generation": None, "consumer_type": "MIGRATION"},
        }
        self._send_all(post("/allocations", moved))
        self._send_all(claim(cleared, {}, 1))
        self._send_all(delete(f"/allocations/{uuid_of(deleted)}"))

    def _reshape(self) -> None:
        """Move the inventory and the allocations of a host to its NUMA node."""
        host, numa, *_ = providers(self._prefix)
        shaped = consumers(self._prefix)[4]
        self._send_all(claim(shaped, {host: {"DISK_GB": 20}}))
        had = {
            uuid_of(name): self._get(f"/resource_providers/{uuid_of(name)}/inventories")
            for name in (host, numa)
        }
        had[uuid_of(numa)]["inventories"] |= had[uuid_of(host)]["inventories"]
        had[uuid_of(host)]["inventories"] = {}
        allocations = {}
        for consumer, held in self._get(f"/resource_providers/{uuid_of(host)}/allocations")[
            "allocations"
        ].items():
            allocation = self._get(f"/allocations/{consumer}")
            on_host = allocation["allocations"].pop(uuid_of(host))
            assert on_host["resources"] == held["resources"]
            allocation["allocations"].setdefault(uuid_of(numa), {"resources": {}})["resources"] |= on_host[
                "resources"
            ]
            allocations[consumer] = allocation
        self._send_all(as_service(post("/reshaper", {"inventories": had, "allocations": allocations})))

    def _change_legacy_rows(self) -> None:
        """Move old instances, claim from an old host, and change the allocations of an old consumer."""
        for number in range(3):
            instance = f"instance flat host 0 {number}"
            held = {f"flat host {number + 1}": {"VCPU": 2, "MEMORY_MB": 4096, "DISK_GB": 40}}
            before = self._held(instance)
            owner = {"project_id": before["project_id"], "user_id": before["user_id"]}
            self._send_all(claim(instance, held, before["consumer_generation"], **owner))
        self._send_all(claim(self._named("on an old host"), {NO_GENERATION: {"VCPU": 1}}))
        incomplete = self._held(INCOMPLETE[1])
        held = {"flat host 0": {"VCPU": 1, "DISK_GB": 1}}
        self._send_all(claim(INCOMPLETE[1], held, incomplete["consumer_generation"]))
        self._send_all(delete(f"/allocations/{uuid_of('instance', 'flat host 1', len(self._prefix))}"))
        self._send_all(
            put(f"/resource_providers/{uuid_of('flat host 3')}", {"name": f"{self._prefix} renamed this"})
        )
