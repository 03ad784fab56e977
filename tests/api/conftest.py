# SPDX-License-Identifier: Apache-2.0

"""The API on each engine. Each test gets the database in the state after the first start of a service."""

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
    with reused.fresh_api() as client:
        yield client
