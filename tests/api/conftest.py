# SPDX-License-Identifier: Apache-2.0

"""The API on each engine, on a database that each test finds as it is after the first start of a service."""

from collections.abc import Iterator

import pytest

from tests.support.api import Api, ReusedApi, api
from tests.support.databases import Databases


def start_once(url: str) -> None:
    with api(url):
        pass


@pytest.fixture(scope="session")
def reused(databases: Databases) -> Iterator[ReusedApi]:
    with databases.fresh("started", start_once) as url:
        reused = ReusedApi(url)
        yield reused
        reused.close()


@pytest.fixture
def client(reused: ReusedApi) -> Iterator[Api]:
    with reused.anew() as client:
        yield client
