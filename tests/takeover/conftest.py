# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.takeover.revisions.reference import ReferenceProcess


@pytest.fixture(scope="session")
def reference_process() -> Iterator[ReferenceProcess]:
    with ReferenceProcess() as process:
        yield process
