# SPDX-License-Identifier: Apache-2.0

"""Run osc-placement's own functional tests, if they are installed, against a running service.

Their fixture starts the reference in the same process; here it is replaced by one that has the address of a service and
a token, and that empties the service before each test. The output is the results as JSON.
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

from tests.cloud.clients.cleanup import empty

URL, TOKEN = os.environ.pop("PLACEMENT_URL"), os.environ.pop("PLACEMENT_TOKEN")


class Running(fixtures.Fixture):
    """The fixture that the tests use: the address of the service, and a token."""

    endpoint = URL
    token = TOKEN

    def _setUp(self) -> None:
        empty(_ask)


def _ask(method: str, path: str) -> Any:
    headers = {"x-auth-token": TOKEN, "openstack-api-version": "placement 1.39"}
    response = requests.request(method, f"{URL}{path}", headers=headers, timeout=60)
    response.raise_for_status()
    return response.json() if response.content else None


def main() -> None:
    base.placement.PlacementFixture = Running
    here = Path(functional.__path__[0])
    tests = unittest.defaultTestLoader.discover(str(here), top_level_dir=str(here.parents[2]))
    result = unittest.TestResult()
    tests.run(result)
    became = {
        "ran": result.testsRun,
        "failed": [[test.id(), output] for test, output in (*result.failures, *result.errors)],
        "skipped": [[test.id(), output] for test, output in result.skipped],
    }
    json.dump(became, sys.stdout)


if __name__ == "__main__":
    main()
