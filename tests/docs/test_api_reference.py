# SPDX-License-Identifier: Apache-2.0

"""The reference of the Placement API is that of the present routes."""

from __future__ import annotations

import pytest

from plimsoll.api.placement.microversion import VERSIONS
from plimsoll.api.placement.routes import ROUTES
from tests.docs import api_reference
from tests.docs.schema_members import Member, members_of

PAGES = api_reference.pages()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    assert (api_reference.DIRECTORY / name).read_text() == PAGES[name], "`make docs` writes the pages again"


def test_each_route_has_a_section() -> None:
    sections = "\n".join(PAGES.values())
    missing = [
        route.name for route in ROUTES if route.path and f"## `{route.method} {route.path}`" not in sections
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("minors", "text"),
    [
        (range(40), "all"),
        (range(8, 40), "since 1.8"),
        (range(10, 25), "1.10 to 1.24"),
        ([3, 5, 6], "1.3, 1.5 to 1.6"),
    ],
)
def test_versions_are_shown_as_ranges(minors: range | list[int], text: str) -> None:
    assert api_reference.span([VERSIONS[minor] for minor in minors]) == text


def test_members_are_listed_by_path_with_type_and_need() -> None:
    schema = {
        "type": "object",
        "required": ["inventories"],
        "properties": {
            "inventories": {
                "type": "object",
                "patternProperties": {"^[A-Z]+$": {"$ref": "#/components/schemas/one"}},
            },
            "traits": {"type": "array", "items": {"type": "string"}},
            "parent": {"type": ["string", "null"], "description": "The parent."},
        },
    }
    one = {"type": "object", "properties": {"total": {"type": "integer"}}}
    assert members_of(schema, {"schemas": {"one": one}}) == {
        "inventories": Member("object", required=True),
        "inventories.{class}": Member("object", required=False),
        "inventories.{class}.total": Member("integer", required=False),
        "traits": Member("array of string", required=False),
        "parent": Member("string or null", required=False, description="The parent."),
    }
