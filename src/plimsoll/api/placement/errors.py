# SPDX-License-Identifier: Apache-2.0

"""The error response of a refusal, by the tables of `error_tables`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from plimsoll.api.placement.error_tables import BASE_TEXTS, DEFAULT_TEMPLATES, TEMPLATES_BY_ROUTE
from plimsoll.api.placement.features import Feature
from plimsoll.domain import refusals as r
from plimsoll.domain.refusals import Refusal
from plimsoll.http.problems import LONGEST_QUOTE, Problem, shorten


class Refused(Exception):
    """Raised by a handler for a refusal of the service; `facts` are further fields for the error template."""

    def __init__(self, refusal: Refusal, facts: Mapping[str, Any]) -> None:
        super().__init__(refusal)
        self.refusal = refusal
        self.facts = facts


def problem_of(refused: Refused, route: str, params: Mapping[str, str]) -> Problem:
    """Return the error response of a refusal. `route` is a key of `TEMPLATES_BY_ROUTE`."""
    refusal = refused.refusal
    kind = type(refusal)
    template = TEMPLATES_BY_ROUTE.get(route, {}).get(kind) or DEFAULT_TEMPLATES[kind]
    facts = {name: _quoted(fact) for name, fact in {**params, **asdict(refusal), **refused.facts}.items()}
    facts["base"] = base_text(refusal, facts)
    detail = template.text.format_map(facts)
    if template.status == _BAD_REQUEST:
        detail = f"{detail.rstrip('.')}. {advice}" if (advice := _how_to_create(refusal)) else detail
    return Problem(template.status, detail, template.code, omit_vary=template.omit_vary)


_BAD_REQUEST = 400
_CUSTOM = "CUSTOM_"


def _how_to_create(refusal: Refusal) -> str:
    """Return how to create the missing custom trait or class; empty for any other refusal."""
    match refusal:
        case r.ResourceClassMissing(name) if name.startswith(_CUSTOM):
            path, feature = f"/resource_classes/{name}", Feature.ENSURE_RESOURCE_CLASS
        case r.TraitsMissing((name, *_)) if name.startswith(_CUSTOM):
            path, feature = f"/traits/{name}", Feature.TRAITS
        case _:
            return ""
    return f"Create it with PUT {shorten(path, LONGEST_QUOTE)} (since microversion {feature.version})."


def base_text(refusal: Refusal, facts: Mapping[str, Any]) -> str:
    match refusal:
        case r.StaleConsumerGeneration(_, actual, given):
            expected, fact = str(actual), f"The consumer's generation is {actual}"
            if actual is None:
                expected, fact = "null", "The consumer does not exist"
            conflict = f"consumer generation conflict - expected {expected} but got {given}."
            return f"{conflict} {fact}: read it again and retry."
        case r.InventoryReservesTooMuch():
            limit = "greater than" if refusal.all_allowed else "greater than or equal to"
            return (
                f"Invalid inventory for '{refusal.resource_class}' on resource provider '{refusal.provider}'."
                f" The reserved value is {limit} total."
            )
    return BASE_TEXTS.get(type(refusal), "").format_map(facts)


def _quoted(fact: object) -> object:
    """Return a fact as the texts of errors show it: names with commas between them, long texts shortened."""
    text = ", ".join(fact) if isinstance(fact, tuple) else fact
    return shorten(text, LONGEST_QUOTE) if isinstance(text, str) else text
