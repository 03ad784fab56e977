# SPDX-License-Identifier: Apache-2.0

"""Resource classes, traits and aggregates: lists of names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.domain.catalog import CatalogEntry


def class_path(name: str) -> str:
    return f"/resource_classes/{name}"


def trait_path(name: str) -> str:
    return f"/traits/{name}"


def resource_class(entry: CatalogEntry, prefix: str) -> dict[str, Any]:
    return {"name": entry.name, "links": [{"rel": "self", "href": prefix + class_path(entry.name)}]}


def resource_classes(entries: Iterable[CatalogEntry], prefix: str) -> dict[str, Any]:
    return {"resource_classes": [resource_class(entry, prefix) for entry in entries]}


def traits(entries: Iterable[CatalogEntry], generation: int | None = None) -> dict[str, Any]:
    """Show a list of traits; with the generation, if they are those of a provider."""
    shown: dict[str, Any] = {"traits": [entry.name for entry in entries]}
    if generation is not None:
        shown["resource_provider_generation"] = generation
    return shown


def aggregates(uuids: Iterable[str], generation: int, version: Version) -> dict[str, Any]:
    shown: dict[str, Any] = {"aggregates": list(uuids)}
    if version.has(F.AGGREGATES_GENERATION):
        shown["resource_provider_generation"] = generation
    return shown
