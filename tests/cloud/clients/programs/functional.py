# SPDX-License-Identifier: Apache-2.0

"""osc-placement's own functional tests, where they are installed, against a service that runs.

They come with a fixture that starts the reference inside their process; here it is a service's address and a token,
and each test finds that service empty. The output is what became of them, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import unittest
from pathlib import Path
from typing import Any

import fixtures
import requests
from osc_placement.tests import functional
from osc_placement.tests.functional import base

from tests.cloud.clients.emptying import empty

URL, TOKEN = os.environ.pop("PLACEMENT_URL"), os.environ.pop("PLACEMENT_TOKEN")


class Running(fixtures.Fixture):
    """What the tests ask of their fixture: where the service is, and a token for it."""

    endpoint = URL
    token = TOKEN

    def _setUp(self) -> None:
        empty(_ask)


def _ask(method: str, path: str) -> Any:
    headers = {"x-auth-token": TOKEN, "openstack-api-version": "placement 1.39"}
    answer = requests.request(method, f"{URL}{path}", headers=headers, timeout=60)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def main() -> None:
    base.placement.PlacementFixture = Running
    here = Path(functional.__path__[0])
    tests = unittest.defaultTestLoader.discover(str(here), top_level_dir=str(here.parents[2]))
    result = unittest.TestResult()
    tests.run(result)
    became = {
        "ran": result.testsRun,
        "failed": [[test.id(), said] for test, said in (*result.failures, *result.errors)],
        "skipped": [[test.id(), said] for test, said in result.skipped],
    }
    json.dump(became, sys.stdout)


if __name__ == "__main__":
    main()
