# SPDX-License-Identifier: Apache-2.0

"""A scenario of openstacksdk calls: every method of its placement proxy, including refusals.

The output has the names of the methods, and one entry per call: the call and its result or exception.
"""

from __future__ import annotations

import json
import sys
from types import GeneratorType
from typing import Any

import openstack
from openstack.exceptions import HttpException
from openstack.placement.v1._proxy import Proxy
from openstack.resource import Resource

HOST = "11111111-1111-4111-8111-111111111111"
CHILD = "22222222-2222-4222-8222-222222222222"
MISSING = "55555555-5555-4555-8555-555555555555"
RACK = "66666666-6666-4666-8666-666666666666"
SERVER = "88888888-8888-4888-8888-888888888888"
MOVE = "99999999-9999-4999-8999-999999999999"


class Recorder:
    """Calls the proxy and records the results."""

    def __init__(self, proxy: Any) -> None:
        self._proxy = proxy
        self.outcomes: list[tuple[str, Any]] = []

    def __call__(self, method: str, *args: Any, **kwargs: Any) -> Any:
        try:
            came = getattr(self._proxy, method)(*args, **kwargs)
            if isinstance(came, GeneratorType):
                came = list(came)
        except HttpException as refused:
            came = refused
        self.outcomes.append((method, _plain(came)))
        return came


def _plain(came: Any) -> Any:
    if isinstance(came, HttpException):
        (error,) = came.response.json()["errors"]  # the SDK's own message is only the title
        return {"refused": type(came).__name__, **{k: v for k, v in error.items() if k != "request_id"}}
    if isinstance(came, list):
        return [_plain(each) for each in came]
    if isinstance(came, Resource):
        return {name: value for name, value in came.to_dict(computed=False).items() if value is not None}
    return came


def offered() -> list[str]:
    """Return the methods that only the proxy of placement has."""
    return [name for name, value in vars(Proxy).items() if not name.startswith("_") and callable(value)]


def run_scenario(do: Recorder) -> None:
    classes(do)
    providers(do)
    traits(do)
    inventories(do)
    allocations(do)
    clean_up(do)


def classes(do: Recorder) -> None:
    do("resource_classes")
    gold = do("create_resource_class", name="CUSTOM_GOLD")
    do("create_resource_class", name="CUSTOM_GOLD")
    do("create_resource_class", name="GOLD")
    do("get_resource_class", gold)
    do("get_resource_class", "CUSTOM_UNKNOWN")
    do("update_resource_class", gold, name="CUSTOM_SILVER")
    do("delete_resource_class", "CUSTOM_SILVER")
    do("delete_resource_class", "CUSTOM_SILVER")
    do("delete_resource_class", "CUSTOM_SILVER", ignore_missing=False)
    do("delete_resource_class", "VCPU")


def providers(do: Recorder) -> None:
    host = do("create_resource_provider", name="host", id=HOST)
    do("create_resource_provider", name="host")
    do("create_resource_provider", name="child", id=CHILD, parent_provider_id=HOST)
    do("create_resource_provider", name="orphan", id=SERVER, parent_provider_id=MISSING)
    do("get_resource_provider", HOST)
    do("get_resource_provider", MISSING)
    do("find_resource_provider", "child")
    do("find_resource_provider", CHILD)
    do("find_resource_provider", "nobody")
    do("update_resource_provider", CHILD, name="renamed")
    do("update_resource_provider", CHILD, name="host")
    do("wait_for_status", host, "host", attribute="name", interval=0.1, wait=30)
    do("resource_providers")
    do("resource_providers", name="renamed")
    do("resource_providers", in_tree=CHILD)
    do("resource_providers", id=CHILD)
    do("resource_providers", member_of=f"in:{RACK}")
    do("resource_providers", resources="VCPU:1")
    do("resource_providers", resources="UNKNOWN:1")
    host = do("fetch_resource_provider_aggregates", HOST)
    do("set_resource_provider_aggregates", host, RACK)
    do("set_resource_provider_aggregates", host, "not-a-uuid")
    do("get_resource_provider_aggregates", HOST)
    do("fetch_resource_provider_aggregates", MISSING)
    do("resource_providers", member_of=f"in:{RACK}")


def traits(do: Recorder) -> None:
    do("create_trait", "CUSTOM_FAST")
    do("create_trait", "CUSTOM_FAST")
    do("create_trait", "FAST")
    do("create_trait", "CUSTOM_UNUSED")
    do("get_trait", "CUSTOM_FAST")
    do("get_trait", "CUSTOM_UNKNOWN")
    do("traits", name="startswith:CUSTOM_")
    has = do("get_resource_provider_trait", HOST)
    has = do("set_resource_provider_trait", has, traits=["CUSTOM_FAST", "HW_CPU_X86_AVX"])
    do("set_resource_provider_trait", has, traits=["CUSTOM_UNKNOWN"])
    do("get_resource_provider_trait", HOST)
    do("get_resource_provider_trait", MISSING)
    do("traits", associated=True)
    do("resource_providers", required="CUSTOM_FAST")
    do("delete_trait", "CUSTOM_FAST")
    do("delete_trait", "CUSTOM_UNUSED")
    do("delete_trait", "CUSTOM_UNUSED", ignore_missing=False)


def inventories(do: Recorder) -> None:
    cpus = do("create_resource_provider_inventory", HOST, "VCPU", total=8, allocation_ratio=2.0)
    do("create_resource_provider_inventory", HOST, "UNKNOWN", total=8)
    do("create_resource_provider_inventory", HOST, "MEMORY_MB", total=4096, reserved=96)
    cpus = do("get_resource_provider_inventory", "VCPU", HOST)
    do("get_resource_provider_inventory", "DISK_GB", HOST)
    generation = cpus.resource_provider_generation
    do("update_resource_provider_inventory", cpus, HOST, resource_provider_generation=generation, total=16)
    do("update_resource_provider_inventory", "VCPU", HOST, resource_provider_generation=0, total=16)
    do(
        "update_resource_provider_inventory",
        "DISK_GB",
        HOST,
        resource_provider_generation=generation + 1,
        total=1,
    )
    do("resource_provider_inventories", HOST)
    do("resource_provider_inventories", MISSING)
    do("delete_resource_provider_inventory", "MEMORY_MB", HOST)
    do("delete_resource_provider_inventory", "MEMORY_MB", HOST, ignore_missing=False)
    now = do("get_resource_provider", CHILD).generation
    do("set_resource_provider_inventories", CHILD, {"DISK_GB": {"total": 100}, "VCPU": {"total": 2}}, now)
    do("set_resource_provider_inventories", CHILD, {}, now)
    do("resource_provider_inventories", CHILD)


def allocations(do: Recorder) -> None:
    do("allocation_candidates", resources="VCPU:1")
    do("allocation_candidates", resources="VCPU:1,DISK_GB:10", limit=9)
    do("allocation_candidates", resources1="VCPU:1", resources2="VCPU:1", group_policy="isolate")
    do("allocation_candidates", resources="VCPU:1", required="CUSTOM_FAST", member_of=RACK)
    do("allocation_candidates", resources="UNKNOWN:1")
    owner = {"project_id": "engines", "user_id": "ada"}
    claim = {"allocations": {HOST: {"resources": {"VCPU": 2}}}, "consumer_generation": None, **owner}
    do("get_allocation", SERVER)
    do("update_allocation", SERVER, consumer_type="INSTANCE", **claim)
    do("update_allocation", SERVER, consumer_type="INSTANCE", **claim)
    held = do("get_allocation", SERVER)
    do("update_allocation", SERVER, consumer_type="INSTANCE", **{**claim, "consumer_generation": 1})
    moving = {
        SERVER: {"allocations": {}, "consumer_generation": 2, "consumer_type": "INSTANCE", **owner},
        MOVE: {**held.to_dict(computed=False, original_names=True), "consumer_generation": None},
    }
    moving[MOVE] = {name: moving[MOVE][name] for name in moving[SERVER]} | {"consumer_type": "MIGRATION"}
    do("create_allocations", moving)
    do("create_allocations", moving)
    do("get_allocation", MOVE)
    do(
        "update_allocation",
        SERVER,
        **{**claim, "allocations": {HOST: {"resources": {"VCPU": 99}}}},
        consumer_type="A",
    )
    do(
        "update_allocation",
        SERVER,
        **{**claim, "allocations": {MISSING: {"resources": {"VCPU": 1}}}},
        consumer_type="A",
    )
    do("resource_provider_allocations", HOST)
    do("fetch_resource_provider_usages", HOST)
    do("fetch_resource_provider_usages", MISSING)
    do("usages", "engines")
    do("usages", "engines", user_id="ada", consumer_type="MIGRATION")
    do("usages", "nobody")
    do("delete_resource_provider_inventory", "VCPU", HOST)
    do("delete_resource_provider_inventories", HOST)
    do("delete_resource_provider", HOST)


def clean_up(do: Recorder) -> None:
    do("delete_allocation", MOVE)
    do("delete_allocation", MOVE)
    do("delete_allocation", MOVE, ignore_missing=False)
    do("delete_resource_provider_inventories", HOST)
    do("delete_resource_provider_trait", HOST)
    do("delete_resource_provider_trait", MISSING, ignore_missing=False)
    child = do("get_resource_provider", CHILD)
    do("delete_resource_provider", CHILD)
    do("wait_for_delete", child, interval=0.1, wait=30)
    do("delete_resource_provider", CHILD, ignore_missing=False)
    do("delete_resource_provider", HOST)
    do("resource_providers")


def main() -> None:
    do = Recorder(openstack.connect().placement)
    run_scenario(do)
    json.dump({"offered": offered(), "outcomes": do.outcomes}, sys.stdout)


if __name__ == "__main__":
    main()
