# SPDX-License-Identifier: Apache-2.0

"""The reference of the Placement API is that of the present routes."""

from __future__ import annotations

import pytest

from plimsoll.api.placement.error_tables import TEMPLATES_BY_ROUTE
from plimsoll.api.placement.microversion import VERSIONS
from plimsoll.api.placement.routes import ROUTES
from plimsoll.api.v1.route import V1Route
from plimsoll.api.v1.routes import ROUTES as V1_ROUTES
from tests.docs import api_reference, v1_reference
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


def test_each_refusal_of_a_route_is_in_its_section() -> None:
    for route, templates in TEMPLATES_BY_ROUTE.items():
        path = route.partition(" ")[2]
        text = (
            PAGES[f"{api_reference.page_of(path)}.md"].partition(f"## `{route}`\n")[2].partition("\n## ")[0]
        )
        for template in templates.values():
            assert f"| {template.status} | [`{template.code}`]" in text, f"{route} lacks {template}"


def test_the_page_of_the_plimsoll_api_is_up_to_date() -> None:
    assert v1_reference.PAGE.read_text() == v1_reference.page(), "`make docs` writes the page again"


@pytest.mark.parametrize("route", V1_ROUTES, ids=lambda route: route.path)
def test_the_page_of_the_plimsoll_api_has_each_route_with_its_parameters(route: V1Route) -> None:
    section = v1_reference.page().partition(f"## `{route.method} {route.path}`\n")[2].partition("\n## ")[0]
    assert [each.name for each in route.parameters if f"| `{each.name}` | query |" not in section] == []
    assert all(f"**{status}**" in section for status in route.returns if status not in (304, 404))


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
