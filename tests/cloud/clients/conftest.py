# SPDX-License-Identifier: Apache-2.0

"""One Plimsoll and one reference for all tests of clients, with one Keystone, in whose catalog each has a region.

Both are emptied before each module.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cloud.clients.cleanup import empty
from tests.cloud.clients.openstack import REFERENCE_REGION
from tests.cloud.keystone import REGION, Keystone
from tests.cloud.services import REFERENCE, Plimsoll, Reference

BEHIND_A_PROXY = "[oslo_middleware]\nenable_proxy_headers_parsing = true\n"


@pytest.fixture(scope="session")
def running_plimsoll(keystone: Keystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plimsoll]:
    settings = f"{keystone.authtoken()}{BEHIND_A_PROXY}"
    with Plimsoll(tmp_path_factory.mktemp("plimsoll"), settings) as service:
        yield service


@pytest.fixture(scope="session")
def running_reference(keystone: Keystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    if not (REFERENCE / "gunicorn").exists():
        pytest.skip("not run: the reference, .venv-reference is missing, `make cloud` makes it")
    with Reference(tmp_path_factory.mktemp("reference"), keystone.authtoken()) as service:
        yield service


@pytest.fixture(scope="module")
def plimsoll(keystone: Keystone, running_plimsoll: Plimsoll) -> Plimsoll:
    return _empty(keystone, running_plimsoll, REGION)


@pytest.fixture(scope="module")
def reference(keystone: Keystone, running_reference: Reference) -> Plimsoll:
    return _empty(keystone, running_reference, REFERENCE_REGION)


def _empty(keystone: Keystone, service: Plimsoll, region: str) -> Plimsoll:
    keystone.endpoint("placement", service.url, region)
    token = keystone.token()

    def send(method: str, path: str) -> Any:
        response = service.send(method, path, token)
        assert response.status < 300, (method, path, response)
        return response.json if response.body else None

    empty(send)
    return service


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the notes of tests that passed."""
    for report in terminalreporter.stats.get("passed", []):
        for name, text in report.user_properties:
            if name == "outcomes":
                terminalreporter.line(text)
