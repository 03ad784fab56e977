# SPDX-License-Identifier: Apache-2.0

"""The caches of the access layer are bounded in bytes, because clients choose their keys."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import pytest
from oslo_config import cfg

from plimsoll.access import Policy
from plimsoll.access.identity import caller_from_environ
from plimsoll.access.loopback import remote_address
from plimsoll.config import loader

LONG = 100_000
TIMES = 200


def long_text(number: int) -> str:
    return f"{number:06}" * (LONG // 6)


def named_by_headers(policy: Policy, number: int) -> None:
    text = long_text(number)
    assert caller_from_environ({"HTTP_X_USER_ID": "u", "HTTP_X_ROLES": text}).roles == (text,)


def connected_from(policy: Policy, number: int) -> None:
    text = long_text(number)
    assert remote_address({"REMOTE_ADDR": text}) == text


def judged_by_target(policy: Policy, number: int) -> None:
    caller = caller_from_environ({"HTTP_X_USER_ID": "u", "HTTP_X_PROJECT_ID": "p", "HTTP_X_ROLES": "reader"})
    assert not policy.allows("placement:usages", caller, {"project_id": long_text(number)})


def judged_by_caller(policy: Policy, number: int) -> None:
    caller = caller_from_environ({"HTTP_X_USER_ID": long_text(number), "HTTP_X_PROJECT_ID": "p"})
    assert not policy.allows("placement:usages", caller)


@pytest.mark.parametrize("send", [named_by_headers, connected_from, judged_by_target, judged_by_caller])
def test_long_texts_of_clients_do_not_stay_in_memory(send: Callable[[Policy, int], None]) -> None:
    conf = cfg.ConfigOpts()
    loader.register(conf)
    conf([], default_config_files=[])
    policy = Policy(conf)
    send(policy, 0)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(1, TIMES + 1):
            send(policy, number)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < TIMES * LONG / 20
