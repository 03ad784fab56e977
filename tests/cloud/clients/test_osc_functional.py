# SPDX-License-Identifier: Apache-2.0

"""osc-placement's own functional tests pass with Plimsoll, with a token of Keystone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

from tests.cloud.clients.openstack import ROOT, client_environment
from tests.cloud.keystone import BIN, Keystone
from tests.cloud.services import Plimsoll

AT_LEAST = 150
"""osc-placement 4.9.1 has 160 tests: far fewer would mean that they were not found."""


def test_the_tests_of_osc_placement_pass(
    keystone: Keystone, plimsoll: Plimsoll, record_property: Callable[[str, object], None]
) -> None:
    ran = subprocess.run(
        [BIN / "python", "-W", "ignore", "-m", "tests.cloud.clients.programs.functional"],
        cwd=ROOT,
        env=client_environment({"PLACEMENT_URL": plimsoll.url, "PLACEMENT_TOKEN": keystone.token()}),
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    assert ran.returncode == 0, ran.stderr
    results = json.loads(ran.stdout)
    failed = [f"{name}\n{output}" for name, output in results["failed"]]
    assert not failed, "\n".join(failed)
    assert results["skipped"] == []
    assert results["ran"] >= AT_LEAST
    record_property(
        "outcomes", f"{results['ran']} functional tests of osc-placement passed, none was left out"
    )
