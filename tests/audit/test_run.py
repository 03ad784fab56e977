# SPDX-License-Identifier: Apache-2.0

"""Short runs on one SQLite file: four services, then rows changed by direct SQL; and services with workers that are killed."""

import sqlite3
from pathlib import Path

from tests.audit import rows
from tests.audit.auditor import audit
from tests.audit.databases import SQLiteFile
from tests.audit.run import Settings, run


def test_four_services_on_one_file_are_linearizable_and_a_row_changed_by_direct_sql_is_found(
    tmp_path: Path,
) -> None:
    report = run(1, Settings(engine="sqlite", seconds=6), tmp_path, lambda _: None)
    assert [str(finding) for finding in report.findings] == []
    assert {each.service for each in report.operations if each.status == 204} == {0, 1, 2, 3}

    database = SQLiteFile(tmp_path)
    for statement in (
        "DELETE FROM allocations WHERE id = (SELECT max(id) FROM allocations)",
        "UPDATE resource_providers SET generation = generation + 1 WHERE name = 'host-0'",
    ):
        with sqlite3.connect(database.path) as connection:
            assert connection.execute(statement).rowcount == 1
        assert audit(report.operations, rows.read(database.urls()[0])) != []
        connection.close()


def test_two_services_with_two_workers_each_are_linearizable_while_workers_are_killed(tmp_path: Path) -> None:
    settings = Settings(engine="sqlite", seconds=6, kills=True, services=2, workers=2)
    report = run(2, settings, tmp_path, lambda _: None)
    assert [str(finding) for finding in report.findings] == []
    assert any("worker of service" in event for _, event in report.events)
    assert {each.service for each in report.operations if each.status == 204} == {0, 1}
