# SPDX-License-Identifier: Apache-2.0

"""The reference page has every operation, escapes every text, and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from plimsoll.api.openapi.page import reference_page
from plimsoll.api.openapi.page.html import Html, element, prose
from plimsoll.api.openapi.page.operations import Api, navigation, section
from plimsoll.api.openapi.page.schemas import json_text, limits_of, members, type_of
from plimsoll.api.openapi.placement import placement_document
from plimsoll.api.openapi.v1 import v1_document
from plimsoll.api.placement.microversion import HIGHEST, LOWEST, Version
from plimsoll.api.v1.routes import ROUTES

NASTY = "<script>alert('x')</script>\"&`<b>`"


def page(version: Version = HIGHEST) -> str:
    return reference_page(ROUTES, version, lambda: None).body.decode()


class Elements(HTMLParser):
    """The elements of a page, with balanced tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("input", "meta", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.found if "id" in attributes]


@pytest.mark.parametrize("version", [LOWEST, HIGHEST], ids=str)
def test_every_operation_has_an_element_and_a_link(version: Version) -> None:
    elements = Elements(page(version))
    for document, name in (
        (v1_document(ROUTES, {}, "/"), "v1"),
        (placement_document(version, {}, "/"), "placement"),
    ):
        api = Api(document, name)
        anchors = {api.anchor(operation) for _, _, operation in api.operations()}
        assert anchors <= set(elements.ids())
        assert {f"#{anchor}" for anchor in anchors} <= {
            attributes.get("href") for tag, attributes in elements.found if tag == "a"
        }
    assert len(elements.ids()) == len(set(elements.ids()))


def test_the_page_refers_to_nothing_outside() -> None:
    for tag, attributes in Elements(page()).found:
        assert tag not in ("link", "img", "iframe", "object", "base")
        assert not {"src", "style", "onclick", "onload", "action"} & attributes.keys()
        assert re.fullmatch(
            r"#[\w-]+|openapi\.json|openapi/placement-[\d.]+\.json", attributes.get("href") or "#x"
        )


def test_the_policy_of_the_page_allows_its_own_style_and_script_alone() -> None:
    shown = reference_page(ROUTES, HIGHEST, lambda: None)
    policy = dict(shown.headers)["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", shown.body.decode(), re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy


def test_every_text_of_a_document_is_escaped() -> None:
    """Put markup into every text and every name of a document, and show it."""

    def with_markup(part: Any) -> Any:
        if isinstance(part, dict):
            return {
                f"{key}{NASTY}" if inside_names(key) else key: with_markup(value)
                for key, value in part.items()
            }
        if isinstance(part, list):
            return [with_markup(value) for value in part]
        if isinstance(part, str) and not part.startswith("#/") and part not in ("object", "array", "string"):
            return part + NASTY
        return part

    def inside_names(key: str) -> bool:
        return key.startswith("/") or key in ("uuid", "total", "generation")

    document = with_markup(placement_document(HIGHEST, {}, "/"))
    api = Api(document, "placement")
    shown = navigation(api) + section(api, "openapi.json", lambda: None)
    Elements(shown)
    assert "<script" not in shown
    assert "<b>`" not in shown
    assert "&lt;script&gt;" in shown


def test_elements_escape_texts_and_attributes() -> None:
    shown = element("a", "<&>", None, ["x", Html("<wbr>")], href='"<', hidden=True, open=False, class_="c")
    assert shown == '<a href="&quot;&lt;" hidden class="c">&lt;&amp;&gt;x<wbr></a>'
    assert prose("a `b<` c") == "a <code>b&lt;</code> c"


def test_types_and_conditions_are_shown_in_words() -> None:
    assert (
        type_of({"type": "array", "items": {"type": "string", "format": "uuid"}}) == "array of string (uuid)"
    )
    assert type_of({"type": ["integer", "null"]}) == "integer | null"
    assert type_of({"enum": ["a", 1]}) == '"a" | 1'
    assert type_of({"anyOf": [{"type": "string"}, {"type": "null"}]}) == "string | null"
    assert limits_of({"minimum": 1, "pattern": "^a$"}) == ["pattern ^a$", "≥ 1"]


def test_a_schema_that_is_nested_too_deeply_is_cut() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(1000):
        schema = {"type": "object", "properties": {"a": schema}}
    shown = members(schema)
    assert shown is not None
    assert shown.count("<ul") == 13


def test_json_that_fits_takes_one_line() -> None:
    assert json_text({"a": [1, 2]}) == '{"a": [1, 2]}'
    shown = json_text({"name": "x" * 90, "b": {"c": 1}})
    assert shown == '{\n  "name": "' + "x" * 90 + '",\n  "b": {"c": 1}\n}'
