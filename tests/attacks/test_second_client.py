# SPDX-License-Identifier: Apache-2.0

"""During each attack a second client of the same worker is served, and the worker is not replaced.

Responses are counted. `python -m tests.attacks` prints their latency.
"""

from __future__ import annotations

import pytest

from tests.attacks.attack import Attack, under_way
from tests.attacks.bystander import BystanderThread
from tests.attacks.every import ATTACKS
from tests.attacks.measure import WITH_KEYSTONE
from tests.attacks.target import Target

RESPONSES = 60
"""The second client must get this many responses during the attack,"""
SECONDS = 12.0
"""before the test gives up."""

EXCLUDED = {*WITH_KEYSTONE, "reloads"}
"""Attacks on a service that is set up in another way, or that replace the worker."""


def _parameters() -> list[object]:
    return [pytest.param(attack, id=name) for name, attack in ATTACKS.items() if name not in EXCLUDED]


@pytest.mark.parametrize("attack", _parameters())
def test_a_second_client_is_served_during(attack: Attack, target: Target) -> None:
    worker, exceptions = target.worker, target.exceptions()
    with (
        under_way(attack, target, SECONDS) as outcome,
        BystanderThread(target.port, target.host) as bystander,
    ):
        has_response = bystander.wait_for(RESPONSES, SECONDS)
    assert has_response, f"{bystander.responses} responses in {SECONDS} s"
    assert bystander.experience.is_served, bystander.experience
    assert outcome.unexpected() == {}
    assert target.worker_pids() == [worker]
    assert target.exceptions() == exceptions, target.log()[-3000:]
    assert target.send("GET", f"/resource_providers/{target.host}").status == 200
