# SPDX-License-Identifier: Apache-2.0

"""The options of `/metrics`, in `[plimsoll]`."""

from __future__ import annotations

import re
from ipaddress import ip_network

from oslo_config import cfg, types


class _Network(types.ConfigType):
    """The type of an option: an address, or a network such as 10.0.0.0/24."""

    def __init__(self) -> None:
        super().__init__(type_name="network value")

    def __call__(self, value: str) -> str:
        return str(ip_network(value.strip()))

    def __repr__(self) -> str:
        return "Network"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Network)

    __hash__ = types.ConfigType.__hash__

    def _formatter(self, value: str) -> str:
        return value


class Shapes(types.ConfigType):
    """The type of an option: several NAME=QUERY, separated by blanks or line ends."""

    def __init__(self) -> None:
        super().__init__(type_name="shapes value")

    def __call__(self, value: str) -> str:
        for item in value.split():
            name, separator, query = item.partition("=")
            if not (separator and query and _is_shape_name(name)):
                raise ValueError(
                    f"{item!r} is not of the form NAME=QUERY, with letters, digits, '.', '_' and '-' in NAME"
                )
        return value

    def __repr__(self) -> str:
        return "Shapes"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shapes)

    __hash__ = types.ConfigType.__hash__

    def _formatter(self, value: str) -> str:
        return value


_is_shape_name = re.compile(r"[\w.-]{1,64}", re.ASCII).fullmatch

METRICS_OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "metrics", default=True, help="Count events, and serve the figures at /metrics for Prometheus."
    ),
    cfg.ListOpt(
        "metrics_networks",
        default=["127.0.0.0/8", "::1/128"],
        item_type=_Network(),
        help="Addresses and networks whose clients can read /metrics without a token, unless a proxy forwards their"
        " requests. Other clients need a token that may list resource providers.",
    ),
    cfg.BoolOpt(
        "metrics_aggregates",
        default=False,
        help="Add the capacity and usage of each aggregate to /metrics: five series for each resource class in it.",
    ),
    cfg.BoolOpt(
        "metrics_providers",
        default=False,
        help="Serve the capacity and usage of each provider at /metrics?providers=1 also without a token.",
    ),
    cfg.Opt(
        "shapes",
        type=Shapes(),
        default="",
        help="Shapes of instances whose fit is at /metrics: up to 10 entries NAME=QUERY with blanks or line ends between them."
        " QUERY is a query of GET /allocation_candidates, such as small=resources=VCPU:1,MEMORY_MB:2048.",
    ),
    cfg.StrOpt(
        "metrics_directory",
        help="The directory in which `plimsoll serve` makes another one for the counters of its workers; by default"
        " /dev/shm, or the directory for temporary files.",
    ),
]
