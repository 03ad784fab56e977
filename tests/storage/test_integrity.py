# SPDX-License-Identifier: Apache-2.0

"""`verify` accepts consistent rows, reports each kind of violation, and distinguishes notes from faults."""

from __future__ import annotations

import pytest

from plimsoll.storage.changes import read_head
from plimsoll.storage.database import Database
from plimsoll.storage.head import BEGINNING
from plimsoll.storage.maintenance.integrity import MAX_SHOWN, IntegrityFinding, verify
from tests.storage.writers import locked_write
from tests.support.databases import run_sql

CONSISTENT_ROWS = (
    "INSERT INTO resource_classes (id, name) VALUES (0, 'VCPU'), (1, 'DISK_GB')",
    "INSERT INTO traits (id, name) VALUES (1, 'HW_A')",
    "INSERT INTO placement_aggregates (id, uuid) VALUES (1, 'aggregate-1')",
    "INSERT INTO projects (id, external_id) VALUES (1, 'project')",
    "INSERT INTO users (id, external_id) VALUES (1, 'user')",
    "INSERT INTO consumer_types (id, name) VALUES (1, 'INSTANCE')",
    # A tree of three: 1 above 2 above 3; and 4 alone.
    "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, parent_provider_id) VALUES"
    " (1, 'one', 'one', 0, 1, NULL), (2, 'two', 'two', 0, 1, 1), (3, 'three', 'three', 0, 1, 2),"
    " (4, 'four', 'four', 0, 4, NULL)",
    "INSERT INTO inventories (id, resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit,"
    " step_size, allocation_ratio) VALUES (1, 1, 0, 10, 2, 1, 10, 1, 2.0), (2, 3, 0, 4, 0, 1, 4, 1, 1.0)",
    "INSERT INTO resource_provider_traits (trait_id, resource_provider_id) VALUES (1, 1)",
    "INSERT INTO resource_provider_aggregates (aggregate_id, resource_provider_id) VALUES (1, 4)",
    "INSERT INTO consumers (id, uuid, project_id, user_id, consumer_type_id) VALUES"
    " (1, 'vm', 1, 1, 1), (2, 'vm-2', 1, 1, NULL)",
    "INSERT INTO allocations (id, resource_provider_id, consumer_id, resource_class_id, used) VALUES"
    " (1, 1, 'vm', 0, 8), (2, 1, 'vm-2', 0, 8), (3, 3, 'vm', 0, 4)",
    "INSERT INTO plimsoll_changes (seq, at, operation, effects) VALUES"
    " (5, '2026-01-01 00:00:00', 'x', '[]'), (6, '2026-01-01 00:00:00', 'x', '[]')",
    "UPDATE plimsoll_head SET seq = 6",
)


@pytest.fixture
def consistent_db(db: Database, url: str) -> Database:
    run_sql(url, *CONSISTENT_ROWS)
    return db


def findings_of(db: Database) -> list[IntegrityFinding]:
    with db.read() as connection:
        return verify(connection)


def test_a_consistent_database_has_no_findings(consistent_db: Database) -> None:
    assert findings_of(consistent_db) == []


def test_an_empty_database_has_no_findings(db: Database) -> None:
    assert findings_of(db) == []


@pytest.mark.parametrize(
    ("statement", "problem", "where"),
    [
        (
            "UPDATE allocations SET resource_provider_id = 99 WHERE id = 3",
            "allocations.resource_provider_id names a row of resource_providers that does not exist",
            "resource_provider_id 99, id 3",
        ),
        (
            "UPDATE allocations SET resource_class_id = 99 WHERE id = 3",
            "allocations.resource_class_id names a row of resource_classes that does not exist",
            "resource_class_id 99, id 3",
        ),
        (
            "DELETE FROM consumers WHERE uuid = 'vm-2'",
            "allocations.consumer_id names a row of consumers that does not exist",
            "consumer_id vm-2, id 2",
        ),
        (
            "INSERT INTO inventories SELECT NULL, NULL, 9, 99, 0, 1, 0, 1, 1, 1, 1.0",
            "inventories.resource_provider_id names a row of resource_providers that does not exist",
            "resource_provider_id 99, id 9",
        ),
        (
            "INSERT INTO inventories SELECT NULL, NULL, 9, 1, 99, 1, 0, 1, 1, 1, 1.0",
            "inventories.resource_class_id names a row of resource_classes that does not exist",
            "resource_class_id 99, id 9",
        ),
        (
            "INSERT INTO resource_provider_traits VALUES (NULL, NULL, 1, 99)",
            "resource_provider_traits.resource_provider_id names a row of resource_providers that does not exist",
            "resource_provider_id 99, trait_id 1",
        ),
        (
            "INSERT INTO resource_provider_traits VALUES (NULL, NULL, 99, 1)",
            "resource_provider_traits.trait_id names a row of traits that does not exist",
            "trait_id 99, resource_provider_id 1",
        ),
        (
            "INSERT INTO resource_provider_aggregates VALUES (NULL, NULL, 99, 1)",
            "resource_provider_aggregates.resource_provider_id names a row of resource_providers that does not"
            " exist",
            "resource_provider_id 99, aggregate_id 1",
        ),
        (
            "INSERT INTO resource_provider_aggregates VALUES (NULL, NULL, 1, 99)",
            "resource_provider_aggregates.aggregate_id names a row of placement_aggregates that does not exist",
            "aggregate_id 99, resource_provider_id 1",
        ),
        (
            "UPDATE consumers SET project_id = 99 WHERE id = 2",
            "consumers.project_id names a row of projects that does not exist",
            "project_id 99, id 2",
        ),
        (
            "UPDATE consumers SET user_id = 99 WHERE id = 2",
            "consumers.user_id names a row of users that does not exist",
            "user_id 99, id 2",
        ),
        (
            "UPDATE consumers SET consumer_type_id = 99 WHERE id = 2",
            "consumers.consumer_type_id names a row of consumer_types that does not exist",
            "consumer_type_id 99, id 2",
        ),
        (
            "UPDATE resource_providers SET parent_provider_id = 99 WHERE id = 3",
            "resource_providers.parent_provider_id names a row of resource_providers that does not exist",
            "parent_provider_id 99, id 3",
        ),
        (
            "UPDATE resource_providers SET root_provider_id = NULL WHERE id = 4",
            "providers without a root",
            "provider four",
        ),
        (
            "UPDATE resource_providers SET root_provider_id = 3 WHERE id = 4",
            "providers without a parent that are not their own root",
            "provider four",
        ),
        (
            "UPDATE resource_providers SET root_provider_id = 4 WHERE id = 3",
            "providers with another root than their parent",
            "provider three",
        ),
        (
            "UPDATE resource_providers SET root_provider_id = 2 WHERE id = 4",
            "providers whose root is not itself a root",
            "provider four",
        ),
        (
            "UPDATE resource_providers SET parent_provider_id = 4 WHERE id = 4",
            "providers that are their own ancestors, or are below such a provider",
            "provider four",
        ),
        (
            "UPDATE resource_providers SET parent_provider_id = 3 WHERE id = 1",
            "providers that are their own ancestors, or are below such a provider",
            "provider three",
        ),
        (
            "UPDATE allocations SET resource_class_id = 1 WHERE id = 3",
            "allocations of a class without an inventory on their provider",
            "consumer vm, provider three, DISK_GB",
        ),
        (
            "UPDATE allocations SET consumer_id = 'vm' WHERE id = 2",
            "consumers with several allocations of one class on one provider",
            "consumer vm, provider one, VCPU",
        ),
        (
            "UPDATE allocations SET used = 0 WHERE id = 3",
            "allocations of less than one unit",
            "consumer vm, provider three, VCPU",
        ),
        (
            "UPDATE plimsoll_head SET seq = 7",
            "the head is not the number of the last change",
            "head 7, last change 6",
        ),
        (
            "INSERT INTO plimsoll_changes (seq, at, operation, effects) VALUES (1, '2026-01-01', 'x', '[]')",
            "the change log has gaps",
            "3 rows from 1 to 6",
        ),
        ("DELETE FROM plimsoll_head", "plimsoll_head has no row", None),
    ],
)
def test_a_violation_is_a_fault_that_names_its_row(
    consistent_db: Database, url: str, statement: str, problem: str, where: str | None
) -> None:
    run_sql(url, statement)
    (finding,) = (finding for finding in findings_of(consistent_db) if finding.problem == problem)
    assert finding.severity == "fault"
    assert where is None or where in finding.where
    assert finding.remedy


@pytest.mark.parametrize("changes", ["", "DELETE FROM plimsoll_changes"])
def test_the_remedy_for_a_missing_head_is_a_statement_that_restores_it(
    consistent_db: Database, url: str, changes: str
) -> None:
    with consistent_db.read() as connection:
        before = read_head(connection)
    run_sql(url, "DELETE FROM plimsoll_head", *([changes] if changes else []))
    (finding,) = findings_of(consistent_db)
    _, statement = finding.remedy.split("run: ")
    run_sql(url, statement)
    assert findings_of(consistent_db) == []
    with locked_write(consistent_db) as connection:
        assert read_head(connection) == (BEGINNING if changes else before)


@pytest.mark.parametrize("used", [8, 9])
def test_usage_above_capacity_is_a_note_and_usage_at_capacity_is_not(
    consistent_db: Database, url: str, used: int
) -> None:
    run_sql(
        url,
        f"UPDATE allocations SET used = {used} WHERE id = 2",
        "UPDATE inventories SET updated_at = '2026-01-02 03:04:05'",
        "UPDATE allocations SET created_at = '2026-02-03 04:05:06', updated_at = NULL",
    )
    findings = findings_of(consistent_db)
    if used == 8:
        assert findings == []
    else:
        (finding,) = findings
        assert finding.severity == "note"
        assert finding.where == (
            "provider one, VCPU: used 17, capacity 16;"
            " inventory changed 2026-01-02 03:04:05, newest allocation 2026-02-03 04:05:06",
        )
        assert "If the newest allocation is later, it was accepted past the capacity" in finding.remedy


def test_many_violations_of_a_kind_are_counted_and_the_first_listed(
    consistent_db: Database, url: str
) -> None:
    run_sql(
        url,
        *(
            f"INSERT INTO allocations VALUES (NULL, NULL, {n}, 1, 'nobody-{n}', 0, 1)"
            for n in range(100, 130)
        ),
    )
    finding = findings_of(consistent_db)[0]
    assert (finding.count, len(finding.where)) == (30, MAX_SHOWN)


def test_the_remedy_for_a_database_without_our_tables_is_to_sync(reference_db: Database) -> None:
    (finding,) = findings_of(reference_db)
    assert (finding.severity, finding.remedy) == ("note", "Run `plimsoll db sync`.")
