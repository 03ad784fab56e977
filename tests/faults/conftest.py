# SPDX-License-Identifier: Apache-2.0

"""Servers that the tests here may kill. What takes long is run by `make faults`, and left out otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from plimsoll.ledger import commit_retry
from plimsoll.storage.dialects import mysql, postgresql
from tests.faults.ground import Ground
from tests.support import databases as on
from tests.support.servers import GaleraCluster

VARIABLE = "PLIMSOLL_FAULTS"
LEFT_OUT = f"not run: faults that take long; `make faults` ({VARIABLE}=all) runs them"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes many seconds, and is run by `make faults` alone")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(VARIABLE) != "all":
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason=LEFT_OUT))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "ground" in metafunc.fixturenames:
        engines = [engine for engine in on.chosen() if engine in on.SERVERS]
        metafunc.parametrize("ground", engines, indirect=True, scope="session")


@pytest.fixture(scope="session")
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """A server of each engine in turn. Whoever changes its settings puts them back."""
    with on.SERVERS[request.param]() as server:
        yield Ground(server)


@pytest.fixture
def url(ground: Ground) -> Iterator[str]:
    with ground.database() as url:
        yield url


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process opens from here on gives up sooner, so that a test need not wait as long as people do."""
    monkeypatch.setattr(commit_retry, "PATIENCE", 2.0)
    monkeypatch.setattr(commit_retry, "PATIENCE_IN_DOUBT", 6.0)
    for dialect in (postgresql, mysql):
        monkeypatch.setattr(dialect, "LOCK_SECONDS", 1)


@pytest.fixture(scope="session")
def cluster() -> Iterator[GaleraCluster]:
    missing = GaleraCluster.missing()
    if missing:
        pytest.skip(f"not run: Galera, {missing}")
    with GaleraCluster() as cluster:
        yield cluster
