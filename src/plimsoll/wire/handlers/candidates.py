# SPDX-License-Identifier: Apache-2.0

"""Allocation candidates."""

from __future__ import annotations

from plimsoll.service import candidates
from plimsoll.wire.answers import Answer, now
from plimsoll.wire.call import Call, accepted
from plimsoll.wire.queries.candidates import candidates_request
from plimsoll.wire.views import candidates as views


def find(call: Call) -> Answer:
    body = candidates.answered(call.placement, call.query_string, call.version, lambda: _found(call))
    return Answer(200, body, modified=now())


def _found(call: Call) -> bytes:
    request = candidates_request(call.query_string, call.version)
    found = accepted(candidates.find(call.placement, request))
    return views.candidates(found, request, call.version)
