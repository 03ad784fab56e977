# SPDX-License-Identifier: Apache-2.0

"""The README's tour works: its lines are run as they stand, against a service of their own."""

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
    """The lines to copy, with what is said behind the language: nothing, or `refused`."""
    text = (ROOT / "README.md").read_text().partition("## Five minutes")[2].partition("\n## ")[0]
    return re.findall(r"^```sh *(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A service as `make run` starts it, its database under a directory that was empty before."""
    chosen = free_port()
    said = tmp_path / "said"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    with said.open("w") as output:
        server = subprocess.Popen(
            [Path(sys.executable).with_name("plimsoll"), "serve", "--dev", "--port", str(chosen)],
            cwd=tmp_path,
            env=environ,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + 60
        while not answers(chosen):
            assert server.poll() is None, said.read_text()
            assert time.monotonic() < deadline, said.read_text()
            time.sleep(0.1)
        yield chosen
    finally:
        server.terminate()
        server.wait(30)


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.mark.skipif(shutil.which("curl") is None, reason="the tour is told with curl")
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
    assert "409" in ran.stdout, "the refused claim says so"


def test_the_tour_tells_all_that_it_promises() -> None:
    told = "".join(block for _, block in tour())
    for word in ("/resource_providers", "/inventories", "/allocation_candidates", "/allocations/", "/usages"):
        assert word in told
    assert [kind for kind, _ in tour()].count("refused") == 1
