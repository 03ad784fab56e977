# SPDX-License-Identifier: Apache-2.0

"""Aggregates of a provider. Nobody keeps the time at which it joined one, so the answer is dated now."""

from __future__ import annotations

from plimsoll.service import aggregates, providers
from plimsoll.wire.answers import Answer, document, now
from plimsoll.wire.bodies.aggregates import SET, aggregates_and_generation
from plimsoll.wire.call import Call, accepted
from plimsoll.wire.views import names as views


def show(call: Call) -> Answer:
    provider = accepted(providers.get(call.placement, call.params["uuid"]))
    return document(views.aggregates(provider.aggregates, provider.generation, call.version), now())


def replace(call: Call) -> Answer:
    with call.reading_for_provider():
        uuids, generation = aggregates_and_generation(call.read(SET))
    provider = accepted(
        aggregates.set_for_provider(call.placement, call.actor, call.params["uuid"], uuids, generation)
    )
    return document(views.aggregates(uuids, provider.generation, call.version), now())
