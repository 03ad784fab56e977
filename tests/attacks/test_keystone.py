# SPDX-License-Identifier: Apache-2.0

"""Point 10: while Keystone hangs, known tokens and health are served, and one token is validated once."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.attacks.attack import Outcome, exchange, under_way
from tests.attacks.bystander import BystanderThread
from tests.attacks.every import ATTACKS
from tests.attacks.keystone import KNOWN, HangingKeystone
from tests.attacks.sockets import request
from tests.attacks.target import Target


@pytest.fixture(scope="module")
def keystone() -> Iterator[HangingKeystone]:
    with HangingKeystone() as keystone:
        yield keystone


@pytest.fixture(scope="module")
def target_with_keystone(
    keystone: HangingKeystone, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    target = Target(tmp_path_factory.mktemp("target_with_keystone"), settings=keystone.settings())
    target.token = KNOWN
    with target:
        target.add_provider("host", target.host, {"VCPU": 8})
        yield target


def test_known_tokens_and_health_are_served_while_unknown_tokens_wait(target_with_keystone: Target) -> None:
    with (
        under_way(ATTACKS["keystone-hangs"], target_with_keystone, 12),
        BystanderThread(target_with_keystone.port, target_with_keystone.host, KNOWN) as bystander,
    ):
        assert bystander.wait_for(60, 12), f"{bystander.responses} responses"
    assert bystander.experience.is_served, bystander.experience


def test_requests_with_one_unknown_token_share_a_validation(
    target_with_keystone: Target, keystone: HangingKeystone
) -> None:
    outcome = Outcome()
    content = request("GET", "/resource_providers", token="shared-token")
    threads = [
        threading.Thread(
            target=exchange,
            args=(target_with_keystone, content, outcome),
            kwargs={"seconds": 30.0},
            daemon=True,
        )
        for _ in range(5)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(40)
    assert outcome.statuses == {503: 5}
    assert keystone.validated["shared-token"] == 1
