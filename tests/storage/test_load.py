# SPDX-License-Identifier: Apache-2.0

"""Loading the world: shared values, sums of usage, incomplete rows, garbage collection."""

from __future__ import annotations

import gc

import pytest
from sqlalchemy.exc import DBAPIError

from plimsoll.domain.usage import CONSUMERS
from plimsoll.storage.database import Database
from plimsoll.storage.load import load_world
from tests.support.external_writes import committed_write


def test_providers_with_equal_traits_share_one_set(db: Database) -> None:
    with committed_write(db) as connection:
        for row in (
            "INSERT INTO traits (id, name) VALUES (1, 'CUSTOM_A'), (2, 'CUSTOM_B')",
            "INSERT INTO resource_providers (id, uuid, name, root_provider_id) VALUES (1, 'x', 'x', 1), (2, 'y', 'y', 2)",
            "INSERT INTO resource_provider_traits (resource_provider_id, trait_id) VALUES (1, 1), (1, 2), (2, 2), (2, 1)",
        ):
            connection.exec_driver_sql(row)
        world = load_world(connection).world
    assert world.providers["x"].traits == {"CUSTOM_A", "CUSTOM_B"}
    assert world.providers["x"].traits is world.providers["y"].traits


def test_garbage_collection_is_enabled_after_a_load(db: Database) -> None:
    with db.read() as connection:
        load_world(connection)
    assert gc.isenabled()


def test_garbage_collection_is_enabled_after_a_failed_load(empty: Database) -> None:
    with pytest.raises(DBAPIError), empty.read() as connection:
        load_world(connection)
    assert gc.isenabled()


ROWS = (
    "INSERT INTO resource_classes (id, name) VALUES (1, 'VCPU'), (2, 'DISK_GB')",
    "INSERT INTO consumer_types (id, name) VALUES (1, 'INSTANCE')",
    "INSERT INTO projects (id, external_id) VALUES (1, 'red'), (2, 'blue')",
    "INSERT INTO users (id, external_id) VALUES (1, 'ann'), (2, 'bob')",
    "INSERT INTO resource_providers (id, uuid, name, root_provider_id) VALUES (1, 'x', 'x', 1)",
    "INSERT INTO consumers (uuid, project_id, user_id, consumer_type_id) VALUES ('a', 1, 1, 1), ('b', 1, 2, NULL),"
    " ('c', 1, 1, 1), ('holds nothing', 1, 1, 1), ('of no project', 9, 1, 1), ('of no user', 2, 9, 1)",
    "INSERT INTO allocations (consumer_id, resource_provider_id, resource_class_id, used) VALUES ('a', 1, 1, 2),"
    " ('a', 1, 2, 10), ('b', 1, 1, 3), ('c', 1, 1, 4), ('of no project', 1, 1, 5), ('of no user', 1, 1, 6)",
)


def test_the_usage_of_an_owner_is_the_sum_of_its_consumers(db: Database) -> None:
    with committed_write(db) as connection:
        for row in ROWS:
            connection.exec_driver_sql(row)
        world, has_allocations_without_consumer = load_world(connection)
    instances, untyped = {CONSUMERS: 2, "VCPU": 6, "DISK_GB": 10}, {CONSUMERS: 1, "VCPU": 3}
    assert world.usage_by_type("red", None) == {"INSTANCE": instances, None: untyped}
    assert world.usage_by_type("red", "bob") == {None: untyped}
    assert world.usage_by_type("blue", None) == {}
    assert not has_allocations_without_consumer


def test_an_allocation_counts_without_its_provider_but_not_without_its_consumer_or_its_class(
    db: Database,
) -> None:
    with committed_write(db) as connection:
        for row in (
            *ROWS,
            "INSERT INTO allocations (consumer_id, resource_provider_id, resource_class_id, used) VALUES"
            " ('b', 9, 2, 7), ('b', 1, 9, 8), ('nobody', 1, 1, 9)",
        ):
            connection.exec_driver_sql(row)
        world, has_allocations_without_consumer = load_world(connection)
    assert world.usage_by_type("red", "bob") == {None: {CONSUMERS: 1, "VCPU": 3, "DISK_GB": 7}}
    assert has_allocations_without_consumer


def test_owners_with_equal_usage_share_their_sums(db: Database) -> None:
    with committed_write(db) as connection:
        for row in (
            *ROWS,
            "INSERT INTO consumers (uuid, project_id, user_id) VALUES ('d', 2, 1)",
            "INSERT INTO allocations (consumer_id, resource_provider_id, resource_class_id, used)"
            " VALUES ('d', 1, 1, 3)",
        ):
            connection.exec_driver_sql(row)
        world, _ = load_world(connection)
    assert world.usage_by_type("red", "bob")[None] is world.usage_by_type("blue", "ann")[None]
