# SPDX-License-Identifier: Apache-2.0

"""Writes of every kind, through whichever service has the database.

Each round is known by a word that is in all names it makes, so that both services can do the same things one
after the other: what the one left must not be in the way of the other.
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
from tests.takeover.oldrows import INCOMPLETE, NO_GENERATION
from tests.takeover.services import Running


def providers(word: str) -> list[str]:
    """The names of the providers that a round makes, or would have made if it had not deleted them."""
    return [f"{word} {name}" for name in ("host", "numa", "card", "spare", "gone", "moved", "ünïcode ☃")]


def consumers(word: str) -> list[str]:
    return [f"{word} {name}" for name in ("server", "mover", "cleared", "deleted", "shaped", "second")]


class Round:
    """One service, asked to write; every write must be accepted."""

    def __init__(self, service: Running, word: str) -> None:
        self._service = service
        self._word = word

    def write_everything(self) -> None:
        self._write_names()
        self._write_providers()
        self._write_inventories()
        self._write_marks()
        self._claim()
        self._reshape()
        self._change_what_was_there()

    def _named(self, name: str) -> str:
        return f"{self._word} {name}"

    def _custom(self, name: str) -> str:
        return f"CUSTOM_{self._word.upper()}_{name}"

    def _do(self, *requests: Request) -> None:
        for request in requests:
            answer = self._service.send(request)
            assert answer.status < 300, f"{request}\n{answer}"

    def _get(self, path: str) -> Any:
        answer = self._service.send(read("get", path, NEWEST))
        assert answer.status == 200, answer
        return answer.json()

    def _generation(self, name: str) -> int:
        generation: int = self._get(f"/resource_providers/{uuid_of(name)}")["generation"]
        return generation

    def _held(self, consumer: str) -> dict[str, Any]:
        held: dict[str, Any] = self._get(f"/allocations/{uuid_of(consumer)}")
        return held

    def _write_names(self) -> None:
        for name in ("NEW", "GONE"):
            self._do(put(f"/traits/{self._custom(name)}"), put(f"/resource_classes/{self._custom(name)}"))
        self._do(post("/resource_classes", {"name": self._custom("OLDER")}, at(2)))
        renamed = put(f"/resource_classes/{self._custom('OLDER')}", {"name": self._custom("RENAMED")}, at(6))
        self._do(
            renamed,
            delete(f"/traits/{self._custom('GONE')}"),
            delete(f"/resource_classes/{self._custom('GONE')}"),
        )

    def _write_providers(self) -> None:
        host, numa, card, spare, gone, moved, unicode = providers(self._word)
        self._do(provider(host), provider(numa, host), provider(card, numa), provider(spare))
        self._do(provider(gone), provider(moved), provider(unicode))
        self._do(delete(f"/resource_providers/{uuid_of(gone)}"))
        below = {"name": f"{moved}, and renamed", "parent_provider_uuid": uuid_of(host)}
        self._do(put(f"/resource_providers/{uuid_of(moved)}", below))
        # And a whole tree goes under another, and comes out again.
        tree = f"/resource_providers/{uuid_of(host)}"
        self._do(put(tree, {"name": host, "parent_provider_uuid": uuid_of(spare)}))
        self._do(put(tree, {"name": host, "parent_provider_uuid": None}))

    def _write_inventories(self) -> None:
        host, numa, card, spare, *_ = providers(self._word)
        ratio = {"total": 100, "reserved": 3, "max_unit": 50, "allocation_ratio": 0.3333333333}
        self._do(inventories(numa, self._generation(numa), VCPU=ratio, MEMORY_MB=4096, PGPU=4))
        self._do(inventories(card, self._generation(card), **{self._custom("NEW"): 8, "SRIOV_NET_VF": 8}))
        path = f"/resource_providers/{uuid_of(host)}/inventories"
        self._do(post(path, {"resource_class": "DISK_GB", "total": 500}, at(4)))
        self._do(
            put(f"{path}/DISK_GB", {"total": 600, "resource_provider_generation": self._generation(host)})
        )
        self._do(delete(f"/resource_providers/{uuid_of(numa)}/inventories/PGPU"))
        self._do(inventories(spare, self._generation(spare), VCPU=8, DISK_GB=10))
        self._do(delete(f"/resource_providers/{uuid_of(spare)}/inventories"))

    def _write_marks(self) -> None:
        host, numa, card, spare, *_ = providers(self._word)
        self._do(traits(numa, self._generation(numa), "HW_NUMA_ROOT", self._custom("NEW")))
        self._do(traits(spare, self._generation(spare), "CUSTOM_FAST"))
        self._do(delete(f"/resource_providers/{uuid_of(spare)}/traits"))
        self._do(aggregates(host, self._generation(host), uuid_of("rack", 0), uuid_of(self._word, "rack")))
        self._do(aggregates(card, self._generation(card), uuid_of(self._word, "rack")))
        self._do(aggregates(card, self._generation(card)))

    def _claim(self) -> None:
        host, numa, card, *_ = providers(self._word)
        server, mover, cleared, deleted, _, second = consumers(self._word)
        held = {numa: {"VCPU": 2, "MEMORY_MB": 512}, card: {"SRIOV_NET_VF": 1}, host: {"DISK_GB": 10}}
        for consumer in (server, mover, cleared, deleted):
            self._do(claim(consumer, held))
        # As a client takes over what GET gave, changes it and sends it back.
        other_owner = {"project_id": f"project-{self._word}", "user_id": f"user-{self._word}"}
        self._do(claim(server, {numa: {"VCPU": 4}}, 1, consumer_type=self._word.upper(), **other_owner))
        # A move in one write: what the one leaves, the other takes.
        moved = {
            uuid_of(mover): self._held(mover) | {"allocations": {}},
            uuid_of(second): self._held(mover) | {"consumer_generation": None, "consumer_type": "MIGRATION"},
        }
        self._do(post("/allocations", moved))
        self._do(claim(cleared, {}, 1))
        self._do(delete(f"/allocations/{uuid_of(deleted)}"))

    def _reshape(self) -> None:
        """All that a host had goes to its NUMA node, and what was held of it too."""
        host, numa, *_ = providers(self._word)
        shaped = consumers(self._word)[4]
        self._do(claim(shaped, {host: {"DISK_GB": 20}}))
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
            of = self._get(f"/allocations/{consumer}")
            there = of["allocations"].pop(uuid_of(host))
            assert there["resources"] == held["resources"]
            of["allocations"].setdefault(uuid_of(numa), {"resources": {}})["resources"] |= there["resources"]
            allocations[consumer] = of
        self._do(as_service(post("/reshaper", {"inventories": had, "allocations": allocations})))

    def _change_what_was_there(self) -> None:
        """Rows of all ages: instances move, old hosts take new claims, an old consumer holds something else."""
        for number in range(3):
            instance = f"instance flat host 0 {number}"
            held = {f"flat host {number + 1}": {"VCPU": 2, "MEMORY_MB": 4096, "DISK_GB": 40}}
            before = self._held(instance)
            owner = {"project_id": before["project_id"], "user_id": before["user_id"]}
            self._do(claim(instance, held, before["consumer_generation"], **owner))
        self._do(claim(self._named("on an old host"), {NO_GENERATION: {"VCPU": 1}}))
        incomplete = self._held(INCOMPLETE[1])
        held = {"flat host 0": {"VCPU": 1, "DISK_GB": 1}}
        self._do(claim(INCOMPLETE[1], held, incomplete["consumer_generation"]))
        self._do(delete(f"/allocations/{uuid_of('instance', 'flat host 1', len(self._word))}"))
        self._do(put(f"/resource_providers/{uuid_of('flat host 3')}", {"name": f"{self._word} renamed this"}))
