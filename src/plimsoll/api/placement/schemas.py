# SPDX-License-Identifier: Apache-2.0

"""What requests may look like, version by version, and the verdict on one that was sent.

A shape is a JSON Schema whose parts may depend on the version. At start it becomes one plain schema for each
version. jsonschema-rs decides; `violations.py` describes what it refuses.
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
"""A JSON Schema in which a `Record` or a `Changed` may stand for any part."""


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a record, from one feature on, until another."""

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
    """An object with these members and no others; `patterns` are members known by a pattern of their name.

    Where `required` stands among the keywords decides which of several mistakes a client is told of.
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
    """One shape until a feature, another from it on."""

    feature: Feature
    before: Shape
    after: Shape


def shape_at(shape: Shape, version: Version) -> Any:
    """The plain JSON Schema that a shape is at a version."""
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
    """One plain schema, ready to judge."""

    def __init__(self, plain: Plain, formats: FormatChecker, is_uuid: Callable[[str], bool]) -> None:
        self.plain = plain
        self._decides_usual: jsonschema_rs.Draft202012Validator | None = None
        """Accepts uuids in their usual spelling alone: 7 times as fast as a function in Python that accepts others too."""
        if '"format": "uuid"' in json.dumps(plain):
            self._decides_usual = jsonschema_rs.Draft202012Validator(plain, validate_formats=True)
        # Masked: messages of jsonschema-rs would hold whole documents.
        self._decides = jsonschema_rs.Draft202012Validator(
            plain, validate_formats=True, formats={"uuid": is_uuid}, mask="the value"
        )
        self._describer = Describer(plain, formats, self._decides)

    def accepts(self, content: Any) -> bool:
        """True if jsonschema-rs accepts it. If not, `violation` describes why, or is None if it is right after all."""
        try:
            if self._decides_usual is not None and self._decides_usual.is_valid(content):
                return True
            return bool(self._decides.is_valid(content))
        except ValueError:  # it cannot read lone surrogates
            return False

    def violation(self, content: Any, size: int) -> Violation | None:
        """Describe the violation in a document of `size` characters; None if there is none."""
        return self._describer.violation(content, size)


class Schemas:
    """A shape as it is at each version, those versions sharing a schema between which nothing changed."""

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
        """For shapes that never changed."""
        return self._by_minor[0]

    def at(self, version: Version) -> Schema:
        return self._by_minor[version.minor]
