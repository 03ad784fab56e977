# SPDX-License-Identifier: Apache-2.0

"""One service for the attacks of a test process, started again if an attack has stopped it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attacks.sockets import Closed, TooLate, request
from tests.attacks.target import Target

SETTINGS = {
    "OS_PLIMSOLL__SEARCH_BUDGET": "1",
    "OS_PLIMSOLL__MAX_CANDIDATES_WITHOUT_LIMIT": "1000",
    "OS_OSLO_MIDDLEWARE__ENABLE_PROXY_HEADERS_PARSING": "true",
}
"""Short budgets, so that tests are short."""


@pytest.fixture(scope="session")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with Target(tmp_path_factory.mktemp("attacked"), settings=SETTINGS) as target:
        yield target.build_cloud()


@pytest.fixture
def target(attacked: Target) -> Iterator[Target]:
    """The service, which must serve before and after the test."""
    yield attacked
    if not _is_serving(attacked):
        attacked.kill()
        attacked.start()


def _is_serving(target: Target) -> bool:
    try:
        with target.connect(2) as connection:
            connection.send(request("GET", f"/resource_providers/{target.host}", token=target.token))
            return connection.response().status == 200
    except (OSError, Closed, TooLate):
        return False
