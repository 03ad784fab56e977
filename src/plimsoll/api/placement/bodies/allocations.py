# SPDX-License-Identifier: Apache-2.0

"""Allocations as they are claimed, by one consumer or by several, and what they say freed from versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.patterns import (
    GENERATION,
    GROUP_SUFFIX,
    NAME,
    OWNER,
    UUID,
    UUID_KEY,
)
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.schemas import (
    Changed,
    Field,
    ObjectSchema,
    Plain,
)
from plimsoll.domain.rules.allocations import UNGUARDED, Claim
from plimsoll.runtime.scheduling import Pace

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
            # Clients send back what they were shown, so a generation may be there. It is not looked at.
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
    """The allocations of several consumers, keyed by their uuids."""
    return {
        "type": "object",
        "minProperties": at_least,
        "additionalProperties": False,
        "patternProperties": {
            UUID_KEY: ObjectSchema(Field("allocations", KEYED_OR_EMPTY), *_CONSUMER, required_last=True)
        },
    }


SEVERAL_CONSUMERS = Body(by_consumer(at_least=1))


def claims_of(content: dict[str, Any], version: Version) -> list[Claim]:
    """The claims of several consumers, which are taken out of the content. Other requests run meanwhile."""
    claims: list[Claim] = []
    pause = Pace()
    for consumer in list(content):
        # A large document takes as much memory as its claims: what was read is freed.
        claims.append(claim_of(consumer, content.pop(consumer), version))
        pause()
    return claims


def claim_of(consumer: str, content: Mapping[str, Any], version: Version) -> Claim:
    """What a consumer claims, as its part of a body says."""
    return Claim(
        consumer,
        _amounts(content["allocations"]),
        project=content.get("project_id"),
        user=content.get("user_id"),
        type=content.get("consumer_type"),
        guard=content["consumer_generation"] if version.has(F.CONSUMER_GENERATION) else UNGUARDED,
    )


def _amounts(allocations: Any) -> dict[str, dict[str, int]]:
    if isinstance(allocations, list):
        allocations = {each["resource_provider"]["uuid"]: each for each in allocations}
    # JSON knows one kind of number: a client may write 2.0 for 2.
    return {
        provider: {name: int(amount) for name, amount in each["resources"].items()}
        for provider, each in allocations.items()
    }
