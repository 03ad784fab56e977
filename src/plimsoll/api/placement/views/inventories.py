# SPDX-License-Identifier: Apache-2.0

"""Inventories, one or all of a provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.api.placement.bodies.inventories import Figures


def path_of(uuid: str, resource_class: str) -> str:
    return f"/resource_providers/{uuid}/inventories/{resource_class}"


def inventory(figures: Figures, generation: int) -> dict[str, Any]:
    shown: dict[str, Any] = dict(figures)
    if generation:
        shown["resource_provider_generation"] = generation
    return shown


def inventories(figures: Mapping[str, Figures], generation: int) -> dict[str, Any]:
    return {"resource_provider_generation": generation, "inventories": figures}
