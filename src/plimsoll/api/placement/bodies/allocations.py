# SPDX-License-Identifier: Apache-2.0

"""The bodies that claim allocations, for one consumer or for several, and their conversion to claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.patterns import GENERATION, GROUP_SUFFIX, NAME, OWNER, UUID, UUID_KEY
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.schemas import Changed, Field, ObjectSchema, Pause, Plain
from plimsoll.domain.rules.allocations import ANY_GENERATION, Claim

_AMOUNTS: Plain = {
    "type": "object",
    "minProperties": 1,
    "patternProperties": {NAME: {"type": "integer", "minimum": 1}},
    "additionalProperties": False,
}

LISTED: Plain = {
    "type": "array",
    "minItems": 1,
    "items": ObjectSchema(
        Field("resource_provider", ObjectSchema(Field("uuid", UUID), required_last=True)),
        Field("resources", _AMOUNTS),
    ),
}


def _keyed(at_least: int) -> Plain:
    return {
        "type": "object",
        "minProperties": at_least,
        "patternProperties": {
            # Clients send allocations as they have read them, with a generation. It is ignored.
            UUID_KEY: ObjectSchema(
                Field("generation", GENERATION, required=False), Field("resources", _AMOUNTS)
            )
        },
        "additionalProperties": False,
    }


KEYED = _keyed(at_least=1)
KEYED_OR_EMPTY = _keyed(at_least=0)

_MAPPINGS: Plain = {
    "type": "object",
    "minProperties": 1,
    "patternProperties": {GROUP_SUFFIX: {"type": "array", "minItems": 1, "items": UUID}},
}

_CONSUMER = (
    Field("project_id", OWNER, since=F.CONSUMER_OWNER),
    Field("user_id", OWNER, since=F.CONSUMER_OWNER),
    Field(
        "consumer_generation",
        {"type": ["integer", "null"], "additionalProperties": False},
        since=F.CONSUMER_GENERATION,
    ),
    Field("mappings", _MAPPINGS, since=F.MAPPINGS, required=False),
    Field(
        "consumer_type",
        {"type": "string", "pattern": NAME, "minLength": 1, "maxLength": 255},
        since=F.CONSUMER_TYPES,
    ),
)

_PUT = (
    Field("allocations", LISTED, until=F.KEYED_ALLOCATIONS),
    Field("allocations", KEYED, since=F.KEYED_ALLOCATIONS, until=F.CONSUMER_GENERATION),
    Field("allocations", KEYED_OR_EMPTY, since=F.CONSUMER_GENERATION),
    *_CONSUMER,
)
ONE_CONSUMER = Body(
    Changed(F.KEYED_ALLOCATIONS, before=ObjectSchema(*_PUT), after=ObjectSchema(*_PUT, required_last=True))
)


def by_consumer(at_least: int) -> Plain:
    """Return the schema of the allocations of several consumers, keyed by uuid."""
    return {
        "type": "object",
        "minProperties": at_least,
        "additionalProperties": False,
        "patternProperties": {
            UUID_KEY: ObjectSchema(Field("allocations", KEYED_OR_EMPTY), *_CONSUMER, required_last=True)
        },
    }


SEVERAL_CONSUMERS = Body(by_consumer(at_least=1))


def claims_of(content: dict[str, Any], version: Version, pause: Pause) -> list[Claim]:
    """Convert a body to claims. Removes them from `content`, and calls `pause` in between."""
    claims: list[Claim] = []
    for consumer in list(content):
        # A large body takes as much memory as its claims: free each part once it is converted.
        claims.append(claim_of(consumer, content.pop(consumer), version))
        pause()
    return claims


def claim_of(consumer: str, content: Mapping[str, Any], version: Version) -> Claim:
    """Return the claim of one consumer from its part of a body."""
    return Claim(
        consumer,
        _amounts(content["allocations"]),
        project=content.get("project_id"),
        user=content.get("user_id"),
        type=content.get("consumer_type"),
        expected_generation=content["consumer_generation"]
        if version.has(F.CONSUMER_GENERATION)
        else ANY_GENERATION,
    )


def _amounts(allocations: Any) -> dict[str, dict[str, int]]:
    if isinstance(allocations, list):
        allocations = {each["resource_provider"]["uuid"]: each for each in allocations}
    # JSON has one type of number: a client may write 2.0 for 2.
    return {
        provider: {name: int(amount) for name, amount in each["resources"].items()}
        for provider, each in allocations.items()
    }
