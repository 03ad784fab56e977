# SPDX-License-Identifier: Apache-2.0

"""The whole reference page, with the headers that let a browser load nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from plimsoll.api.openapi.examples import placement_examples, v1_examples
from plimsoll.api.openapi.page.html import Html, element
from plimsoll.api.openapi.page.operations import Api, navigation, section
from plimsoll.api.openapi.placement import placement_document
from plimsoll.api.openapi.v1 import v1_document
from plimsoll.api.placement.microversion import VERSIONS, Version
from plimsoll.api.v1.route import V1Route
from plimsoll.bounded_cache import BoundedCache

_ASSETS = Path(__file__).parent / "assets"
_STYLE = (_ASSETS / "page.css").read_text()
_SCRIPT = (_ASSETS / "page.js").read_text()
_TITLE = "Plimsoll API reference"


def _source(text: str) -> str:
    """Return the source expression of a Content-Security-Policy that allows this text inline."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


_POLICY = (
    f"default-src 'none'; style-src {_source(_STYLE)}; script-src {_source(_SCRIPT)}; base-uri 'none';"
    " form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = (
    ("content-security-policy", _POLICY),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
)


class ReferencePage(NamedTuple):
    body: bytes
    etag: str
    headers: tuple[tuple[str, str], ...] = _HEADERS


_cache: BoundedCache[str, ReferencePage] = BoundedCache(max_entries=8, max_bytes=8 << 20)


def reference_page(routes: Iterable[V1Route], version: Version, pause: Callable[[], object]) -> ReferencePage:
    """Return the page with the Placement API at this version. The last few pages are cached."""
    page = _cache.get(version.text)
    if page is None:
        body = _document(routes, version, pause).encode()
        page = ReferencePage(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
        _cache.put(version.text, page)
    return page


def _document(routes: Iterable[V1Route], version: Version, pause: Callable[[], object]) -> Html:
    v1 = Api(v1_document(routes, v1_examples(), "/", pause), "v1")
    placement = Api(placement_document(version, placement_examples(version), "/", pause), "placement")
    page = element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", _TITLE),
            element("style", Html(_STYLE)),
        ),
        element(
            "body",
            element("header", element("h1", _TITLE), _controls(version)),
            element("nav", navigation(v1), navigation(placement), aria_label="Operations"),
            element(
                "main",
                section(v1, "openapi.json", pause),
                section(placement, f"openapi/placement-{version}.json", pause),
                element("p", "No operation has this text.", id="nothing", hidden=True),
            ),
            element("script", Html(_SCRIPT)),
        ),
        lang="en",
    )
    return Html(f"<!doctype html>\n{page}")


def _controls(shown: Version) -> Html:
    options = [
        element("option", version.text, value=version.text, selected=version is shown)
        for version in reversed(VERSIONS)
    ]
    return element(
        "form",
        element(
            "label",
            "Search ",
            element("input", type="search", name="q", id="q", placeholder="path, name or text"),
        ),
        element("label", "Microversion ", element("select", options, name="version", id="version")),
        element("button", "Show"),
        role="search",
    )
