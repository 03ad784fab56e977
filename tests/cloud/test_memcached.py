# SPDX-License-Identifier: Apache-2.0

"""An operator's memcached: all services share its validated tokens, and they work without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cloud.keystone import Keystone
from tests.cloud.memcached import Memcached, missing
from tests.cloud.services import Plimsoll, both

PATH = "/resource_providers"
SHORT_TIMEOUT = {"http_request_max_retries": 0, "http_connect_timeout": 5}


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
def test_tokens_in_memcached_are_valid_for_all_services_while_keystone_is_down(
    keystone: Keystone, memcached: Memcached, tmp_path: Path, more: dict[str, object]
) -> None:
    section = keystone.authtoken(memcached_servers=memcached.address, **SHORT_TIMEOUT, **more)
    with both(tmp_path, section) as services:
        ours, theirs, unknown = keystone.token(), keystone.token(), keystone.token()
        before = keystone.validations()
        for _ in range(3):
            assert services.ours.send("GET", PATH, ours).status == 200
            assert services.theirs.send("GET", PATH, theirs).status == 200
        assert keystone.validations() - before == 2
        assert memcached.count() == 2
        keystone.stop()
        try:
            services.ours.stop()
            services.ours.start()
            for token in (ours, theirs):
                assert services.send("GET", PATH, token).status == 200
            assert services.ours.send("GET", PATH, unknown).status == 503
        finally:
            keystone.start()
        assert services.send("GET", PATH, unknown).status == 200


def test_the_service_works_while_memcached_is_down(
    keystone: Keystone, memcached: Memcached, tmp_path: Path
) -> None:
    section = keystone.authtoken(memcached_servers=memcached.address, memcache_pool_dead_retry=1)
    memcached.stop()
    with Plimsoll(tmp_path, section) as service:
        token, before = keystone.token(), keystone.validations()
        for _ in range(2):
            assert service.send("GET", PATH, token).status == 200
            assert service.send("GET", PATH, "garbage").status == 401
        assert keystone.validations() - before == 4, "nothing is remembered: each request asks Keystone"

    memcached.start()
    with Plimsoll(tmp_path, section) as service:
        assert service.send("GET", PATH, token).status == 200
        assert memcached.count() == 1
        memcached.stop()
        for _ in range(2):
            assert service.send("GET", PATH, token).status == 200
