# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.schemas.reference import ReferenceParsers


@pytest.fixture(scope="session")
def reference() -> Iterator[ReferenceParsers]:
    with ReferenceParsers() as reference:
        yield reference
