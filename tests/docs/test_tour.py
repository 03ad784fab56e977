# SPDX-License-Identifier: Apache-2.0

"""The commands of the tour of the API work: they are run unmodified against a new service."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.servers.places import free_port

ROOT = Path(__file__).parents[2]
USUAL_PORT = "8778"


def tour() -> list[tuple[str, str]]:
    """Return the blocks of commands, each with the word after the language: empty, or `refused`."""
    text = (ROOT / "docs" / "start" / "tour.md").read_text()
    return re.findall(r"^```sh *(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """Start a service as `make run` does, with a new database; return its port."""
    chosen = free_port()
    log = tmp_path / "log"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    with log.open("w") as output:
        server = subprocess.Popen(
            [Path(sys.executable).with_name("plimsoll"), "serve", "--dev", "--port", str(chosen)],
            cwd=tmp_path,
            env=environ,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + 60
        while not responds(chosen):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield chosen
    finally:
        server.terminate()
        server.wait(30)


def responds(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


@pytest.mark.skipif(shutil.which("curl") is None, reason="the tour uses curl")
def test_the_tour_can_be_copied_line_by_line(port: int) -> None:
    lines = []
    for kind, block in tour():
        lines.append(f"if {block.strip()}\nthen exit 99; fi\n" if kind == "refused" else block)
    script = "set -eu\n" + "".join(lines).replace(USUAL_PORT, str(port))
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    *_, project, host = (json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{"))
    assert project["usages"] == {"INSTANCE": {"MEMORY_MB": 8192, "VCPU": 4, "consumer_count": 1}}
    assert host["usages"] == {"MEMORY_MB": 8192, "VCPU": 4}
    assert '"allocation_requests": [{' in ran.stdout.replace('":[{', '": [{')
    assert "409" in ran.stdout, "the refused claim has no 409"


def test_the_tour_calls_every_main_resource() -> None:
    commands = "".join(block for _, block in tour())
    for word in ("/resource_providers", "/inventories", "/allocation_candidates", "/allocations/", "/usages"):
        assert word in commands
    assert [kind for kind, _ in tour()].count("refused") == 1
