# SPDX-License-Identifier: Apache-2.0

"""`plimsoll status upgrade check`: each finding has its consequence and the command to run.

tests/as_placement compares `placement-status` with Placement's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.storage import reference
from tests.support.databases import run_sql
from tests.unit.cli.conftest import Run


@pytest.fixture
def url(file: Path) -> str:
    return f"sqlite:///{file}"


def test_a_policy_file_in_json_is_a_failure(run: Run, tmp_path: Path) -> None:
    run("db", "sync")
    policy = tmp_path / "policy.json"
    policy.write_text('{"placement:usages": "@"}')
    settings = tmp_path / "placement.conf"
    settings.write_text(f"[oslo_policy]\npolicy_file = {policy}\n")
    assert checked(run, "--config-file", str(settings))["Policy File JSON to YAML Migration"][0] == 2


def test_checks_that_cannot_run_are_255_and_not_a_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__CONNECTION", "no database at all")
    done = run("status", "upgrade", "check")
    assert (done.exit_code, done.stdout[:7]) == (255, "Error:\n")


def checked(run: Run, *options: str) -> dict[str, tuple[int, str]]:
    """Run the check with --json; return code and details by check."""
    done = run("status", "upgrade", "check", "--json", *options)
    results: list[dict[str, Any]] = json.loads(done.stdout)["checks"]
    assert done.exit_code == max(result["result"] for result in results)
    return {result["check"]: (result["result"], result["details"]) for result in results}


def test_a_valid_database_passes_all_checks(run: Run) -> None:
    run("db", "sync")
    found = checked(run)
    assert {code for code, _ in found.values()} == {0}
    assert list(found) == [
        *("Settings", "Database", "Placement Schema", "Plimsoll Tables"),
        *("Missing Root Provider IDs", "Incomplete Consumers", "Contradicting Rows", "Capacity", "Names"),
        *("Size", "Change Log", "Policy File JSON to YAML Migration"),
    ]
    assert found["Database"][1].startswith("SQLite 3.")
    assert "It is at revision a082b8bb98d0" in found["Placement Schema"][1]


def test_an_empty_database_is_no_obstacle(run: Run) -> None:
    found = checked(run)
    assert found["Placement Schema"] == (0, "The database is empty. `plimsoll db sync` creates every table.")
    assert found["Plimsoll Tables"][0] == 0
    assert "Size" not in found


def test_the_check_changes_nothing(run: Run, url: str, file: Path) -> None:
    reference.manage(url, "db", "sync")
    reference.fill(url)
    before = file.read_bytes()
    checked(run)
    assert file.read_bytes() == before


def test_incomplete_rows_of_the_reference_are_reported_with_the_command_to_run(run: Run, url: str) -> None:
    reference.manage(url, "db", "sync")
    reference.fill(url)

    found = checked(run)

    assert found["Missing Root Provider IDs"][0] == 2
    assert found["Missing Root Provider IDs"][1].startswith(
        "11 providers without a root: no response shows them"
    )
    assert found["Incomplete Consumers"][0] == 1
    assert found["Incomplete Consumers"][1].startswith("7 consumers without a record")
    for check in ("Missing Root Provider IDs", "Incomplete Consumers"):
        assert "Run `plimsoll db online_data_migrations`" in found[check][1]
    assert found["Contradicting Rows"] == (0, "No row contradicts another.")
    assert "`plimsoll db sync` adds plimsoll_alembic_version, plimsoll_changes" in found["Plimsoll Tables"][1]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE alembic_version SET version_num = 'ffffffffffff'", "belongs to another service"),
        ("DROP TABLE users", "these tables are missing: users"),
        ("DELETE FROM alembic_version", "`plimsoll db stamp a082b8bb98d0`"),
    ],
)
def test_a_schema_that_cannot_be_taken_over_is_a_failure(
    run: Run, url: str, statement: str, expected: str
) -> None:
    reference.manage(url, "db", "sync")
    reference.fill(url)
    run_sql(url, statement)
    code, details = checked(run)["Placement Schema"]
    assert code == 2
    assert expected in details
    assert run("db", "sync").exit_code == 1, "sync refuses what the check calls a failure"


@pytest.mark.parametrize(
    ("revision", "code", "expected"),
    [("0001", 0, "`plimsoll db sync` upgrades them to"), ("9999", 2, "is newer than this release supports")],
)
def test_the_revision_of_our_own_tables_is_reported(
    run: Run, url: str, revision: str, code: int, expected: str
) -> None:
    run("db", "sync")
    run_sql(url, f"UPDATE plimsoll_alembic_version SET version_num = '{revision}'")
    found = checked(run)["Plimsoll Tables"]
    assert found[0] == code
    assert expected in found[1]


def test_rows_that_contradict_each_other_are_summarised(run: Run, url: str) -> None:
    run("db", "sync")
    reference.fill(url)
    run_sql(url, "UPDATE allocations SET resource_provider_id = 99 WHERE consumer_id = 'consumer-3'")
    code, details = checked(run)["Contradicting Rows"]
    assert code == 1
    assert details.startswith(
        "allocations.resource_provider_id names a row of resource_providers that does not exist (2 times)"
    )
    assert "Run `plimsoll db verify`" in details


def test_a_provider_with_more_used_than_its_capacity_is_a_note(run: Run, url: str) -> None:
    run("db", "sync")
    reference.fill(url)
    run_sql(url, "UPDATE inventories SET total = 8 WHERE resource_provider_id = 1")
    code, details = checked(run)["Capacity"]
    assert code == 0
    assert "provider provider-1, VCPU: used 14, capacity 12; inventory changed" in details


def test_a_provider_without_a_name_is_a_failure(run: Run, url: str) -> None:
    run("db", "sync")
    reference.fill(url)
    run_sql(url, "UPDATE resource_providers SET name = NULL WHERE id IN (3, 4)")
    code, details = checked(run)["Names"]
    assert code == 2
    assert details.startswith("Providers without a name: provider-3, provider-4.")


def test_rows_that_no_worker_could_load_are_a_failure(run: Run, url: str) -> None:
    run("db", "sync")
    reference.fill(url)
    run_sql(url, "UPDATE inventories SET created_at = 'once upon a time' WHERE resource_provider_id = 12")
    code, details = checked(run)["Size"]
    assert code == 2
    assert details.startswith("The rows cannot be loaded into memory, so no worker can start")


def test_the_size_of_the_cloud_and_of_a_worker_is_reported(run: Run, url: str) -> None:
    run("db", "sync")
    reference.fill(url)
    details = checked(run)["Size"][1]
    assert details.startswith("12 providers with 12 inventories, which a worker reads in ")
    assert "0 consumers with 14 allocations, which stay in the database" in details
    assert "A worker needs about 75 MB of memory" in details


SETTINGS = """
[DEFAULT]
debug = true
transport_url = rabbit://
[api]
auth_strategy = noauth2
[placement]
allocation_conflict_retry_count = 3
[placement_database]
slave_connection = mysql://secret
max_pool_size = 3
max_pool_sise = 3
[keystone_authtoken]
username = placement
[plimsoll]
causal_raeds = false
[neutron]
region_name = one
"""


def test_settings_with_another_effect_or_none_are_listed(run: Run, tmp_path: Path) -> None:
    run("db", "sync")
    settings = tmp_path / "placement.conf"
    settings.write_text(SETTINGS)

    code, details = checked(run, "--config-file", str(settings))["Settings"]

    assert code == 1
    listed = [setting.partition(": ")[0] for setting in details.partition("or none. ")[2].split("; [")]
    assert [f"[{place.removeprefix('[')}" for place in listed] == [
        "[placement] allocation_conflict_retry_count",
        "[placement_database] slave_connection",
        "[api] auth_strategy = noauth2",
        "[DEFAULT] transport_url",
        "[placement_database] max_pool_sise",
        "[plimsoll] causal_raeds",
        "[neutron]",
    ]
    assert "secret" not in details


def test_settings_without_effect_are_no_warning(run: Run, tmp_path: Path) -> None:
    run("db", "sync")
    settings = tmp_path / "placement.conf"
    settings.write_text("[placement]\nallocation_conflict_retry_count = 3\n[glance]\nregion_name = one\n")
    code, details = checked(run, "--config-file", str(settings))["Settings"]
    assert code == 0
    assert "there is nothing to retry; [glance]: no such section" in details


def test_writes_that_are_not_in_the_change_log_are_a_warning(run: Run, url: str) -> None:
    run("db", "sync")
    reference.fill(url)
    run("db", "online_data_migrations")
    assert checked(run)["Change Log"] == (0, "No other program has written since Plimsoll's last change.")
    run_sql(
        url, "UPDATE resource_providers SET generation = 9, updated_at = '2126-01-02 03:04:05' WHERE id = 1"
    )
    code, details = checked(run)["Change Log"]
    assert code == 1
    assert "its newest row is of 2126-01-02 03:04:05" in details
    assert "Stop Placement and run `plimsoll db sync`" in details
