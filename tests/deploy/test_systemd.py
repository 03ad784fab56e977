# SPDX-License-Identifier: Apache-2.0

"""deploy/systemd: `systemd-analyze verify` accepts the unit, and its commands start, reload and stop the service.

They run as plain processes, with the notification socket and the credentials directory that systemd would pass.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import string
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy import deployed, examples, scenarios
from tests.deploy.deployed import Deployed
from tests.support.servers.places import free_port

UNIT = "systemd/plimsoll.service"
SECRETS = "systemd/plimsoll.service.d/secrets.conf"
PLIMSOLL = Path(sys.executable).with_name("plimsoll")


def last(text: str, option: str) -> str:
    """Return the last value of an option of a unit, which is in force."""
    found = re.findall(rf"^{option}=(.*)$", text.replace("\\\n", " "), re.MULTILINE)
    assert found, f"no {option}="
    return str(found[-1])


def words(command: str, **variables: str) -> list[str]:
    return string.Template(command).substitute(variables).split()


class Manager:
    """The parts of systemd that a service uses: notifications, credentials, signals."""

    def __init__(self, directory: Path, unit: str) -> None:
        self.port = free_port()
        self.environment = deployed.environment(directory)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(directory / "notify"))
        self._socket.setblocking(False)
        self.environment["NOTIFY_SOCKET"] = str(directory / "notify")
        self.credentials = directory / "credentials"
        command = last(unit, "ExecStart")
        for place, ours in {
            "/etc/placement": directory,
            "/opt/plimsoll/bin/plimsoll": PLIMSOLL,
            "--port 8778": f"--port {self.port}",
            "--workers 1": "--workers 2",
        }.items():
            command = command.replace(place, str(ours))
        started = words(command, CREDENTIALS_DIRECTORY=str(self.credentials))
        self.service = Deployed(started, self.port, directory, self.environment)
        self._unit = unit

    def notices(self) -> list[str]:
        notices = []
        while True:
            try:
                notices.append(self._socket.recv(4096).decode())
            except BlockingIOError:
                return notices

    def reload(self) -> None:
        subprocess.run(words(last(self._unit, "ExecReload"), MAINPID=str(self.service.pid)), check=True)

    def close(self) -> None:
        self.service.kill()
        self._socket.close()


@pytest.fixture
def managers() -> Iterator[list[Manager]]:
    made: list[Manager] = []
    yield made
    for manager in made:
        manager.close()


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="not run: systemd-analyze is not installed"
)
def test_systemd_finds_no_fault(tmp_path: Path) -> None:
    (tmp_path / "plimsoll.service.d").mkdir()
    places = {"/opt/plimsoll/bin/plimsoll": PLIMSOLL}
    (tmp_path / "plimsoll.service").write_text(examples.adapted(UNIT, places))
    (tmp_path / "plimsoll.service.d" / "secrets.conf").write_text(examples.adapted(SECRETS, places))
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "plimsoll.service")],
        capture_output=True,
        text=True,
        # Ignore problems of the machine's other units.
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
    )
    ours = [line for line in verified.stderr.splitlines() if "plimsoll" in line or "secrets.conf" in line]
    assert ours == []


def test_the_unit_starts_notifies_reloads_and_stops(tmp_path: Path, managers: list[Manager]) -> None:
    deployed.settings(tmp_path)
    manager = Manager(tmp_path, examples.text(UNIT))
    managers.append(manager)
    service = manager.service.launch()
    deadline = time.monotonic() + deployed.SECONDS
    while not (notices := manager.notices()):
        assert service.has_ended() is None and time.monotonic() < deadline, service.log()
        time.sleep(0.05)
    assert notices == ["READY=1"]
    assert service.call("GET", "/")[0] == 200, "it serves after it has sent READY=1"
    host = scenarios.reads_and_writes(service)
    scenarios.http_edge_cases(service)
    manager.reload()
    assert scenarios.used_amount(service, host) == scenarios.CAPACITY
    assert service.has_ended() is None
    assert service.stop() == 0, service.log()


def test_secrets_are_read_from_the_credentials(tmp_path: Path, managers: list[Manager]) -> None:
    deployed.settings(tmp_path, database="sqlite:////nowhere/placement.sqlite")
    manager = Manager(tmp_path, examples.text(UNIT) + examples.text(SECRETS))
    managers.append(manager)
    manager.credentials.mkdir(mode=0o500)
    secret = tmp_path / "secret.sqlite"
    named, source = last(examples.text(SECRETS), "LoadCredential").split(":")
    assert source == f"/etc/placement/{named}"
    (manager.credentials / named).write_text(f"[placement_database]\nconnection = sqlite:///{secret}\n")
    with manager.service as service:
        scenarios.create_host(service)
    assert secret.exists()
