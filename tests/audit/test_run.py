# SPDX-License-Identifier: Apache-2.0

"""A short run of everything: four services on one file, eight clients, and what is changed behind their backs."""

import sqlite3
from pathlib import Path

from tests.audit import rows
from tests.audit.auditor import audit
from tests.audit.databases import SQLiteFile
from tests.audit.run import Settings, run


def test_four_services_on_one_file_answer_as_one_would_and_a_change_behind_their_backs_is_found(
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
