# SPDX-License-Identifier: Apache-2.0

"""The bodies that add, change and replace inventories. They are the same at all versions."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.patterns import GENERATION, NAME
from plimsoll.api.placement.schemas import Plain
from plimsoll.domain.inventory import FIGURES, MAX_INT, Inventory
from plimsoll.http.problems import LONGEST_QUOTE, Problem, shorten

_FROM_ZERO = {"type": "integer", "maximum": MAX_INT, "minimum": 0}
_FROM_ONE = {"type": "integer", "maximum": MAX_INT, "minimum": 1}
_LARGEST_RATIO = 3.40282e38
"""The largest value of a FLOAT column."""

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


ADD_INVENTORY = Body(
    _inventory(["total", "resource_class"], resource_class={"type": "string", "pattern": NAME})
)
CHANGE_INVENTORY = Body(_inventory(["total", "resource_provider_generation"]))

REPLACE_SHAPE: Plain = {
    "type": "object",
    "properties": {
        "resource_provider_generation": GENERATION,
        # Values under other names are validated later, by `all_figures_of`: the reference reports them differently.
        "inventories": {"type": "object", "patternProperties": {NAME: _inventory(["total"])}},
    },
    "required": ["resource_provider_generation", "inventories"],
    "additionalProperties": False,
}
REPLACE_INVENTORIES = Body(REPLACE_SHAPE)

_RECORD = Body(_inventory(["total"]))
_IS_CLASS_NAME = re.compile(NAME).fullmatch

Figures = dict[str, int | float]
"""The figures of an inventory as the client wrote them, with defaults: responses show 2.0 as 2.0 and 2 as 2."""

_DEFAULTS: Figures = {
    "reserved": 0,
    "min_unit": 1,
    "max_unit": MAX_INT,
    "step_size": 1,
    "allocation_ratio": 1.0,
}
assert ("total", *_DEFAULTS) == FIGURES, "a figure without a default"
_INFINITE_CAPACITY = (
    "JSON does not validate: the capacity, (total - reserved) * allocation_ratio, is not a finite number."
)


def figures_of(given: Mapping[str, Any]) -> Figures:
    return {"total": given["total"], **{name: given.get(name, _DEFAULTS[name]) for name in _DEFAULTS}}


def inventory_of(figures: Figures) -> Inventory:
    """Return the inventory; raise a `Problem` if its capacity is infinite, for which the reference has a 500."""
    # Adding zero turns -0.0 into 0.0: not every database stores the sign of zero.
    ratio = float(figures["allocation_ratio"]) + 0.0
    whole: dict[str, Any] = {name: int(figures[name]) for name in FIGURES if name != "allocation_ratio"}
    if not math.isfinite((whole["total"] - whole["reserved"]) * ratio):
        raise Problem(400, _INFINITE_CAPACITY)
    return Inventory(**whole, allocation_ratio=ratio)


def all_figures_of(provider: str, given: Mapping[str, Any]) -> dict[str, Figures]:
    """Return the figures of each class; validate the values under names that the schema of the body left out."""
    schema = _RECORD.schemas.at_lowest
    for name, record in given.items():
        if _IS_CLASS_NAME(name) or schema.accepts(record):
            continue
        violation = schema.violation(record, len(json.dumps(record)))
        if violation is not None:
            quoted = shorten(name, LONGEST_QUOTE)
            raise Problem(400, violation.as_text(f"Bad inventory {quoted} for resource provider {provider}"))
    return {name: figures_of(record) for name, record in given.items()}
