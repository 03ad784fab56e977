# SPDX-License-Identifier: Apache-2.0

"""The claims of a body with many consumers."""

from __future__ import annotations

import uuid

from plimsoll.api.placement.bodies.allocations import claims_of
from plimsoll.api.placement.microversion import HIGHEST


def test_each_part_of_a_body_is_freed_once_its_claim_is_made() -> None:
    consumers = [str(uuid.UUID(int=number)) for number in (3, 1, 2)]
    given = {
        "allocations": {str(uuid.UUID(int=9)): {"resources": {"VCPU": 1}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    content = {consumer: dict(given) for consumer in consumers}
    left: list[int] = []
    claims = claims_of(content, HIGHEST, pause=lambda: left.append(len(content)))
    assert [claim.consumer for claim in claims] == consumers
    assert left == [2, 1, 0], "each is removed before the next, with a pause in between"
    assert content == {}
