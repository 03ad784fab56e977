# SPDX-License-Identifier: Apache-2.0

"""One Keystone for all tests; without `.venv-cloud` they are skipped, and the summary says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cloud.keystone import Keystone, missing


@pytest.fixture(scope="session")
def keystone() -> Iterator[Keystone]:
    reason = missing()
    if reason:
        pytest.skip(f"not run: Keystone, {reason}")
    with Keystone() as running:
        yield running
