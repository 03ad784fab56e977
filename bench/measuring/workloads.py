# SPDX-License-Identifier: Apache-2.0

"""All workloads that are measured on both services, with their goals.

A goal is the minimum ratio of Plimsoll's speed to the reference's in the same run. It is a floor: above it, simpler code
is preferred to faster code. A workload without a goal is only shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from bench.client.driving import Clients
from bench.client.units import FLAVOUR, claims, read_all, reads, reports, searches, selections
from bench.datasets import shapes
from bench.datasets.rows import Rows
from bench.datasets.shapes import DEVICE, PROJECT

Variant = Literal["default", "tuned"]
Kind = Literal["time", "rate"]

BUILDERS: Mapping[str, Callable[[], Rows]] = {
    "flat": shapes.flat,
    "nested": shapes.nested,
    "devices": shapes.devices,
    "shared": shapes.shared,
    "busy": shapes.busy,
    "big": lambda: shapes.flat(10_000),
    "small": lambda: shapes.flat(100),
}

DESCRIPTIONS = {
    "flat": "1,000 hosts with VCPU, MEMORY_MB, DISK_GB, ten traits, two aggregates",
    "nested": "300 trees of seven: host with disk, two NUMA nodes, four devices",
    "devices": "20 hosts with eight one-unit PCI devices each",
    "shared": "1,000 hosts on 10 shared storage pools",
    "busy": "1,000 hosts at 95 % use, 9,950 consumers; 4 free processors on one host in 20",
    "big": "the flat world with 10,000 hosts",
    "small": "the flat world with 100 hosts",
}

NESTED = (
    "/allocation_candidates?resources=DISK_GB:10&required=COMPUTE_VOLUME_MULTI_ATTACH"
    "&resources_COMPUTE=VCPU:1,MEMORY_MB:256&required_COMPUTE=CUSTOM_FOO&resources_FPGA=FPGA:1"
    "&group_policy=none&same_subtree=_COMPUTE,_FPGA"
)
FLAT = f"/allocation_candidates?resources={FLAVOUR}"

DISK = "DISK_GB:10"
"""The part of a search that varies where no request is to be sent twice."""

ON_SQLITE = "sqlite"


@dataclass(frozen=True, slots=True)
class Workload:
    key: str
    title: str
    dataset: str
    clients: Callable[[Rows], Clients]
    count: int = 1
    """Number of concurrent clients."""
    kind: Kind = "time"
    goals: Mapping[Variant, float] | None = None
    """Goals by the settings (variant) of the reference."""
    variants: tuple[Variant, ...] = ("default",)
    sqlite_goal: float | None = None
    search: str | None = None
    """The target of a search for candidates, which is also compared with the same bytes sent ready-made."""
    quick: bool = False
    reference_clients: Callable[[Rows], Clients] | None = None
    """The clients of the reference where it needs other requests for the same data."""

    def quick_version(self) -> Workload:
        """Return the workload for the quick form: only the faster settings of the reference."""
        return replace(self, variants=self.variants[-1:])

    def goal(self, variant: Variant, database: str) -> float | None:
        if database == ON_SQLITE and self.sqlite_goal is not None:
            return self.sqlite_goal
        return (self.goals or {}).get(variant)


def _get(target: str) -> Callable[[Rows], Clients]:
    return lambda _: reads([target])


def provider_reads(suffix: str, limit: int | None = 200) -> Callable[[Rows], Clients]:
    return lambda rows: reads([f"/resource_providers/{uuid}{suffix}" for uuid in rows.providers[:limit]])


def consumer_reads(rows: Rows) -> Clients:
    return reads([f"/allocations/{uuid}" for uuid in rows.consumers[:200]])


PARTS = ("", "/inventories", "/usages", "/traits", "/aggregates")
"""The resources of a provider, by their paths below it."""


def mixed_reads(rows: Rows) -> Clients:
    return reads([f"/resource_providers/{uuid}{part}" for uuid in rows.providers[:200] for part in PARTS])


def reads_of_all(rows: Rows) -> Clients:
    """As an exporter: read the list of providers, then all resources of each."""
    paths = [f"/resource_providers/{uuid}{part}" for uuid in rows.providers for part in PARTS[1:]]
    return read_all(["/resource_providers", *paths])


def _search(
    key: str,
    title: str,
    target: str,
    goals: Mapping[Variant, float] | None = None,
    variants: tuple[Variant, ...] = ("default",),
    quick: bool = False,
) -> Workload:
    dataset = key.partition("-")[0]
    return Workload(
        key, title, dataset, _get(target), goals=goals, variants=variants, search=target, quick=quick
    )


def _varying_search(key: str, title: str, target: str) -> Workload:
    """A search with a different amount in each request, so that no response is cached."""
    dataset = key.partition("-")[0]
    clients = searches(with_varying_amount(target))
    return Workload(f"{key}-new", f"{title}, never the same", dataset, lambda _: clients)


def with_varying_amount(target: str) -> str:
    """Return the target with braces for the amount, for `searches`."""
    return target.replace(DISK, "DISK_GB:{}")


def _device_groups(count: int) -> str:
    groups = "&".join(f"resources_{number}={DEVICE}:1" for number in range(1, count + 1))
    return f"/allocation_candidates?{groups}&group_policy=none&limit=1000"


def _devices(
    count: int, variants: tuple[Variant, ...], goals: Mapping[Variant, float], quick: bool = False
) -> Workload:
    title = f"devices: {count} groups, limit=1000"
    return _search(f"devices-{count}", title, _device_groups(count), goals, variants, quick)


def _point_read(key: str, title: str, clients: Callable[[Rows], Clients], quick: bool = False) -> Workload:
    return Workload(f"get-{key}", f"GET {title}", "busy", clients, goals={"default": 10}, quick=quick)


WORKLOADS = (
    _search("flat-all", "flat: all candidates", FLAT, {"default": 200}, quick=True),
    _search("flat-10", "flat: limit=10", f"{FLAT}&limit=10", {"default": 400}, quick=True),
    _search("nested-all", "nested: all candidates", NESTED, {"default": 100}, quick=True),
    _search("nested-10", "nested: limit=10", f"{NESTED}&limit=10", {"default": 200}, quick=True),
    _varying_search("flat-all", "flat: all candidates", FLAT),
    _varying_search("flat-10", "flat: limit=10", f"{FLAT}&limit=10"),
    _varying_search("nested-all", "nested: all candidates", NESTED),
    _varying_search("nested-10", "nested: limit=10", f"{NESTED}&limit=10"),
    _devices(2, ("default", "tuned"), {}),
    _devices(4, ("default", "tuned"), {"default": 500, "tuned": 60}, quick=True),
    _devices(6, ("tuned",), {}),
    _devices(8, ("tuned",), {"tuned": 100}),
    _search("shared-all", "shared: all candidates", FLAT),
    _search("shared-10", "shared: limit=10", f"{FLAT}&limit=10"),
    _search("busy-all", "busy: all candidates", "/allocation_candidates?resources=VCPU:4,MEMORY_MB:8192"),
    _search("big-1000", "big: 10,000 hosts, limit=1000", f"{FLAT}&limit=1000"),
    _varying_search("big-1000", "big: 10,000 hosts, limit=1000", f"{FLAT}&limit=1000"),
    Workload(
        "list",
        "list of 1,000 providers",
        "flat",
        _get("/resource_providers"),
        goals={"default": 40},
        quick=True,
    ),
    Workload(
        "bulk",
        "everything about 100 providers: one request, 401 to the reference",
        "small",
        _get("/plimsoll/v1/providers"),
        goals={"default": 100},
        reference_clients=reads_of_all,
    ),
    Workload(
        "usages",
        "usages of a project with 1,200 consumers",
        "busy",
        # Without consumer_type the reference fails on PostgreSQL.
        _get(f"/usages?project_id={PROJECT}&consumer_type=all"),
        goals={"default": 20},
        quick=True,
    ),
    _point_read("provider", "a provider", provider_reads(""), quick=True),
    _point_read("inventories", "its inventories", provider_reads("/inventories")),
    _point_read("inventory", "one of its inventories", provider_reads("/inventories/VCPU")),
    _point_read("provider-usages", "its usages", provider_reads("/usages")),
    _point_read("traits", "its traits", provider_reads("/traits")),
    _point_read("aggregates", "its aggregates", provider_reads("/aggregates")),
    _point_read("provider-allocations", "its allocations", provider_reads("/allocations")),
    Workload(
        "get-provider-allocations-new",
        "GET its allocations, not asked for lately",
        "busy",
        provider_reads("/allocations", None),  # all providers: more than are cached
    ),
    _point_read("allocations", "a consumer's allocations", consumer_reads),
    Workload(
        "get-8",
        "GET of providers, mixed, 8 clients",
        "busy",
        mixed_reads,
        8,
        "rate",
        {"default": 10},
        quick=True,
    ),
    Workload("claims-1", "claims, 1 client", "flat", claims, 1, "rate", {"default": 20}, quick=True),
    Workload("claims-8", "claims, 8 clients", "flat", claims, 8, "rate", {"default": 30}, quick=True),
    Workload(
        "select-8",
        "select (limit=20) and claim, 8 clients",
        "flat",
        lambda _: selections(20),
        8,
        "rate",
        {"default": 120},
        sqlite_goal=100,
    ),
    Workload(
        "report",
        "a provider with inventory, traits, aggregates (4 requests)",
        "flat",
        lambda _: reports(),
        1,
        "rate",
        {"default": 8},
    ),
)
