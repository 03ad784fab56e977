# SPDX-License-Identifier: Apache-2.0

"""Allocations, claimed, shown and let go."""

from __future__ import annotations

from plimsoll.service import allocations
from plimsoll.wire.answers import Answer, document, now
from plimsoll.wire.bodies.allocations import ONE_CONSUMER, SEVERAL_CONSUMERS, claim_of, claims_of
from plimsoll.wire.call import Call, accepted
from plimsoll.wire.problems import Problem
from plimsoll.wire.queries.usages import allocations_request
from plimsoll.wire.uuids import as_usual
from plimsoll.wire.views import allocations as views


def of_consumer(call: Call) -> Answer:
    found = allocations.of_consumer(call.placement, call.params["consumer_uuid"])
    return document(views.of_consumer(found, call.version), found.modified_at or now())


def of_provider(call: Call) -> Answer:
    found = accepted(allocations.of_provider(call.placement, call.params["uuid"]))
    return document(views.of_provider(found, call.version), found.modified_at or now())


def of_owner(call: Call) -> Answer:
    owner = allocations_request(call.query_string, call.version)
    return document(views.of_owner(allocations.of_owner(call.placement, owner.project, owner.user)), now())


def claim(call: Call) -> Answer:
    given = call.params["consumer_uuid"]
    consumer = as_usual(given)
    if consumer is None:
        raise Problem(400, f"Malformed consumer_uuid: {given}")
    claimed = claim_of(consumer, call.read(ONE_CONSUMER), call.version)
    accepted(allocations.claim(call.placement, call.actor, [claimed]), consumer=consumer)
    return Answer(204)


def claim_for_several(call: Call) -> Answer:
    content = call.read(SEVERAL_CONSUMERS)
    accepted(allocations.claim(call.placement, call.actor, claims_of(content, call.version)))
    return Answer(204)


def release(call: Call) -> Answer:
    accepted(allocations.release(call.placement, call.actor, call.params["consumer_uuid"]))
    return Answer(204)
