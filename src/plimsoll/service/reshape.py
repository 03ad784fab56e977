# SPDX-License-Identifier: Apache-2.0

"""Reshapes: inventories and the allocations on them move between providers at once."""

from __future__ import annotations

from plimsoll.domain.actor import Actor
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules import reshape as rules
from plimsoll.domain.rules.reshape import Reshape
from plimsoll.service.placement import Placement, nothing


def reshape(placement: Placement, actor: Actor, request: Reshape) -> Refusal | None:
    return placement.write(
        "reshape",
        actor,
        lambda draft: rules.reshape(draft, request),
        then=nothing,
        claims=request.claims,
    )
