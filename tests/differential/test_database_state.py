# SPDX-License-Identifier: Apache-2.0

"""The state is read alike from every engine, and no commit is missed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from plimsoll.storage.database import Database
from plimsoll.storage.schema import migrate
from tests.differential.database_state import StateReader, delete_consumer, execute
from tests.differential.sabotage import CORRUPT_STATE
from tests.differential.state import Consumer, Inventory, Provider
from tests.support.databases import Databases

ROWS = (
    "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (7, 'p', 'one', 3, 7)",
    "INSERT INTO resource_classes (id, name) VALUES (4, 'CUSTOM_GOLD'), (5, 'CUSTOMARY')",
    "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size,"
    " allocation_ratio) VALUES (7, 4, 10, 0, 1, 10, 1, 0.9)",
    "INSERT INTO projects (id, external_id) VALUES (1, 'team')",
    "INSERT INTO users (id, external_id) VALUES (1, 'ann')",
    "INSERT INTO consumers (uuid, generation, project_id, user_id) VALUES ('busy', 1, 1, 1), ('idle', 0, 1, 1)",
    "INSERT INTO allocations (consumer_id, resource_provider_id, resource_class_id, used) VALUES ('busy', 7, 4, 2)",
)


def synced(url: str) -> None:
    database = Database(url)
    migrate.sync(database)
    database.dispose()


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    with databases.fresh("of the differential tests", synced) as url:
        for row in ROWS:
            execute(url, row)
        yield url


def test_rows_are_read_alike_on_every_engine(url: str) -> None:
    with closing(StateReader(url)) as reader:
        state = reader.read()
    assert state.providers == {"p": Provider("one", 3, None, "p")}
    assert state.inventories == {("p", "CUSTOM_GOLD"): Inventory(10, 0, 1, 10, 1, 0.9)}
    assert state.allocations == {("busy", "p", "CUSTOM_GOLD"): 2}
    assert state.consumers["busy"] == Consumer(1, "team", "ann", None)
    assert state.custom_classes == {"CUSTOM_GOLD"}


def test_a_ratio_has_all_stored_digits(url: str, databases: Databases) -> None:
    with closing(StateReader(url)) as reader:
        ratio = reader.read().ratios["p", "CUSTOM_GOLD"]
    assert ratio == (0.8999999761581421 if databases.engine == "mariadb" else 0.9)


def test_every_commit_of_another_connection_is_read(url: str) -> None:
    with closing(StateReader(url)) as reader:
        for generation in range(4, 54):
            execute(url, CORRUPT_STATE)
            assert reader.read().providers["p"].generation == generation


def test_only_a_consumer_without_allocations_is_deleted(url: str) -> None:
    delete_consumer(url, "busy")
    delete_consumer(url, "idle")
    with closing(StateReader(url)) as reader:
        assert reader.read().consumers.keys() == {"busy"}
