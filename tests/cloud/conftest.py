# SPDX-License-Identifier: Apache-2.0

"""One Keystone for all tests, with its users. Without `.venv-cloud` the tests are skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cloud.keystone import ADMIN, SERVICE_PROJECT, Keystone, User, missing


@pytest.fixture(scope="session")
def keystone() -> Iterator[Keystone]:
    reason = missing()
    if reason:
        pytest.skip(f"not run: Keystone, {reason}")
    with Keystone() as running:
        yield running


@pytest.fixture(scope="session")
def users(keystone: Keystone) -> dict[str, User]:
    """Users by role. The projects are `engines` and `looms`."""
    keystone.project("looms")
    return {
        "admin": ADMIN,
        "service": keystone.user("nova", SERVICE_PROJECT, "service"),
        "manager": keystone.user("mia", "engines", "manager"),
        "member": keystone.user("max", "engines", "member"),
        "reader": keystone.user("rea", "engines", "reader"),
        "bystander": keystone.user("ben", "engines", "bystander"),
    }
