# SPDX-License-Identifier: Apache-2.0

"""Notifications to the service manager; errors are ignored."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from plimsoll.cli import sd_notify


@pytest.mark.parametrize("kind", ["file", "name"])
def test_the_state_is_sent_to_the_service_manager(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"plimsoll-{os.getpid()}"
    address, variable = (str(tmp_path / name),) * 2 if kind == "file" else (f"\0{name}", f"@{name}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(address)
        listening.settimeout(10)
        monkeypatch.setenv("NOTIFY_SOCKET", variable)
        sd_notify.notify(sd_notify.READY)
        assert listening.recv(100) == b"READY=1"


@pytest.mark.parametrize("variable", ["", "/nowhere/notify"])
def test_without_a_service_manager_nothing_happens(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", variable)
    sd_notify.notify(sd_notify.READY)
