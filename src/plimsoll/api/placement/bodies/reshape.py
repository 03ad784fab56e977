# SPDX-License-Identifier: Apache-2.0

"""The body of a reshape: new inventories of some providers, and new allocations of some consumers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.api.placement.bodies.allocations import by_consumer, claims_of
from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.inventories import REPLACE_SHAPE, all_figures_of, inventory_of
from plimsoll.api.placement.bodies.patterns import UUID_KEY
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.schemas import Field, ObjectSchema, Pause
from plimsoll.domain.rules.reshape import NewInventories, Reshape

RESHAPE = Body(
    ObjectSchema(
        Field(
            "inventories",
            {
                "type": "object",
                "patternProperties": {UUID_KEY: REPLACE_SHAPE},
                "minProperties": 1,
                "additionalProperties": False,
            },
        ),
        Field("allocations", by_consumer(at_least=0)),
    )
)


def reshape_of(content: Mapping[str, Any], version: Version, pause: Pause) -> Reshape:
    return Reshape(
        inventories={
            provider: _new_inventories(provider, given) for provider, given in content["inventories"].items()
        },
        claims=tuple(claims_of(content["allocations"], version, pause)),
    )


def _new_inventories(provider: str, given: Mapping[str, Any]) -> NewInventories:
    figures = all_figures_of(provider, given["inventories"])
    return NewInventories(
        generation=given["resource_provider_generation"],
        inventories={name: inventory_of(each) for name, each in figures.items()},
    )
