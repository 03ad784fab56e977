# SPDX-License-Identifier: Apache-2.0

"""Schemas that depend on the version."""

import uuid

from jsonschema import FormatChecker

from plimsoll.api.placement.bodies.patterns import UUID
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import HIGHEST, LOWEST, VERSIONS
from plimsoll.api.placement.schemas import Changed, Field, ObjectSchema, Schema, Schemas, shape_at
from plimsoll.api.placement.uuids import is_uuid

TEXT = {"type": "string"}


def test_a_field_exists_from_one_feature_until_another() -> None:
    record = ObjectSchema(Field("old", TEXT, until=F.TRAITS), Field("new", TEXT, since=F.TRAITS))
    for version in VERSIONS:
        name = "new" if version.has(F.TRAITS) else "old"
        assert record.at(version)["properties"] == {name: TEXT}
        assert record.at(version)["required"] == [name]


def test_an_object_refuses_other_members() -> None:
    assert ObjectSchema(Field("a", TEXT)).at(LOWEST)["additionalProperties"] is False


def test_fields_may_be_left_out() -> None:
    assert "required" not in ObjectSchema(Field("a", TEXT, required=False)).at(LOWEST)


def test_the_position_of_the_keyword_required_can_be_chosen() -> None:
    fields = (Field("a", TEXT),)
    assert list(ObjectSchema(*fields).at(LOWEST)) == [
        "type",
        "properties",
        "required",
        "additionalProperties",
    ]
    assert list(ObjectSchema(*fields, required_last=True).at(LOWEST))[-1] == "required"


def test_changed_parts_are_expanded_at_any_depth() -> None:
    shape = {"items": [{"anyOf": Changed(F.TRAITS, before=1, after=ObjectSchema())}]}
    assert shape_at(shape, LOWEST) == {"items": [{"anyOf": 1}]}
    assert shape_at(shape, HIGHEST)["items"][0]["anyOf"]["type"] == "object"


def test_versions_with_equal_schemas_share_one() -> None:
    schemas = Schemas(Changed(F.TRAITS, before=TEXT, after=ObjectSchema()), FormatChecker(), lambda _: True)
    made = {id(schemas.at(version)) for version in VERSIONS}
    assert len(made) == 2
    assert schemas.at(LOWEST) is schemas.at_lowest


def test_the_dollar_of_a_pattern_matches_only_at_the_end() -> None:
    schema = Schemas({"pattern": "^A+$|^b$"}, FormatChecker(), lambda _: True).at_lowest
    texts = ("AA", "AA\n", "b\n", "AA\n\n", "AA\nx", "\n", "b")
    assert [text for text in texts if schema.accepts(text)] == ["AA", "b"]
    assert [text for text in texts if schema.violation(text, len(text)) is None] == ["AA", "b"]


def test_canonical_uuids_are_validated_without_python() -> None:
    checked: list[str] = []

    def check(text: str) -> bool:
        checked.append(text)
        return is_uuid(text)

    schema = Schema({"type": "array", "items": UUID}, FormatChecker(), check)
    canonical = [str(uuid.UUID(int=number)) for number in range(100)]
    assert schema.accepts([*canonical, canonical[-1].upper()])
    assert checked == []
    assert schema.accepts([canonical[1].replace("-", ""), f"{{{canonical[1]}}}", f"urn:uuid:{canonical[1]}"])
    assert not schema.accepts([canonical[1] + "\n"])
    assert not schema.accepts(["x"])
