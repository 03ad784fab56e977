# SPDX-License-Identifier: Apache-2.0

"""The page of clients names the versions that the tests run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENTS = ("keystone", "keystoneauth1", "openstacksdk", "osc-placement", "python-openstackclient")


@pytest.mark.parametrize("client", CLIENTS)
def test_the_page_names_the_version_that_is_locked(client: str) -> None:
    page = (ROOT / "docs" / "guides" / "clients.md").read_text().lower()
    locked = (ROOT / "requirements-cloud.lock").read_text()
    version = re.search(rf"^{client}==(.+)$", locked, re.MULTILINE)
    assert version
    assert f"{client} {version[1]}" in page


def test_the_page_names_the_nova_that_is_locked() -> None:
    page = (ROOT / "docs" / "guides" / "clients.md").read_text()
    version = re.search(r"^nova==(.+)$", (ROOT / "requirements-nova.lock").read_text(), re.MULTILINE)
    assert version
    assert f"nova {version[1]} " in page
