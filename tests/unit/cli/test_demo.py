# SPDX-License-Identifier: Apache-2.0

"""`plimsoll demo`: into the development database, through a running service, and with a service of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.running import Service
from tests.support.servers.places import free_port
from tests.support.waiting import eventually

COMMAND = [sys.executable, "-m", "plimsoll.cli", "demo"]


def environment() -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    paths = clean.get("PYTHONPATH", "").split(os.pathsep)
    return clean | {"PYTHONPATH": os.pathsep.join(str(Path(each).resolve()) for each in paths if each)}


def accept_interrupts() -> None:
    """A shell ignores SIGINT for commands in the background, and child processes inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *options],
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_it_fills_the_development_database_once(tmp_path: Path) -> None:
    first = run(tmp_path, "--hosts", "10")
    assert first.returncode == 0, first.stderr
    assert "10 hosts" in first.stderr
    assert (tmp_path / "var" / "plimsoll.sqlite").exists()
    second = run(tmp_path, "--hosts", "10")
    assert second.returncode == 1
    assert "already has providers. Nothing was written." in second.stderr
    beside = run(tmp_path, "--hosts", "10", "--add", "--site", "ber")
    assert beside.returncode == 0, beside.stderr


def test_it_writes_through_a_running_service_and_sends_traffic(tmp_path: Path) -> None:
    with Service(tmp_path).start() as service:
        url = f"http://127.0.0.1:{service.port}"
        written = run(tmp_path, "--url", url, "--hosts", "10")
        assert written.returncode == 0, written.stderr
        _, before = service.client().call("GET", "/plimsoll/v1/usage")
        traffic = subprocess.Popen(
            [*COMMAND, "--url", url, "--hosts", "0", "--live", "--rate", "200"],
            env=environment(),
            preexec_fn=accept_interrupts,
            stderr=subprocess.PIPE,
            text=True,
        )
        client = service.client()
        assert eventually(
            lambda: client.call("GET", "/plimsoll/v1/usage")[1]["revision"] != before["revision"]
        )
        traffic.send_signal(signal.SIGINT)
        _, printed = traffic.communicate(timeout=30)
        assert traffic.returncode == 0, printed
        assert "Traffic sent: " in printed


def interrupt(process: subprocess.Popen[str]) -> None:
    """Do what Ctrl-C does: each process in the foreground of a terminal gets the signal."""
    os.killpg(process.pid, signal.SIGINT)


@pytest.mark.parametrize(("stop", "status"), [(interrupt, 0), (subprocess.Popen.terminate, 143)])
def test_it_serves_and_stops_its_service(
    stop: Callable[[subprocess.Popen[str]], None], status: int, tmp_path: Path
) -> None:
    port = free_port()
    process = subprocess.Popen(
        [*COMMAND, "--serve", "--hosts", "10", "--port", str(port)],
        preexec_fn=accept_interrupts,
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "Console" in line)
        assert f"http://127.0.0.1:{port}/console/" in line
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}/plimsoll/v1/usage", headers={"x-auth-token": "admin"}
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert json.load(answer)["groups"][0]["providers"] > 10
    finally:
        stop(process)
        _, printed = process.communicate(timeout=60)
        assert process.returncode == status, printed
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5)


def test_an_unreachable_service_is_one_line(tmp_path: Path) -> None:
    failed = run(tmp_path, "--url", f"http://127.0.0.1:{free_port()}", "--hosts", "5")
    assert failed.returncode == 1
    assert "cannot be reached" in failed.stderr
    assert "Traceback" not in failed.stderr
