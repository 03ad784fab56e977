# SPDX-License-Identifier: Apache-2.0

"""The commands and the program of docs/guides/clients.md work. Only the address is replaced."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cloud.clients.openstack import ROOT, client_environment
from tests.cloud.keystone import BIN, Keystone
from tests.cloud.services import Plimsoll

PAGE = (ROOT / "docs" / "guides" / "clients.md").read_text()
ADDRESS = "http://controller:8778"


def blocks(language: str) -> str:
    return "".join(re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def no_placement(keystone: Keystone) -> Iterator[None]:
    """A catalog without Placement; entries that the guide adds are removed afterwards."""
    known = _services(keystone)
    _name(keystone, known, "forgotten")
    yield
    for service in _services(keystone):
        keystone.call("DELETE", f"/services/{service}")
    _name(keystone, known, "placement")


def _services(keystone: Keystone) -> list[str]:
    return [each["id"] for each in keystone.call("GET", "/services?type=placement")["services"]]


def _name(keystone: Keystone, services: list[str], name: str) -> None:
    for service in services:
        keystone.call("PATCH", f"/services/{service}", {"service": {"name": name, "type": name}})


@pytest.mark.usefixtures("no_placement")
def test_the_guide_can_be_followed(keystone: Keystone, running_plimsoll: Plimsoll, tmp_path: Path) -> None:
    environment = client_environment(keystone.environment())
    commands = blocks("sh").replace(ADDRESS, running_plimsoll.url)
    ran = subprocess.run(
        ["bash", "-euc", commands], env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert running_plimsoll.url in ran.stdout
    assert re.search(r"VCPU=4 .* VCPU=0/8", ran.stdout), ran.stdout
    assert '"providers":[{"name":"host-1","generation":1}]' in ran.stdout, ran.stdout
    program = tmp_path / "program.py"
    program.write_text(blocks("python"))
    printed = subprocess.check_output([BIN / "python", program], env=environment, text=True, timeout=300)
    assert {"host-1 1", "  VCPU 8", "  MEMORY_MB 32768"} <= set(printed.splitlines())
