# SPDX-License-Identifier: Apache-2.0

"""Build HTML from elements. Every text and every attribute is escaped, unless it is `Html` already."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape


class Html(str):
    """Text that is HTML."""

    __slots__ = ()


Node = str | Iterable["Node"] | None
_VOID = frozenset({"input", "meta", "wbr"})
_CODE = re.compile("`([^`]+)`")


def html_of(node: Node) -> Html:
    """Return a text escaped, HTML as it is, and the nodes of an iterable joined; nothing for None."""
    if node is None:
        return Html()
    if isinstance(node, Html):
        return node
    if isinstance(node, str):
        return Html(escape(node))
    return Html("".join(map(html_of, node)))


def element(tag: str, *children: Node, **attributes: str | bool | None) -> Html:
    """Return an element. `class_` and `for_` are the attributes without the underscore; False and None leave one out."""
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(value)}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{html_of(children)}</{tag}>")


def prose(text: str) -> Html:
    """Return a text with the parts in backquotes as code."""
    parts = _CODE.split(text)
    return html_of(element("code", part) if number % 2 else part for number, part in enumerate(parts))
