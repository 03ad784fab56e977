# SPDX-License-Identifier: Apache-2.0

"""Every body at every version, valid and mutated: accepted or refused as by the reference, with the same error text."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plimsoll.api.placement.bodies import inventories, providers
from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.microversion import VERSIONS
from plimsoll.api.placement.routes import ROUTES
from plimsoll.http.problems import Problem
from tests.differential.wording import same_meaning
from tests.schemas.documents import GOOD, bodies
from tests.schemas.reference import ReferenceParsers, needs_the_reference

PER_VERSION = 12

BODIES = {route.name: route.body for route in ROUTES if route.body is not None}

NOT_STORABLE = "JSON does not validate: a number is not finite, or a text is not Unicode."


def our_refusal(body: Body, raw: bytes, minor: int) -> str | None:
    try:
        body.read(raw, VERSIONS[minor])
    except Problem as problem:
        assert problem.status == 400
        return problem.detail
    return None


def test_every_body_is_compared() -> None:
    assert BODIES.keys() == GOOD.keys()


@needs_the_reference
@pytest.mark.parametrize("route", BODIES)
def test_a_body_is_accepted_or_refused_as_by_the_reference(reference: ReferenceParsers, route: str) -> None:
    rng = random.Random(f"bodies of {route}")
    cases: list[dict[str, Any]] = [
        {"route": route, "minor": version.minor, "body": body}
        for version in VERSIONS
        for body in bodies(route, version.minor, rng, PER_VERSION)
    ]
    compared = accepted = refused = 0
    for case, theirs in zip(cases, reference.outcomes(cases), strict=True):
        if theirs["status"] == 404 or (route == "PUT /resource_classes/{name}" and case["minor"] >= 7):
            continue  # this version does not have the route, or no body for it
        if '\\n"' in case["body"]:
            continue  # a name that ends with a line end: the reference accepts it, see docs/differences.md
        compared += 1
        ours = our_refusal(BODIES[route], case["body"].encode("latin-1"), case["minor"])
        if theirs["status"] == 200:
            accepted += 1
            # We also refuse values that the reference accepts and then fails to write or to encode.
            assert ours in (None, NOT_STORABLE), case
        else:
            refused += 1
            assert theirs["status"] == 400, theirs
            assert ours is not None
            assert same_meaning(theirs["detail"], ours), (case, ours, theirs["detail"])
    assert accepted > compared / 10, "too few valid bodies"
    assert refused > compared / 10, "too few invalid bodies"


def test_values_that_no_database_can_store_are_refused() -> None:
    for ratio in ("NaN", "-Infinity"):
        raw = f'{{"total": 1, "resource_class": "VCPU", "allocation_ratio": {ratio}}}'.encode()
        assert our_refusal(inventories.ADD_INVENTORY, raw, 39) == NOT_STORABLE
    assert our_refusal(providers.CREATE_PROVIDER, rb'{"name": "\ud800"}', 39) == NOT_STORABLE


def test_too_deep_a_body_is_refused() -> None:
    nested = our_refusal(providers.CREATE_PROVIDER, b"[" * 100_000, 39)
    assert nested == "Malformed JSON: it is nested too deeply."
