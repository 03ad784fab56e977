# SPDX-License-Identifier: Apache-2.0

"""During each attack a second client of the same worker is answered, and afterwards the worker is the same.

Answers are counted. How late they come is printed by `python -m tests.attacks`.
"""

from __future__ import annotations

import pytest

from tests.attacks.attack import Attack, under_way
from tests.attacks.bystander import BystanderThread
from tests.attacks.every import ATTACKS
from tests.attacks.target import Target

ANSWERS = 60
"""The second client has to be answered this many times while the attack goes on,"""
SECONDS = 12.0
"""before the test gives up."""

ELSEWHERE = {"keystone-hangs", "reloads"}
"""Attacks on a service that is set up in another way, or that replace the worker."""


def _parameters() -> list[object]:
    return [pytest.param(attack, id=name) for name, attack in ATTACKS.items() if name not in ELSEWHERE]


@pytest.mark.parametrize("attack", _parameters())
def test_a_second_client_is_answered_during(attack: Attack, target: Target) -> None:
    worker, exceptions = target.worker, target.exceptions()
    with (
        under_way(attack, target, SECONDS) as outcome,
        BystanderThread(target.port, target.host) as bystander,
    ):
        is_answered = bystander.wait_for(ANSWERS, SECONDS)
    assert is_answered, f"{bystander.answers} answers in {SECONDS} s"
    assert bystander.experience.is_served, bystander.experience
    assert outcome.unexpected() == {}
    assert target.workers_now() == [worker]
    assert target.exceptions() == exceptions, target.log()[-3000:]
    assert target.ask("GET", f"/resource_providers/{target.host}").status == 200
