# SPDX-License-Identifier: Apache-2.0

"""The claims of a document with many consumers."""

from __future__ import annotations

import uuid

from plimsoll.api.placement.bodies.allocations import claims_of
from plimsoll.api.placement.microversion import HIGHEST


def test_a_document_is_freed_while_its_claims_are_made_in_its_order() -> None:
    consumers = [str(uuid.UUID(int=number)) for number in (3, 1, 2)]
    given = {
        "allocations": {str(uuid.UUID(int=9)): {"resources": {"VCPU": 1}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    content = {consumer: dict(given) for consumer in consumers}
    assert [claim.consumer for claim in claims_of(content, HIGHEST)] == consumers
    assert content == {}
