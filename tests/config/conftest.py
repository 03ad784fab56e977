# SPDX-License-Identifier: Apache-2.0

"""A clean environment for tests of settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.server import supervisor


@pytest.fixture
def without_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove the settings of the account that runs the tests, use an own directory, and start no server."""
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    for name in before:
        if name.startswith(("OS_", "PLIMSOLL_")):
            del os.environ[name]
    monkeypatch.setattr(supervisor, "run", lambda *_, **__: pytest.fail("it would have been served"))
    yield
    os.environ.clear()
    os.environ.update(before)
