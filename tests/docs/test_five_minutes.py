# SPDX-License-Identifier: Apache-2.0

"""The commands of the five minutes work on a made-up cloud."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.support.running import PLIMSOLL
from tests.support.servers.places import free_port
from tests.support.waiting import eventually

PAGE = Path(__file__).parents[2] / "docs" / "start" / "five-minutes.md"
FOUND_OR_NOT = "{ status=$?; [ $status = 3 ] || [ $status = 4 ]; }"
"""`explain` and `why` report with their status whether there are candidates."""


def commands() -> str:
    return "".join(re.findall(r"^```sh demo-cloud\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))


def has_unplaced(port: str) -> bool:
    request = Request(f"http://127.0.0.1:{port}/plimsoll/v1/unplaced", headers={"x-auth-token": "admin"})
    with urlopen(request, timeout=10) as response:
        return bool(json.load(response)["unplaced"])


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page uses curl")
def test_the_commands_of_the_page_run_on_the_demo(tmp_path: Path) -> None:
    port = str(free_port())
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    log = tmp_path / "log"
    demo = [str(PLIMSOLL), "demo", "--serve", "--live", "--hosts", "20", "--port", port]
    with log.open("w") as output:
        running = subprocess.Popen(demo, cwd=tmp_path, env=environment, stdout=output, stderr=output)
    try:
        assert eventually(lambda: "Ctrl-C" in log.read_text() or running.poll() is not None)
        assert running.poll() is None, log.read_text()
        assert eventually(lambda: has_unplaced(port))  # recorded a moment after the search
        text = commands().replace("127.0.0.1:8778", f"127.0.0.1:{port}").replace("curl -s ", "curl -sSf ")
        text = re.sub(r"^(\.venv/bin/plimsoll .*)$", rf"\1 || {FOUND_OR_NOT}", text, flags=re.MULTILINE)
        script = "set -eu\n" + text.replace(".venv/bin/plimsoll", str(PLIMSOLL))
        ran = subprocess.run(
            ["bash", "-c", script], capture_output=True, text=True, check=False, timeout=240, env=environment
        )
    finally:
        running.terminate()
        running.wait(30)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for word in ('"stranded"', '"limiting_class"', "Search  resources=", "Verdict  ", '"operation"'):
        assert word in ran.stdout
