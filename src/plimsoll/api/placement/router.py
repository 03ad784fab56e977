# SPDX-License-Identifier: Apache-2.0

"""Find a path of the API, and its route for a method and a version.

Paths of this API alternate names and values: /resource_providers/{uuid}/inventories/{resource_class}. The names are
the key of a dictionary. Matching is exact: a trailing slash makes another path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll.api.placement.microversion import VERSIONS, Version
from plimsoll.api.placement.route import Route


@dataclass(frozen=True, slots=True, eq=False)
class ApiPath:
    """A path of the API with its routes."""

    path: str
    """With the names of its values: /resource_providers/{uuid}."""
    allow: str
    """The methods that a 405 names."""
    names: tuple[str, ...]
    """The names of the values in the path."""
    _by_method: Mapping[str, tuple[Route, ...]]
    """For each method, the route at each minor version."""

    def route(self, method: str, version: Version) -> Route | None:
        routes = self._by_method.get(method)
        return None if routes is None else routes[version.minor]


class Router:
    def __init__(self, routes: Iterable[Route]) -> None:
        by_path: dict[str, list[Route]] = {}
        for route in routes:
            by_path.setdefault(route.path, []).append(route)
        self._paths = {_key(path.split("/")): _api_path(path, there) for path, there in by_path.items()}

    def find(self, path: str) -> tuple[ApiPath, dict[str, str]] | None:
        """Return the path of the API, and the values in this path."""
        parts = path.split("/")
        if path[-1:] == "\n":
            _drop_line_end(parts)
        found, values = self._paths.get(_key(parts)), parts[2::2]
        if found is None or parts[0] or "" in values:
            return None
        return found, dict(zip(found.names, values, strict=True))


def _key(parts: list[str]) -> tuple[int, str]:
    """Return the number of parts, and the names among them."""
    return len(parts), "/".join(parts[1::2])


def _drop_line_end(parts: list[str]) -> None:
    """Remove one line end at the end of the path: the reference's patterns end in `$`, which also matches before it."""
    is_value = len(parts) > 1 and len(parts) % 2 == 1
    if not is_value or parts[-1] != "\n":
        parts[-1] = parts[-1][:-1]


def _api_path(path: str, routes: list[Route]) -> ApiPath:
    methods = dict.fromkeys(route.method for route in routes)
    listed = dict.fromkeys(route.method for route in routes if route.listed)
    return ApiPath(
        path=path,
        allow=", ".join(listed),
        names=tuple(part.strip("{}") for part in path.split("/")[2::2]),
        _by_method={
            method: tuple(
                next(
                    route
                    for route in routes
                    if route.method == method and not (route.until and version.has(route.until))
                )
                for version in VERSIONS
            )
            for method in methods
        },
    )
