# SPDX-License-Identifier: Apache-2.0

"""Servers that the tests here may kill. Long tests are run by `make faults` and skipped otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from plimsoll.ledger import commit_retry
from plimsoll.storage.dialects import mysql, postgresql
from tests.faults.private_server import PrivateServer
from tests.support import databases as on
from tests.support.servers import GaleraCluster

VARIABLE = "PLIMSOLL_FAULTS"
SKIP_REASON = f"not run: faults that take long; `make faults` ({VARIABLE}=all) runs them"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes many seconds, run only by `make faults`")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(VARIABLE) != "all":
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason=SKIP_REASON))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "private_server" in metafunc.fixturenames:
        engines = [engine for engine in on.selected_engines() if engine in on.SERVERS]
        metafunc.parametrize("private_server", engines, indirect=True, scope="session")


@pytest.fixture(scope="session")
def private_server(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    """A server of each engine. A test that changes its settings restores them."""
    with on.SERVERS[request.param]() as server:
        yield PrivateServer(server)


@pytest.fixture
def url(private_server: PrivateServer) -> Iterator[str]:
    with private_server.database() as url:
        yield url


@pytest.fixture
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the timeouts of databases that this process opens from here on, so that tests take less time."""
    monkeypatch.setattr(commit_retry, "RETRY_SECONDS", 2.0)
    monkeypatch.setattr(commit_retry, "OUTCOME_RETRY_SECONDS", 6.0)
    for dialect in (postgresql, mysql):
        monkeypatch.setattr(dialect, "LOCK_SECONDS", 1)


@pytest.fixture(scope="session")
def cluster() -> Iterator[GaleraCluster]:
    missing = GaleraCluster.missing()
    if missing:
        pytest.skip(f"not run: Galera, {missing}")
    with GaleraCluster() as cluster:
        yield cluster
