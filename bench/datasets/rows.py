# SPDX-License-Identifier: Apache-2.0

"""A dataset as rows of the reference's schema, built by the same code for every service and database.

Ids, uuids and times depend only on the order of the calls, so two databases with the same dataset are equal. The
standard classes and traits are included: a service has nothing to add at start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import os_resource_classes
import os_traits

CREATED_AT = datetime(2026, 1, 1, 12)  # noqa: DTZ001  # as the schema stores times: UTC, without a zone
SHARING = "MISC_SHARES_VIA_AGGREGATE"

Row = tuple[Any, ...]


def numbered_uuid(kind: int, number: int) -> str:
    """Return a uuid that depends on the kind and the number, with bits as well distributed as in random uuids."""
    mixed = number * 0x9E3779B97F4A7C15 % (1 << 62)
    return str(UUID(int=(kind << 112 | mixed << 40 | number) % (1 << 128), version=4))


PROVIDER, AGGREGATE, CONSUMER, NEW = 1, 2, 3, 4


class Rows:
    """The rows of a dataset by table."""

    def __init__(self) -> None:
        self.tables: dict[str, list[Row]] = {}
        self.columns: dict[str, tuple[str, ...]] = {}
        self._classes: dict[str, int] = {}
        self._traits: dict[str, int] = {}
        self._aggregates: dict[str, int] = {}
        self._owners: dict[tuple[str, str], int] = {}
        self._roots: dict[int, int] = {}
        self.providers: list[str] = []
        self.consumers: list[str] = []
        for name in os_resource_classes.STANDARDS:
            self._resource_class(name)
        for name in sorted(os_traits.get_traits()):
            self._trait(name)
        self._consumer_type = self._add("consumer_types", name="INSTANCE")

    def provider(
        self,
        inventories: Mapping[str, int | Mapping[str, Any]],
        traits: Iterable[str] = (),
        aggregates: Iterable[int] = (),
        parent: int | None = None,
    ) -> int:
        """Add a provider and return its id."""
        uuid = numbered_uuid(PROVIDER, len(self.providers) + 1)
        self.providers.append(uuid)
        id_ = len(self.providers)
        self._roots[id_] = id_ if parent is None else self._roots[parent]
        self._add(
            "resource_providers",
            uuid=uuid,
            name=f"host-{id_}",
            generation=1,
            root_provider_id=self._roots[id_],
            parent_provider_id=parent,
        )
        for name, given in inventories.items():
            values = dict(given) if isinstance(given, Mapping) else {"total": given}
            self._add(
                "inventories",
                resource_provider_id=id_,
                resource_class_id=self._resource_class(name),
                total=values["total"],
                reserved=values.get("reserved", 0),
                min_unit=values.get("min_unit", 1),
                max_unit=values.get("max_unit", values["total"]),
                step_size=values.get("step_size", 1),
                allocation_ratio=values.get("allocation_ratio", 1.0),
            )
        for name in traits:
            self._append("resource_provider_traits", resource_provider_id=id_, trait_id=self._trait(name))
        for number in aggregates:
            self._append(
                "resource_provider_aggregates", resource_provider_id=id_, aggregate_id=self._aggregate(number)
            )
        return id_

    def consumer(self, project: str, user: str, allocations: Mapping[int, Mapping[str, int]]) -> str:
        """Add a consumer with its allocations by provider id, and return its uuid."""
        uuid = numbered_uuid(CONSUMER, len(self.consumers) + 1)
        self.consumers.append(uuid)
        self._add(
            "consumers",
            uuid=uuid,
            project_id=self._owner("projects", project),
            user_id=self._owner("users", user),
            generation=1,
            consumer_type_id=self._consumer_type,
        )
        for provider, amounts in allocations.items():
            for name, used in amounts.items():
                key_columns = {
                    "resource_provider_id": provider,
                    "resource_class_id": self._resource_class(name),
                }
                self._add("allocations", **key_columns, consumer_id=uuid, used=used)
        return uuid

    def _resource_class(self, name: str) -> int:
        if name not in self._classes:
            # The id of a standard class is its position in the list, from 0; custom classes start at 10000.
            standard = name in os_resource_classes.STANDARDS
            id_ = len(self._classes) if standard else 9_979 + len(self._classes)
            self._append("resource_classes", id=id_, name=name)
            self._classes[name] = id_
        return self._classes[name]

    def _trait(self, name: str) -> int:
        if name not in self._traits:
            self._traits[name] = self._add("traits", name=name)
        return self._traits[name]

    def _aggregate(self, number: int) -> int:
        uuid = aggregate_uuid(number)
        if uuid not in self._aggregates:
            self._aggregates[uuid] = self._add("placement_aggregates", uuid=uuid)
        return self._aggregates[uuid]

    def _owner(self, table: str, name: str) -> int:
        if (table, name) not in self._owners:
            self._owners[table, name] = self._add(table, external_id=name)
        return self._owners[table, name]

    def _add(self, table: str, **values: Any) -> int:
        """Add a row with the next id and return the id."""
        id_ = len(self.tables.get(table, ())) + 1
        self._append(table, id=id_, **values)
        return id_

    def _append(self, table: str, **values: Any) -> None:
        if table not in self.tables:
            self.tables[table] = []
            self.columns[table] = ("created_at", "updated_at", *values)
        assert len(values) == len(self.columns[table]) - 2
        self.tables[table].append((CREATED_AT, CREATED_AT, *values.values()))


def aggregate_uuid(number: int) -> str:
    return numbered_uuid(AGGREGATE, number)
