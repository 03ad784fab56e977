# SPDX-License-Identifier: Apache-2.0

"""The gauges of `/metrics`: names, descriptions, and rows computed from the snapshot at the time of the scrape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

import plimsoll
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.utilisation import ClassTotals
from plimsoll.domain.world import World
from plimsoll.monitoring.exposition import Exposition, Row
from plimsoll.service import usage_report
from plimsoll.service.fit import FitReport
from plimsoll.service.progress import Progress

SERIES_BUDGET = 20_000
"""The most series of a scrape without providers."""
PROVIDER_SERIES_BUDGET = 200_000
"""The most series of a scrape with providers: 10,000 hosts with three resource classes have 180,000."""

_SUMS: Mapping[str, str] = {
    "capacity": "The limit of the sum of allocations: (total - reserved) x allocation_ratio",
    "reserved": "Reserved amounts",
    "used": "Allocated amounts",
    "free": "Capacity that is not allocated",
    "largest_free": "The largest amount that one claim on one provider can have",
}
"""The sums of a resource class, by the ends of the names of their gauges."""


@dataclass(frozen=True, slots=True)
class _ProviderGauge:
    name: str
    description: str
    value: Callable[[Inventory, int], float]
    """Of an inventory and the amount used."""


_PROVIDER_GAUGES = (
    # The names and labels of openstack-exporter, for its dashboards.
    _ProviderGauge("openstack_placement_resource_total", "Total.", lambda inventory, _: inventory.total),
    _ProviderGauge(
        "openstack_placement_resource_reserved", "Reserved amount.", lambda inventory, _: inventory.reserved
    ),
    _ProviderGauge("openstack_placement_resource_usage", "Allocated amount.", lambda _, used: used),
    _ProviderGauge(
        "openstack_placement_resource_allocation_ratio",
        "Allocation ratio.",
        lambda inventory, _: inventory.allocation_ratio,
    ),
    _ProviderGauge(
        "plimsoll_provider_capacity",
        "The limit of the sum of allocations: (total - reserved) x allocation_ratio.",
        lambda inventory, _: inventory.capacity,
    ),
    _ProviderGauge(
        "plimsoll_provider_free",
        "Capacity that is not allocated.",
        lambda inventory, used: inventory.free(used),
    ),
)


_SHAPE_GAUGES: tuple[tuple[str, str, Callable[[FitReport], float]], ...] = (
    ("plimsoll_shape_fit", "Further instances of the shape that fit.", lambda fit: fit.now.instances),
    (
        "plimsoll_shape_fit_hosts",
        "Hosts on which a further instance of the shape fits.",
        lambda fit: fit.now.hosts,
    ),
    (
        "plimsoll_shape_fit_empty",
        "Instances of the shape that fit if nothing is in use.",
        lambda fit: fit.empty.instances,
    ),
    (
        "plimsoll_shape_fit_exact",
        "1 if plimsoll_shape_fit is exact, 0 if at least as many fit.",
        lambda fit: fit.now.is_exact,
    ),
)


def add_service(text: Exposition, world: World, sequence: int, progress: Progress | None) -> None:
    """Add the state of the process that is scraped. `progress` is None if the database did not respond."""
    _add_value(
        text, "plimsoll_database_up", "1 if the database responded to the scrape.", progress is not None
    )
    if progress is not None:
        _add_value(text, "plimsoll_head_sequence", "The number of the last committed change.", progress.head)
        _add_value(
            text,
            "plimsoll_follow_lag_changes",
            "Changes that the scraped process had not applied before the scrape.",
            progress.lag,
        )
    _add_value(text, "plimsoll_snapshot_sequence", "The change that memory has reached.", sequence)
    _add_value(text, "plimsoll_snapshot_providers", "Providers in memory.", len(world.providers))
    version = [((plimsoll.__version__,), 1.0)]
    text.add_gauge("plimsoll_build_info", "The version of Plimsoll.", ("version",), version)


def add_resources(
    text: Exposition, world: World, *, per_aggregate: bool, pause: Callable[[], object]
) -> None:
    """Add the sums of all providers per resource class, and with `per_aggregate` those of each aggregate."""
    by_class = usage_report.of_all(world, pause).by_class
    whole = [((name,), by_class[name]) for name in sorted(by_class)]
    by_aggregate = usage_report.by_aggregate(world, pause) if per_aggregate else {}
    aggregates = [
        ((aggregate, name), by_aggregate[aggregate].by_class[name])
        for aggregate in sorted(key for key in by_aggregate if key is not None)
        for name in sorted(by_aggregate[aggregate].by_class)
    ]
    for field, description in _SUMS.items():
        labels = ("resource_class",)
        text.add_gauge(f"plimsoll_resource_{field}", f"{description}.", labels, _values(whole, field))
    for field, description in _SUMS.items():
        text.add_gauge(
            f"plimsoll_aggregate_{field}",
            f"{description}, per aggregate.",
            ("aggregate", "resource_class"),
            _values(aggregates, field),
        )


def add_shapes(text: Exposition, fits: Mapping[str, FitReport]) -> None:
    """Add how many instances of each named shape fit."""
    for name, description, value in _SHAPE_GAUGES:
        text.add_gauge(name, description, ("shape",), [((shape,), value(fits[shape])) for shape in fits])


def add_providers(text: Exposition, world: World) -> None:
    """Add the inventories and usages of each provider."""
    for gauge in _PROVIDER_GAUGES:
        rows = _provider_rows(world, gauge.value)
        text.add_gauge(gauge.name, gauge.description, ("hostname", "resourcetype"), rows)


def add_omitted(text: Exposition) -> None:
    """Add the number of series that were left out. The last family: the budget has to allow one more."""
    description = "Series left out of this scrape, which is limited."
    _add_value(text, "plimsoll_omitted_series", description, text.close())


def _add_value(text: Exposition, name: str, description: str, value: float) -> None:
    text.add_gauge(name, description, (), [((), float(value))])


def _values(sums: Iterable[tuple[tuple[str, ...], ClassTotals]], field: str) -> Iterator[Row]:
    value_of = attrgetter("largest" if field == "largest_free" else field)
    return ((key, value_of(each)) for key, each in sums)


def _provider_rows(world: World, value: Callable[[Inventory, int], float]) -> Iterator[Row]:
    for provider in world.providers.values():
        for name, inventory in provider.inventories.items():
            yield (provider.name, name), value(inventory, provider.used_of(name))
