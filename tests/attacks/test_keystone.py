# SPDX-License-Identifier: Apache-2.0

"""Point 10: while Keystone hangs, known tokens and health are served, and one token is validated once. Sign-ins are limited."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from plimsoll.access.sign_in import ATTEMPTS
from tests.attacks.attack import Outcome, exchange, under_way
from tests.attacks.bystander import BystanderThread
from tests.attacks.every import ATTACKS
from tests.attacks.keystone import KNOWN, HangingKeystone, sign_in
from tests.attacks.measure import WITH_KEYSTONE
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


@pytest.mark.parametrize("name", sorted(WITH_KEYSTONE))
def test_known_tokens_and_health_are_served_while_keystone_hangs(
    name: str, target_with_keystone: Target
) -> None:
    with (
        under_way(ATTACKS[name], target_with_keystone, 12),
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


SPELLINGS = ["ada", "Ada", "ADA", "ada ", " ada", "\u00e1da", "a\u0308da", "\uff41da"]
"""Names that the database of a Keystone may compare as equal."""


def test_attempts_of_one_user_are_limited_also_at_the_same_time(
    target_with_keystone: Target, keystone: HangingKeystone
) -> None:
    keystone.sign_in_seconds = 0.2
    outcome = Outcome()
    contents = [sign_in(each) for each in SPELLINGS * 4]
    with ThreadPoolExecutor(len(contents)) as pool:
        for each in [pool.submit(exchange, target_with_keystone, content, outcome) for content in contents]:
            each.result(60)
    assert outcome.statuses == {401: ATTEMPTS, 429: len(contents) - ATTEMPTS}
    assert len([name for name in keystone.sign_ins if name in SPELLINGS]) == ATTEMPTS


def test_texts_of_a_sign_in_reach_keystone_as_they_are_and_nothing_else(
    target_with_keystone: Target, keystone: HangingKeystone
) -> None:
    keystone.sign_in_seconds = 0.0
    names = [
        "eve\r\nx-subject-token: known-token",
        "http://127.0.0.1:1/",
        "../../v3/users",
        "%0d%0a",
        "\u2028",
    ]
    outcome = Outcome()
    for name in names:
        exchange(target_with_keystone, sign_in(name, project=name, auth_url=name), outcome)
    assert outcome.statuses == {401: len(names)}
    assert [name for name in keystone.sign_ins if name in names] == names
    assert outcome.longest < 1_000
    assert "wrong" not in target_with_keystone.log()  # the password
