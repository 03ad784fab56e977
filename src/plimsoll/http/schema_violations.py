# SPDX-License-Identifier: Apache-2.0

"""Describe a violation of a JSON Schema: the property, then the message of jsonschema, in a short text.

jsonschema, which the reference uses, validates a whole document only if that is small, and selects the most relevant
violation. In a large one jsonschema-rs finds the first violation; jsonschema validates only that value and keyword.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend

from plimsoll.http.problems import shorten

SMALL = 8192
"""Characters of a document that jsonschema validates as a whole: this takes a few milliseconds."""

_LONGEST_VALUE = 100
_LONGEST_SENTENCE = 300
_LONGEST_NAME = 64
_MAX_UNKNOWN_NAMED = 100
"""Unknown members that a message can name: more would not fit."""

Path = Iterable[str | int]


@dataclass(frozen=True, slots=True)
class Violation:
    place: str
    """The property that violates the schema; empty for the document as a whole."""
    sentence: str

    def as_text(self, refusal: str) -> str:
        """Return the error text: property, refusal, reason."""
        text = f"{refusal}: {self.sentence}"
        return f"{self.place}: {text}" if self.place else text


class Describer:
    """Describe violations of one schema. `first` is a jsonschema-rs validator of it, with masked values."""

    def __init__(
        self, plain: dict[str, Any], formats: FormatChecker, first: jsonschema_rs.Draft202012Validator
    ) -> None:
        self._plain = plain
        self._first = first
        self._validator = _Validator(_exact(plain), format_checker=formats)
        self._patterns = {repr(_exact_pattern(each))[1:-1]: each for each in _patterns(plain)}

    def violation(self, content: Any, size: int, pause: Callable[[], None]) -> Violation | None:
        """Return the most relevant violation, or None. `size` is the length of the document in characters.

        `pause` is called at each step of a long document.
        """
        if size <= SMALL:
            error = best_match(self._validator.iter_errors(content))
            return None if error is None else self._described(error, (), ())
        try:
            if self._first.is_valid(content):
                return None
            # An error of jsonschema-rs holds a copy of the value, which takes many times the memory of its JSON.
            short = _with_few_unknown(content, self._plain, pause)
            return self._first_violation(short) or self._first_violation(content)
        except ValueError:  # a lone surrogate
            return Violation("", "a text is not Unicode.")

    def _first_violation(self, content: Any) -> Violation | None:
        try:
            self._first.validate(content)
        except jsonschema_rs.ValidationError as found:
            return self._of_one_value(content, found)
        return None

    def _of_one_value(self, content: Any, found: jsonschema_rs.ValidationError) -> Violation:
        *to_schema, keyword = found.schema_path
        schema: Any = self._plain
        for step in to_schema:
            schema = schema[step]
        value = content
        for step in found.instance_path:
            value = value[step]
        alone = self._validator.evolve(schema=_exact(_keyword_alone(schema, str(keyword))))
        error = best_match(alone.iter_errors(value))
        if error is None:  # an infinite number or NaN: jsonschema accepts it as a number
            return Violation(_property(found.instance_path), f"{found.message}.")
        return self._described(error, found.instance_path, to_schema)

    def _described(self, error: ValidationError, place: Path, to_schema: Path) -> Violation:
        where = "".join(f"[{step!r}]" for step in (*to_schema, *error.relative_schema_path)[:-1])
        sentence = f"{_message(error)}. Failed validating {error.validator!r} in schema{where}"
        for exact, written in self._patterns.items():
            sentence = sentence.replace(exact, written)
        return Violation(_property((*place, *error.absolute_path)), sentence)


def _with_few_unknown(content: Any, schema: Any, pause: Callable[[], None]) -> Any:
    """Return the document with at most _MAX_UNKNOWN_NAMED members that its schema does not have."""
    if not isinstance(content, dict) or schema.get("additionalProperties") is not False:
        return content
    properties = schema.get("properties", {})
    pattern = re.compile("|".join(map(_exact_pattern, schema.get("patternProperties", {}))) or r"(?!)")
    few, unknown = {}, []
    for name, value in content.items():
        if name in properties:
            few[name] = _with_few_unknown(value, properties[name], pause)
        elif pattern.search(name) is None:
            unknown.append(name)
        else:
            few[name] = value
        pause()
    for name in heapq.nsmallest(_MAX_UNKNOWN_NAMED, unknown):
        few[name] = content[name]
    return few


def _message(error: ValidationError) -> str:
    """Return the message of jsonschema; long values in it are cut."""
    message, value = error.message, repr(error.instance)
    if message.startswith(value):
        message = shorten(value, _LONGEST_VALUE) + message[len(value) :]
    return shorten(message, _LONGEST_SENTENCE)


def _property(path: Path) -> str:
    """Return the path as text, like `allocations.6f1c....resources.VCPU` or `aggregates[3]`."""
    text = "".join(
        f"[{step}]" if isinstance(step, int) else f".{shorten(step, _LONGEST_NAME)}" for step in path
    )
    return text.removeprefix(".")


def _keyword_alone(schema: Mapping[str, Any], keyword: str) -> dict[str, Any]:
    """Return the schema reduced to one keyword and the keywords that it depends on."""
    alone = {keyword: schema[keyword]}
    if keyword == "additionalProperties":
        for needed in ("properties", "patternProperties"):
            if needed in schema:
                alone[needed] = dict.fromkeys(schema[needed], True)
    return alone


# In Python `$` also matches before a line end at the end of the text. `\Z` matches only at the end, like `$` in Rust.


def _exact_pattern(pattern: str) -> str:
    return pattern.replace("$", r"\Z")


def _exact(schema: Any) -> Any:
    """Return the schema with patterns rewritten to match in Python exactly what they match in jsonschema-rs."""
    if isinstance(schema, list):
        return [_exact(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    exact = {name: _exact(part) for name, part in schema.items()}
    if "pattern" in schema:
        exact["pattern"] = _exact_pattern(schema["pattern"])
    if "patternProperties" in schema:
        named = exact["patternProperties"].items()
        exact["patternProperties"] = {_exact_pattern(pattern): part for pattern, part in named}
    return exact


def _patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from _patterns(part)
    elif isinstance(schema, dict):
        if "pattern" in schema:
            yield schema["pattern"]
        yield from schema.get("patternProperties", ())
        for part in schema.values():
            yield from _patterns(part)


def _unique_items(
    validator: Draft202012Validator, wanted: bool, items: Any, _: Any
) -> Iterator[ValidationError]:
    """Replace jsonschema's uniqueItems, which compares all pairs if types differ. This one uses a set of keys."""
    if not wanted or not validator.is_type(items, "array"):
        return
    if len({_key(item) for item in items}) < len(items):
        yield ValidationError(f"{items!r} has non-unique elements")


def _key(item: Any) -> str | tuple[str]:
    """Return equal keys for items that are equal in JSON. Texts are their own keys: encoding 100,000 takes 200 ms."""
    return item if isinstance(item, str) else (json.dumps(_comparable(item), sort_keys=True),)


def _comparable(value: Any) -> Any:
    """Convert whole floats to int: in JSON 2.0 equals 2; `true` equals no number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _comparable(content) for key, content in value.items()}
    return [_comparable(content) for content in value] if isinstance(value, list) else value


_KEYWORDS: dict[str, Callable[..., Iterator[ValidationError]]] = {"uniqueItems": _unique_items}
_Validator = extend(Draft202012Validator, _KEYWORDS)
