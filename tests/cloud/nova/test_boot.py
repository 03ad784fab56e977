# SPDX-License-Identifier: Apache-2.0

"""A boot that fails in a real nova is explained by its request id alone."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import Service

NOVA = Path(__file__).resolve().parents[3] / ".venv-nova" / "bin" / "python"
PROGRAM = Path(__file__).with_name("boot.py")
NO_VALID_HOST = "No valid host was found. "


@dataclass(frozen=True)
class Boots:
    service: Service
    outcomes: dict[str, dict[str, Any]]
    """By the name of the server: its uuid, the request id of its boot, status and fault."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.service.port}"

    def unplaced(self, name: str) -> list[Any]:
        """Return what the service recorded for the boot of this server. It is written a moment after the search."""
        path = f"/plimsoll/v1/unplaced?request_id={self.outcomes[name]['request_id']}"
        deadline = time.monotonic() + 20
        while True:
            status, answer = self.service.client().call("GET", path)
            assert status == 200, answer
            found: list[Any] = answer["unplaced"]
            if found or time.monotonic() > deadline:
                return found
            time.sleep(0.2)

    def why(self, name: str) -> subprocess.CompletedProcess[str]:
        return self.service.command("why", "--url", self.url, self.outcomes[name]["request_id"])


@pytest.fixture(scope="module")
def boots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Boots]:
    if not NOVA.exists():
        pytest.skip("not run: nova, .venv-nova is missing, `make nova` makes it")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON"))}
    directory = tmp_path_factory.mktemp("nova")
    with Service(tmp_path_factory.mktemp("plimsoll")) as service:
        url = f"http://127.0.0.1:{service.port}"
        ran = subprocess.run(
            [NOVA, PROGRAM, url],
            env=clean,
            cwd=directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert ran.returncode == 0, ran.stderr[-4000:]
        lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        yield Boots(service, {line["name"]: line for line in lines})


def test_nova_boots_what_fits_and_reports_no_valid_host_for_the_rest(boots: Boots) -> None:
    assert {name: (each["status"], each["fault"]) for name, each in boots.outcomes.items()} == {
        "small": ("ACTIVE", None),
        "large": ("ERROR", NO_VALID_HOST),
        "avx512": ("ERROR", NO_VALID_HOST),
        "first": ("ACTIVE", None),
        "second": ("ACTIVE", None),
        "third": ("ERROR", NO_VALID_HOST),
    }


@pytest.mark.parametrize(
    ("name", "verdict", "status", "words"),
    [
        ("large", "never", 4, ("MEMORY_MB", "16384")),
        ("avx512", "never", 4, ("HW_CPU_X86_AVX512F",)),
        ("third", "not now", 3, ("MEMORY_MB", "6144")),
    ],
)
def test_the_request_id_of_a_failed_boot_gives_the_reason(
    boots: Boots, name: str, verdict: str, status: int, words: tuple[str, ...]
) -> None:
    (search,) = boots.unplaced(name)
    assert search["verdict"] == verdict
    assert all(word in search["summary"] for word in words), search["summary"]
    shown = boots.why(name)
    assert (shown.returncode, shown.stderr) == (status, "")
    assert search["summary"] in " ".join(shown.stdout.split())
    assert all(word in shown.stdout for word in words)


def test_the_request_id_of_a_boot_that_worked_has_no_entry(boots: Boots) -> None:
    shown = boots.why("small")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert "No search without candidates" in shown.stderr


def test_after_a_server_is_gone_the_failed_boot_would_succeed(boots: Boots) -> None:
    status, _ = boots.service.client().call("DELETE", f"/allocations/{boots.outcomes['first']['server']}")
    assert status == 204
    shown = boots.why("third")
    assert (shown.returncode, shown.stderr) == (0, "")
    then, _, now = shown.stdout.partition("\nNow\n")
    assert "MEMORY_MB" in then
    assert "Verdict     found" in now
