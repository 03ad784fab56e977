# SPDX-License-Identifier: Apache-2.0

"""Inventories as they are added, changed and replaced. The same at all versions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.patterns import GENERATION, NAME
from plimsoll.api.placement.schemas import Plain
from plimsoll.domain.inventory import MAX_INT, Inventory
from plimsoll.http.problems import LONGEST_QUOTE, Problem, shortened

_FROM_ZERO = {"type": "integer", "maximum": MAX_INT, "minimum": 0}
_FROM_ONE = {"type": "integer", "maximum": MAX_INT, "minimum": 1}
_LARGEST_RATIO = 3.40282e38
"""What a float column of the schema can hold."""

_FIGURES: Plain = {
    "resource_provider_generation": GENERATION,
    "total": _FROM_ONE,
    "reserved": _FROM_ZERO,
    "min_unit": _FROM_ONE,
    "max_unit": _FROM_ONE,
    "step_size": _FROM_ONE,
    "allocation_ratio": {"type": "number", "maximum": _LARGEST_RATIO},
}


def _inventory(required: list[str], **further: Plain) -> Plain:
    properties = {**_FIGURES, **further}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


ADD = Body(_inventory(["total", "resource_class"], resource_class={"type": "string", "pattern": NAME}))
CHANGE = Body(_inventory(["total", "resource_provider_generation"]))

REPLACE_SHAPE: Plain = {
    "type": "object",
    "properties": {
        "resource_provider_generation": GENERATION,
        # Only the names that could be those of a class are looked into: the others do not exist anyway.
        "inventories": {"type": "object", "patternProperties": {NAME: _inventory(["total"])}},
    },
    "required": ["resource_provider_generation", "inventories"],
    "additionalProperties": False,
}
REPLACE = Body(REPLACE_SHAPE)

_RECORD = Body(_inventory(["total"]))
_LOOKED_INTO = re.compile(NAME).fullmatch

Figures = dict[str, int | float]
"""The figures of an inventory as the client wrote them, defaults filled in: 2 and 2.0 are told apart."""


def figures_of(given: Mapping[str, Any]) -> Figures:
    return {
        "total": given["total"],
        "reserved": given.get("reserved", 0),
        "min_unit": given.get("min_unit", 1),
        "max_unit": given.get("max_unit", MAX_INT),
        "step_size": given.get("step_size", 1),
        "allocation_ratio": given.get("allocation_ratio", 1.0),
    }


def inventory_of(figures: Mapping[str, Any]) -> Inventory:
    return Inventory(
        total=int(figures["total"]),
        reserved=int(figures["reserved"]),
        min_unit=int(figures["min_unit"]),
        max_unit=int(figures["max_unit"]),
        step_size=int(figures["step_size"]),
        # Adding zero takes the sign from -0.0, which databases do not keep.
        allocation_ratio=float(figures["allocation_ratio"]) + 0.0,
    )


def all_figures_of(provider: str, given: Mapping[str, Any]) -> dict[str, Figures]:
    """The figures of each class. Under names that the schema did not look into there may stand anything."""
    schema = _RECORD.schemas.at_lowest
    for name, record in given.items():
        if _LOOKED_INTO(name) or schema.accepts(record):
            continue
        violation = schema.violation(record, len(json.dumps(record)))
        if violation is not None:
            quoted = shortened(name, LONGEST_QUOTE)
            raise Problem(400, violation.worded(f"Bad inventory {quoted} for resource provider {provider}"))
    return {name: figures_of(record) for name, record in given.items()}
