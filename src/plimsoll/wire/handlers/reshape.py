# SPDX-License-Identifier: Apache-2.0

"""Reshapes."""

from __future__ import annotations

from plimsoll.service import reshape as service
from plimsoll.wire.answers import Answer
from plimsoll.wire.bodies.reshape import RESHAPE, reshape_of
from plimsoll.wire.call import Call, accepted


def reshape(call: Call) -> Answer:
    request = reshape_of(call.read(RESHAPE), call.version)
    accepted(service.reshape(call.placement, call.actor, request))
    return Answer(204)
