# SPDX-License-Identifier: Apache-2.0

"""Shapes that depend on the version."""

import uuid

from jsonschema import FormatChecker

from plimsoll.api.placement.bodies.patterns import UUID
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import HIGHEST, LOWEST, VERSIONS
from plimsoll.api.placement.schemas import (
    Changed,
    Field,
    ObjectSchema,
    Schema,
    Schemas,
    shape_at,
)
from plimsoll.api.placement.uuids import is_uuid

TEXT = {"type": "string"}


def test_a_field_is_there_from_one_feature_until_another() -> None:
    record = ObjectSchema(Field("old", TEXT, until=F.TRAITS), Field("new", TEXT, since=F.TRAITS))
    for version in VERSIONS:
        name = "new" if version.has(F.TRAITS) else "old"
        assert record.at(version)["properties"] == {name: TEXT}
        assert record.at(version)["required"] == [name]


def test_a_record_lets_nothing_else_in() -> None:
    assert ObjectSchema(Field("a", TEXT)).at(LOWEST)["additionalProperties"] is False


def test_fields_may_be_left_out() -> None:
    assert "required" not in ObjectSchema(Field("a", TEXT, required=False)).at(LOWEST)


def test_the_keyword_required_stands_where_it_is_wanted() -> None:
    fields = (Field("a", TEXT),)
    assert list(ObjectSchema(*fields).at(LOWEST)) == [
        "type",
        "properties",
        "required",
        "additionalProperties",
    ]
    assert list(ObjectSchema(*fields, required_last=True).at(LOWEST))[-1] == "required"


def test_parts_that_changed_are_found_wherever_they_stand() -> None:
    shape = {"items": [{"anyOf": Changed(F.TRAITS, before=1, after=ObjectSchema())}]}
    assert shape_at(shape, LOWEST) == {"items": [{"anyOf": 1}]}
    assert shape_at(shape, HIGHEST)["items"][0]["anyOf"]["type"] == "object"


def test_versions_between_which_nothing_changed_share_a_schema() -> None:
    schemas = Schemas(Changed(F.TRAITS, before=TEXT, after=ObjectSchema()), FormatChecker(), lambda _: True)
    made = {id(schemas.at(version)) for version in VERSIONS}
    assert len(made) == 2
    assert schemas.at(LOWEST) is schemas.at_lowest


def test_a_pattern_ends_where_the_text_ends() -> None:
    schema = Schemas({"pattern": "^A+$|^b$"}, FormatChecker(), lambda _: True).at_lowest
    texts = ("AA", "AA\n", "b\n", "AA\n\n", "AA\nx", "\n", "b")
    assert [text for text in texts if schema.accepts(text)] == ["AA", "b"]
    assert [text for text in texts if schema.violation(text, len(text)) is None] == ["AA", "b"]


def test_uuids_in_the_usual_spelling_need_no_check_in_python() -> None:
    checked: list[str] = []

    def check(text: str) -> bool:
        checked.append(text)
        return is_uuid(text)

    schema = Schema({"type": "array", "items": UUID}, FormatChecker(), check)
    usual = [str(uuid.UUID(int=number)) for number in range(100)]
    assert schema.accepts([*usual, usual[-1].upper()])
    assert checked == []
    assert schema.accepts([usual[1].replace("-", ""), f"{{{usual[1]}}}", f"urn:uuid:{usual[1]}"])
    assert not schema.accepts([usual[1] + "\n"])
    assert not schema.accepts(["x"])
