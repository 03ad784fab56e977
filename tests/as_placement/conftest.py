# SPDX-License-Identifier: Apache-2.0

"""Session fixtures: the installed commands, shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.as_placement.installation import Installation, installed_under


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return a directory that all processes of this test run share."""
    own = tmp_path_factory.getbasetemp()
    return own if worker_id == "master" else own.parent


@pytest.fixture(scope="session")
def installation(shared: Path) -> Installation:
    return installed_under(shared)
