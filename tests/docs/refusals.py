# SPDX-License-Identifier: Apache-2.0

"""The refusals of each route of the Placement API, with status, code and text, from the table of error templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from plimsoll.api.placement.error_tables import (
    BASE_TEXTS,
    DEFAULT_TEMPLATES,
    TEMPLATES_BY_ROUTE,
    ErrorTemplate,
)
from plimsoll.domain import refusals as r

COMPUTED_TEXTS: Mapping[type[r.Refusal], str] = {
    r.StaleConsumerGeneration: "consumer generation conflict - expected {actual} but got {given}.",
    r.InventoryReservesTooMuch: "Invalid inventory for '{resource_class}' on resource provider '{provider}'."
    " The reserved value is greater than total.",
}
GENERATIONS: Mapping[str, type[r.Refusal]] = {
    "resource_provider_generation": r.StaleProviderGeneration,
    "consumer_generation": r.StaleConsumerGeneration,
}
"""The refusals that follow from a member of the request's body."""
UNGUARDED = {"POST /resource_providers/{uuid}/inventories"}
"""Routes that accept a generation and ignore it."""


class RefusalRow(NamedTuple):
    status: int
    code: str
    text: str


def refusals_of(route: str, members: set[str]) -> list[RefusalRow]:
    """Return the refusals of a route. `members` are the names in its request body."""
    templates = dict(_defaults(route, members)) | dict(TEMPLATES_BY_ROUTE.get(route, {}))
    rows = {_row(kind, template) for kind, template in templates.items()}
    return sorted(rows, key=lambda row: (row.status, row.code, row.text))


def _defaults(route: str, members: set[str]) -> Iterator[tuple[type[r.Refusal], ErrorTemplate]]:
    path = route.partition(" ")[2]
    kinds = [kind for member, kind in GENERATIONS.items() if member in members and route not in UNGUARDED]
    if path.startswith("/resource_providers/{uuid}"):
        kinds.append(r.ProviderMissing)
    if path == "/resource_classes/{name}":
        kinds.append(r.ResourceClassMissing)
    for kind in kinds:
        yield kind, DEFAULT_TEMPLATES[kind]


def _row(kind: type[r.Refusal], template: ErrorTemplate) -> RefusalRow:
    base = COMPUTED_TEXTS.get(kind) or BASE_TEXTS.get(kind, "")
    text = template.text.replace("{base}", base)
    return RefusalRow(template.status, template.code, re.sub(r"\{(\w+)[^}]*\}", r"{\1}", text))


def table(route: str, members: set[str]) -> Iterator[str]:
    """Yield the lines of the table of a route; none if it has no refusals of its own."""
    rows: list[Any] = refusals_of(route, members)
    if not rows:
        return
    yield "| refused with | code | text |"
    yield "|---|---|---|"
    for status, code, text in rows:
        yield f"| {status} | [`{code}`](../errors.md) | {text.replace('|', chr(92) + '|')} |"
    yield ""
