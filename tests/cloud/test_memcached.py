# SPDX-License-Identifier: Apache-2.0

"""The operator's memcached: what Keystone said is there for all services, and nothing depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cloud.keystone import Keystone
from tests.cloud.memcached import Memcached, missing
from tests.cloud.services import Plimsoll, both

PATH = "/resource_providers"
IMPATIENT = {"http_request_max_retries": 0, "http_connect_timeout": 5}


@pytest.fixture
def memcached() -> Iterator[Memcached]:
    reason = missing()
    if reason:
        pytest.skip(f"not run: {reason}")
    with Memcached() as running:
        yield running


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"memcache_security_strategy": "MAC", "memcache_secret_key": "s3cret"},
        {"memcache_use_advanced_pool": False},
    ],
    ids=["plain", "signed", "old pool"],
)
def test_tokens_in_memcached_are_good_for_all_services_while_keystone_is_down(
    keystone: Keystone, memcached: Memcached, tmp_path: Path, more: dict[str, object]
) -> None:
    section = keystone.authtoken(memcached_servers=memcached.address, **IMPATIENT, **more)
    with both(tmp_path, section) as services:
        ours, theirs, unknown = keystone.token(), keystone.token(), keystone.token()
        before = keystone.validations()
        for _ in range(3):
            assert services.ours.ask("GET", PATH, ours).status == 200
            assert services.theirs.ask("GET", PATH, theirs).status == 200
        assert keystone.validations() - before == 2
        assert memcached.count() == 2
        keystone.stop()
        try:
            services.ours.stop()
            services.ours.start()
            for token in (ours, theirs):
                assert services.ask("GET", PATH, token).status == 200
            assert services.ours.ask("GET", PATH, unknown).status == 503
        finally:
            keystone.start()
        assert services.ask("GET", PATH, unknown).status == 200


def test_nothing_breaks_without_memcached(keystone: Keystone, memcached: Memcached, tmp_path: Path) -> None:
    section = keystone.authtoken(memcached_servers=memcached.address, memcache_pool_dead_retry=1)
    memcached.stop()
    with Plimsoll(tmp_path, section) as service:
        token, before = keystone.token(), keystone.validations()
        for _ in range(2):
            assert service.ask("GET", PATH, token).status == 200
            assert service.ask("GET", PATH, "garbage").status == 401
        assert keystone.validations() - before == 4, "nothing is remembered: each request asks Keystone"

    memcached.start()
    with Plimsoll(tmp_path, section) as service:
        assert service.ask("GET", PATH, token).status == 200
        assert memcached.count() == 1
        memcached.stop()
        for _ in range(2):
            assert service.ask("GET", PATH, token).status == 200
