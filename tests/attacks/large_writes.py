# SPDX-License-Identifier: Apache-2.0

"""Points 7 and 12: writes of several megabytes."""

from __future__ import annotations

import json
import uuid
from typing import Any

from tests.attacks.attack import Outcome, Stop, attack, exchange
from tests.attacks.sockets import request
from tests.attacks.target import Target


def claims(host: str, consumers: int) -> dict[str, Any]:
    """A claim of one VCPU for this many new consumers, with long owners: about 800 bytes each."""
    return {
        str(uuid.uuid4()): {
            "allocations": {host: {"resources": {"VCPU": 1}}},
            "project_id": f"{n:0>255}",
            "user_id": f"{n:0>255}",
            "consumer_generation": None,
            "consumer_type": "INSTANCE",
        }
        for n in range(consumers)
    }


def add_wide_host(target: Target, units: int = 1_000_000) -> str:
    """A host with room for many claims."""
    host = str(uuid.uuid4())
    target.add_provider(f"wide-{host}", host, {"VCPU": units})
    return host


@attack("7, 12")
def writes_of_megabytes(target: Target, stop: Stop, outcome: Outcome) -> None:
    """One writer that claims for 7,000 consumers at a time: 5.5 MB."""
    host = add_wide_host(target)
    while not stop.is_set():
        body = json.dumps(claims(host, 7_000)).encode()
        exchange(target, request("POST", "/allocations", body), outcome, seconds=90)
        if stop.wait(0.05):
            return


@attack("new")
def many_aggregates(target: Target, stop: Stop, outcome: Outcome) -> None:
    """One provider in 30,000 aggregates, all of them replaced again and again."""
    host = add_wide_host(target)
    generation = 1
    while not stop.is_set():
        items = [str(uuid.UUID(int=n + 1 + 30_000 * generation)) for n in range(30_000)]
        document = {"aggregates": items, "resource_provider_generation": generation}
        path = f"/resource_providers/{host}/aggregates"
        exchange(target, request("PUT", path, json.dumps(document).encode()), outcome, seconds=90)
        generation += 1
        if stop.wait(0.05):
            return
