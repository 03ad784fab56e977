# SPDX-License-Identifier: Apache-2.0

"""Show the operations of an OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from plimsoll.api.openapi.page.html import Html, element, html_of, prose
from plimsoll.api.openapi.page.schemas import json_text, members, value_line
from plimsoll.api.openapi.placement import EXAMPLE_REQUEST

Document = dict[str, Any]
_FIRST_ERROR = "4"


class Api:
    """One document with the beginning of the ids of its operations in the page."""

    def __init__(self, document: Document, name: str) -> None:
        self.document = document
        self.name = name

    def operations(self) -> Iterator[tuple[str, str, Document]]:
        """Yield method, path and operation."""
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield method.upper(), path, operation

    def anchor(self, operation: Document) -> str:
        return f"{self.name}-{operation['operationId']}"

    def resolved(self, part: Any) -> Any:
        """Return the part that a reference names, or the part itself."""
        while isinstance(part, dict) and "$ref" in part:
            names = part["$ref"].split("/")[1:]
            part = self.document
            for name in names:
                part = part[name]
        return part


def navigation(api: Api) -> Html:
    by_tag: dict[str, list[Html]] = {}
    for method, path, operation in api.operations():
        link = element(
            "a",
            *(element("span", method, class_=f"method {method.lower()}"), " ", breakable(path)),
            href=f"#{api.anchor(operation)}",
            title=operation["summary"],
        )
        by_tag.setdefault(operation["tags"][0], []).append(element("li", link))
    return html_of(
        [element("h3", api.document["info"]["title"])]
        + [html_of([element("h4", tag), element("ul", links)]) for tag, links in by_tag.items()]
    )


def breakable(path: str) -> Html:
    """Return a path that may be broken into lines before each slash."""
    first, *others = path.split("/")
    return html_of([first, [[element("wbr"), f"/{part}"] for part in others]])


def section(api: Api, link: str, pause: Callable[[], object]) -> Html:
    """Show an API with its operations. `pause` is called after each operation."""
    info = api.document["info"]
    shown = []
    for method, path, operation in api.operations():
        shown.append(_operation(api, method, path, operation))
        pause()
    errors = api.document["components"]["schemas"]["errors"]
    return element(
        "section",
        element("h2", info["title"]),
        element("p", info["summary"], " ", element("a", "OpenAPI document", href=link)),
        element("p", prose(info["description"])),
        element(
            "details", element("summary", "The document of all errors"), members(errors), class_="errors"
        ),
        shown,
        id=api.name,
    )


def _operation(api: Api, method: str, path: str, operation: Document) -> Html:
    summary = element(
        "summary",
        element("span", method, class_=f"method {method.lower()}"),
        *(" ", element("code", breakable(path), class_="path"), " "),
        element("span", operation["summary"], class_="short"),
    )
    body = operation.get("requestBody")
    description = operation.get("description")
    return element(
        "details",
        summary,
        element("p", prose(description)) if description else None,
        _parameters(operation.get("parameters", [])),
        _request(body["content"]["application/json"], operation.get(EXAMPLE_REQUEST)) if body else None,
        _responses(api, operation),
        id=api.anchor(operation),
        class_="operation",
    )


def _parameters(parameters: list[Document]) -> Html | None:
    if not parameters:
        return None
    rows = [
        element(
            "li",
            *(element("b", each["name"]), " ", element("span", each["in"], class_="place"), " "),
            value_line(_described(each), required=each.get("required", False)),
            members(each["schema"]),
        )
        for each in parameters
    ]
    return html_of([element("h4", "Parameters"), element("ul", rows, class_="members")])


def _described(parameter: Document) -> Document:
    """Return the schema of a parameter with the description of the parameter."""
    description = parameter.get("description") or parameter["schema"].get("description", "")
    return {**parameter["schema"], "description": description}


def _request(content: Document, line: str | None) -> Html:
    schema = content["schema"]
    return html_of(
        [
            element("h4", "Body"),
            element("p", value_line(schema, required=True)),
            members(schema),
            _example(content, line),
        ]
    )


def _example(content: Document, line: str | None) -> Html | None:
    """Show an example after the line of its request."""
    if "example" not in content:
        return None
    lines = ([line] if line else []) + [json_text(content["example"])]
    return element("pre", "\n\n".join(lines), tabindex="0")


def _responses(api: Api, operation: Document) -> Html:
    good = []
    errors = []
    # The example of a request shows its line.
    line = None if "requestBody" in operation else operation.get(EXAMPLE_REQUEST)
    for status, reference in operation["responses"].items():
        response = api.resolved(reference)
        title = [element("b", status), " ", response["description"]]
        if status >= _FIRST_ERROR:
            errors.append(element("li", title))
            continue
        good.append(element("p", title))
        for media_type, content in response.get("content", {}).items():
            schema = api.resolved(content["schema"])
            good.append(element("p", element("code", media_type), " ", value_line(schema, required=False)))
            good.append(html_of([_example(content, line), members(schema)]))
    return html_of(
        [
            element("h4", "Responses"),
            good,
            element("details", element("summary", "Errors"), element("ul", errors), class_="errors"),
        ]
    )
