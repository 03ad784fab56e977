# SPDX-License-Identifier: Apache-2.0

"""Find the routes of a path. Matching is exact; a path without values is preferred to one with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll.api.v1.route import V1Route


@dataclass(frozen=True, slots=True, eq=False)
class V1Path:
    """A path of the API with its routes by method."""

    segments: tuple[str, ...]
    by_method: Mapping[str, V1Route]

    @property
    def allow(self) -> str:
        """The methods that a 405 names."""
        return ", ".join(self.by_method)

    def values(self, segments: list[str]) -> dict[str, str] | None:
        """Return the values in a path with these segments; None if it is another path."""
        values: dict[str, str] = {}
        for declared, given in zip(self.segments, segments, strict=True):
            if declared.startswith("{"):
                if not given:
                    return None
                values[declared[1:-1]] = given
            elif declared != given:
                return None
        return values


class PathTable:
    """All paths of the API."""

    def __init__(self, routes: Iterable[V1Route]) -> None:
        by_path: dict[str, dict[str, V1Route]] = {}
        for route in routes:
            methods = by_path.setdefault(route.path, {})
            assert route.method not in methods, f"{route.name} is declared twice"
            methods[route.method] = route
        self._by_length: dict[int, list[V1Path]] = {}
        for path in sorted(by_path, key=lambda path: path.count("{")):
            segments = tuple(path.split("/"))
            self._by_length.setdefault(len(segments), []).append(V1Path(segments, by_path[path]))

    def find(self, path: str) -> tuple[V1Path, dict[str, str]] | None:
        """Return the path and the values in it."""
        segments = path.split("/")
        for each in self._by_length.get(len(segments), ()):
            values = each.values(segments)
            if values is not None:
                return each, values
        return None
