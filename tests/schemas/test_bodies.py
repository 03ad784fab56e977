# SPDX-License-Identifier: Apache-2.0

"""Every body at every version, good and spoilt: our verdict is the reference's, and our words say the same."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plimsoll.api.placement.bodies import (
    aggregates,
    allocations,
    classes,
    inventories,
    providers,
    reshape,
    traits,
)
from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.microversion import VERSIONS
from plimsoll.http.problems import Problem
from tests.differential.wording import same_meaning
from tests.schemas.documents import GOOD, bodies
from tests.schemas.judge import needs_the_reference, reference_verdicts

PER_VERSION = 12

BODIES: dict[str, Body] = {
    "POST /resource_providers": providers.CREATE,
    "PUT /resource_providers/{uuid}": providers.CHANGE,
    "POST /resource_providers/{uuid}/inventories": inventories.ADD,
    "PUT /resource_providers/{uuid}/inventories": inventories.REPLACE,
    "PUT /resource_providers/{uuid}/inventories/{resource_class}": inventories.CHANGE,
    "PUT /resource_providers/{uuid}/aggregates": aggregates.SET,
    "PUT /resource_providers/{uuid}/traits": traits.SET,
    "POST /resource_classes": classes.NAMED,
    "PUT /resource_classes/{name}": classes.NAMED,
    "PUT /allocations/{consumer_uuid}": allocations.ONE_CONSUMER,
    "POST /allocations": allocations.SEVERAL_CONSUMERS,
    "POST /reshaper": reshape.RESHAPE,
}

CANNOT_BE_KEPT = "JSON does not validate: a number is not finite, or a text is not Unicode."


def our_verdict(body: Body, raw: bytes, minor: int) -> str | None:
    try:
        body.read(raw, VERSIONS[minor])
    except Problem as problem:
        assert problem.status == 400
        return problem.detail
    return None


def test_every_body_is_judged() -> None:
    assert BODIES.keys() == GOOD.keys()


@needs_the_reference
@pytest.mark.parametrize("route", BODIES)
def test_the_verdict_on_a_body_is_the_references(route: str) -> None:
    dice = random.Random(f"bodies of {route}")
    cases: list[dict[str, Any]] = [
        {"route": route, "minor": version.minor, "body": body}
        for version in VERSIONS
        for body in bodies(route, version.minor, dice, PER_VERSION)
    ]
    judged = accepted = refused = 0
    for case, theirs in zip(cases, reference_verdicts(cases), strict=True):
        if theirs["status"] == 404 or (route == "PUT /resource_classes/{name}" and case["minor"] >= 7):
            continue  # the route, or a body for it, is not there at this version
        if '\\n"' in case["body"]:
            continue  # a name with a line end at its end: the reference takes it, see docs/differences.md
        judged += 1
        ours = our_verdict(BODIES[route], case["body"].encode("latin-1"), case["minor"])
        if theirs["status"] == 200:
            accepted += 1
            # What the reference lets in and would fail to write or to answer is refused here.
            assert ours in (None, CANNOT_BE_KEPT), case
        else:
            refused += 1
            assert theirs["status"] == 400, theirs
            assert ours is not None
            assert same_meaning(theirs["detail"], ours), (case, ours, theirs["detail"])
    assert accepted > judged / 10, "too few good documents to be worth the name"
    assert refused > judged / 10, "too few bad documents to be worth the name"


def test_what_no_database_could_hold_is_refused() -> None:
    for ratio in ("NaN", "-Infinity"):
        raw = f'{{"total": 1, "resource_class": "VCPU", "allocation_ratio": {ratio}}}'.encode()
        assert our_verdict(inventories.ADD, raw, 39) == CANNOT_BE_KEPT
    assert our_verdict(providers.CREATE, rb'{"name": "\ud800"}', 39) == CANNOT_BE_KEPT


def test_too_deep_a_body_is_refused() -> None:
    nested = our_verdict(providers.CREATE, b"[" * 100_000, 39)
    assert nested == "Malformed JSON: it is nested too deeply."
