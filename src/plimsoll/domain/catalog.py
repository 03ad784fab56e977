# SPDX-License-Identifier: Apache-2.0

"""Catalogs of names: resource classes, traits, consumer types.

A catalog is small and changes rarely, so each change copies it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime

from plimsoll.domain.values import value

CUSTOM_PREFIX = "CUSTOM_"
FIRST_CUSTOM_CLASS_ID = 10000
"""Resource classes below this id are standard and cannot be renamed or deleted."""


@value
class CatalogEntry:
    """One name with its id."""

    id: int
    name: str
    modified_at: datetime | None = field(default=None, compare=False)

    @property
    def is_custom(self) -> bool:
        return self.name.startswith(CUSTOM_PREFIX)


class Catalog:
    """An immutable set of entries, by name and by id. It also has the highest id ever used, for the next entry."""

    __slots__ = ("_last_id", "by_id", "by_name")

    def __init__(self, entries: Iterable[CatalogEntry] = (), last_id: int = 0) -> None:
        self.by_name: Mapping[str, CatalogEntry] = {entry.name: entry for entry in entries}
        self.by_id: Mapping[int, CatalogEntry] = {entry.id: entry for entry in self.by_name.values()}
        self._last_id = max((last_id, *self.by_id))

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def __iter__(self) -> Iterator[CatalogEntry]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Catalog) and self.by_name == other.by_name

    __hash__ = None  # type: ignore[assignment]  # compared, never a key

    def get(self, name: str) -> CatalogEntry | None:
        return self.by_name.get(name)

    @property
    def next_id(self) -> int:
        return self._last_id + 1

    def with_entries(self, *entries: CatalogEntry) -> Catalog:
        replaced = {entry.id for entry in entries}
        return Catalog([*(entry for entry in self if entry.id not in replaced), *entries], self._last_id)

    def without(self, name: str) -> Catalog:
        return Catalog((entry for entry in self if entry.name != name), self._last_id)

    def with_last_id(self, last_id: int) -> Catalog:
        """Return the same entries; the next entry gets a higher id than `last_id`."""
        return Catalog(self, last_id) if last_id > self._last_id else self
