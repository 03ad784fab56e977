# SPDX-License-Identifier: Apache-2.0

"""Schema parts that several documents share."""

from __future__ import annotations

from plimsoll.api.placement.schemas import Field, ObjectSchema, Plain, Shape

INTEGER: Plain = {"type": "integer"}
TEXT: Plain = {"type": "string"}
UUID: Plain = {"type": "string", "format": "uuid"}
UUID_OR_NULL: Plain = {"type": ["string", "null"], "format": "uuid"}
AMOUNT: Plain = {"type": "integer", "minimum": 0}

LINKS: Plain = {"type": "array", "items": ObjectSchema(Field("rel", TEXT), Field("href", TEXT))}
NAMES: Plain = {"type": "array", "items": TEXT}


def map_of(shape: Shape) -> Plain:
    """Return the schema of an object with any keys, such as resource classes or uuids, and values of this shape."""
    return {"type": "object", "additionalProperties": shape}


AMOUNTS: Plain = map_of({"type": "integer", "minimum": 1})
"""Amounts by resource class."""
PROVIDER_GENERATION = Field("resource_provider_generation", INTEGER)
