# SPDX-License-Identifier: Apache-2.0

"""Reading a whole world: what it shares, and what it leaves as it found it."""

from __future__ import annotations

import gc

import pytest
from sqlalchemy.exc import DBAPIError

from plimsoll.storage.engine import Database
from plimsoll.storage.load import load_world


def test_providers_that_are_marked_alike_share_one_set(db: Database) -> None:
    with db.write() as connection:
        for row in (
            "INSERT INTO traits (id, name) VALUES (1, 'CUSTOM_A'), (2, 'CUSTOM_B')",
            "INSERT INTO resource_providers (id, uuid, name, root_provider_id) VALUES (1, 'x', 'x', 1), (2, 'y', 'y', 2)",
            "INSERT INTO resource_provider_traits (resource_provider_id, trait_id) VALUES (1, 1), (1, 2), (2, 2), (2, 1)",
        ):
            connection.exec_driver_sql(row)
        world = load_world(connection)
    assert world.providers["x"].traits == {"CUSTOM_A", "CUSTOM_B"}
    assert world.providers["x"].traits is world.providers["y"].traits


def test_garbage_is_collected_again_after_a_world_is_loaded(db: Database) -> None:
    with db.read() as connection:
        load_world(connection)
    assert gc.isenabled()


def test_garbage_is_collected_again_after_a_world_could_not_be_loaded(empty: Database) -> None:
    with pytest.raises(DBAPIError), empty.read() as connection:
        load_world(connection)
    assert gc.isenabled()
