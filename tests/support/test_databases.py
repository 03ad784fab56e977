# SPDX-License-Identifier: Apache-2.0

"""Selection of the engines that tests run on, and the report of excluded engines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import databases as support_databases
from tests.support.databases import Databases, run_sql
from tests.support.servers import MariaDB, Missing, PostgreSQL


@pytest.fixture(autouse=True)
def only_mariadb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a machine without PostgreSQL."""
    monkeypatch.delenv(support_databases.VARIABLE, raising=False)
    monkeypatch.setattr(MariaDB, "missing", lambda: None)
    monkeypatch.setattr(PostgreSQL, "missing", lambda: "initdb is not installed")


def test_by_default_tests_run_on_all_installed_engines() -> None:
    assert support_databases.selected_engines() == ["sqlite", "mariadb"]
    assert support_databases.excluded_engines() == {"postgresql": "initdb is not installed"}


@pytest.mark.parametrize("choice", ["sqlite", "mariadb"])
def test_one_engine_can_be_selected(monkeypatch: pytest.MonkeyPatch, choice: str) -> None:
    monkeypatch.setenv(support_databases.VARIABLE, choice)
    assert support_databases.selected_engines() == [choice]
    assert choice not in support_databases.excluded_engines()
    assert len(support_databases.excluded_engines()) == 2


def test_one_engine_is_sufficient_unless_all_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(support_databases.ENGINES_VARIABLE, raising=False)
    assert support_databases.sufficient_engines() == ["sqlite"]
    monkeypatch.setenv(support_databases.VARIABLE, "mariadb")
    assert support_databases.sufficient_engines() == ["mariadb"]
    monkeypatch.delenv(support_databases.VARIABLE)
    monkeypatch.setenv(support_databases.ENGINES_VARIABLE, "all")
    assert support_databases.sufficient_engines() == ["sqlite", "mariadb"]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("postgresql", "PLIMSOLL_TEST_DB=postgresql, but initdb is not installed"),
        ("all", "PLIMSOLL_TEST_DB=all, but initdb is not installed"),
        ("oracle", "choose one of sqlite, postgresql, mariadb, or all"),
    ],
)
def test_selecting_an_engine_that_is_not_installed_fails(
    monkeypatch: pytest.MonkeyPatch, choice: str, message: str
) -> None:
    monkeypatch.setenv(support_databases.VARIABLE, choice)
    with pytest.raises(Missing, match=message):
        support_databases.selected_engines()


def test_the_summary_names_the_engines_that_were_not_tested() -> None:
    this_file = Path(__file__)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(this_file), "-k", "one_engine_can_be_selected"],
        env=os.environ | {support_databases.VARIABLE: "sqlite"},
        cwd=this_file.parents[2],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    assert "run on: sqlite\n" in done.stdout
    assert "not run on mariadb: PLIMSOLL_TEST_DB=sqlite\n" in done.stdout


def test_databases_are_separate_and_each_kind_is_prepared_once(databases: Databases) -> None:
    made: list[str] = []

    def make(url: str) -> None:
        made.append(url)
        run_sql(url, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)")

    def count(url: str) -> int:
        with support_databases.open_connection(url) as connection:
            return len(connection.exec_driver_sql("SELECT * FROM t").all())

    with databases.fresh("with a row", make) as first, databases.fresh("with a row", make) as second:
        run_sql(first, "INSERT INTO t VALUES (2)")
        assert (count(first), count(second)) == (2, 1)
    assert len(made) == 1
