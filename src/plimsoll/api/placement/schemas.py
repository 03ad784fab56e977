# SPDX-License-Identifier: Apache-2.0

"""JSON Schemas of bodies and queries for each version, and their validation.

A shape is a JSON Schema whose parts may depend on the version. On import it is expanded to one plain schema per
version. jsonschema-rs validates; `plimsoll.http.schema_violations` describes violations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
from jsonschema import FormatChecker

from plimsoll.api.placement.features import Feature
from plimsoll.api.placement.microversion import VERSIONS, Version
from plimsoll.http.schema_violations import Describer, Violation

Plain = dict[str, Any]
Shape = Any
"""A JSON Schema in which any part may be an `ObjectSchema` or a `Changed`."""
Pause = Callable[[], None]
"""Called at each step of a long computation, so that it can yield to other requests."""


def no_pause() -> None:
    """Do nothing, for documents that are always short."""


@dataclass(frozen=True, slots=True)
class Field:
    """A member of an object, from the feature `since` on, until the feature `until`."""

    name: str
    shape: Shape
    since: Feature | None = None
    until: Feature | None = None
    required: bool = True

    def exists_at(self, version: Version) -> bool:
        return (self.since is None or version.has(self.since)) and not (
            self.until and version.has(self.until)
        )


class ObjectSchema:
    """The schema of an object with these members and no others; `patterns` are members whose name is a pattern.

    The position of `required` among the keywords decides which of several violations is reported.
    """

    def __init__(self, *fields: Field, patterns: tuple[Field, ...] = (), required_last: bool = False) -> None:
        self._fields = fields
        self._patterns = patterns
        self._required_last = required_last

    def at(self, version: Version) -> Plain:
        fields = [field for field in self._fields if field.exists_at(version)]
        patterns = [field for field in self._patterns if field.exists_at(version)]
        schema: Plain = {"type": "object"}
        schema["properties"] = {field.name: shape_at(field.shape, version) for field in fields}
        required = [field.name for field in fields if field.required]
        if required and not self._required_last:
            schema["required"] = required
        schema["additionalProperties"] = False
        if required and self._required_last:
            schema["required"] = required
        if patterns:
            schema["patternProperties"] = {field.name: shape_at(field.shape, version) for field in patterns}
        return schema


@dataclass(frozen=True, slots=True)
class Changed:
    """One shape before a feature, another from it on."""

    feature: Feature
    before: Shape
    after: Shape


def shape_at(shape: Shape, version: Version) -> Any:
    """Return the plain JSON Schema of a shape at a version."""
    if isinstance(shape, ObjectSchema):
        return shape.at(version)
    if isinstance(shape, Changed):
        return shape_at(shape.after if version.has(shape.feature) else shape.before, version)
    if isinstance(shape, Mapping):
        return {key: shape_at(value, version) for key, value in shape.items()}
    if isinstance(shape, list | tuple):
        return [shape_at(value, version) for value in shape]
    return shape


class Schema:
    """A plain schema with its validators."""

    def __init__(self, plain: Plain, formats: FormatChecker, is_uuid: Callable[[str], bool]) -> None:
        self.plain = plain
        self._canonical_validator: jsonschema_rs.Draft202012Validator | None = None
        """Accepts only uuids in canonical form, and is 7 times as fast as the validator that calls `is_uuid`."""
        if '"format": "uuid"' in json.dumps(plain):
            self._canonical_validator = jsonschema_rs.Draft202012Validator(plain, validate_formats=True)
        # Masked: messages of jsonschema-rs would hold whole documents.
        self._validator = jsonschema_rs.Draft202012Validator(
            plain, validate_formats=True, formats={"uuid": is_uuid}, mask="the value"
        )
        self._describer = Describer(plain, formats, self._validator)

    def accepts(self, content: Any) -> bool:
        """Return whether jsonschema-rs accepts it. If not, call `violation`, which returns None if it is valid."""
        try:
            if self._canonical_validator is not None and self._canonical_validator.is_valid(content):
                return True
            return bool(self._validator.is_valid(content))
        except ValueError:  # a lone surrogate
            return False

    def violation(self, content: Any, size: int, pause: Pause = no_pause) -> Violation | None:
        """Describe the violation in a document of `size` characters; None if there is none."""
        return self._describer.violation(content, size, pause)


class Schemas:
    """The schemas of a shape at each version. Versions with equal schemas share one object."""

    def __init__(self, shape: Shape, formats: FormatChecker, is_uuid: Callable[[str], bool]) -> None:
        made: dict[str, Schema] = {}
        by_minor = []
        for version in VERSIONS:
            plain = shape_at(shape, version)
            text = json.dumps(plain)
            if text not in made:
                made[text] = Schema(plain, formats, is_uuid)
            by_minor.append(made[text])
        self._by_minor = tuple(by_minor)

    @property
    def at_lowest(self) -> Schema:
        """The schema at the lowest version, for shapes that are the same at all versions."""
        return self._by_minor[0]

    def at(self, version: Version) -> Schema:
        return self._by_minor[version.minor]
