# SPDX-License-Identifier: Apache-2.0

"""Reshape: move inventories and the allocations on them between providers, in one transaction."""

from __future__ import annotations

from plimsoll.domain.actor import Actor
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules import reshape as rules
from plimsoll.domain.rules.reshape import Reshape
from plimsoll.service.placement import Placement, no_result


def reshape(placement: Placement, actor: Actor, request: Reshape) -> Refusal | None:
    return placement.write(
        "reshape", actor, lambda draft: rules.reshape(draft, request), then=no_result, claims=request.claims
    )
