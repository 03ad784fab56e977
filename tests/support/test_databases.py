# SPDX-License-Identifier: Apache-2.0

"""Which databases tests run on, by choice and by what is installed, and that nothing is left out unsaid."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import databases as on
from tests.support.databases import Databases, run_sql
from tests.support.servers import MariaDB, Missing, PostgreSQL


@pytest.fixture(autouse=True)
def only_mariadb(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no PostgreSQL."""
    monkeypatch.delenv(on.VARIABLE, raising=False)
    monkeypatch.setattr(MariaDB, "missing", lambda: None)
    monkeypatch.setattr(PostgreSQL, "missing", lambda: "initdb is not installed")


def test_without_a_choice_tests_run_on_all_that_is_here() -> None:
    assert on.chosen() == ["sqlite", "mariadb"]
    assert on.left_out() == {"postgresql": "initdb is not installed"}


@pytest.mark.parametrize("choice", ["sqlite", "mariadb"])
def test_one_can_be_chosen(monkeypatch: pytest.MonkeyPatch, choice: str) -> None:
    monkeypatch.setenv(on.VARIABLE, choice)
    assert on.chosen() == [choice]
    assert choice not in on.left_out()
    assert len(on.left_out()) == 2


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ("postgresql", "PLIMSOLL_TEST_DB=postgresql, but initdb is not installed"),
        ("all", "PLIMSOLL_TEST_DB=all, but initdb is not installed"),
        ("oracle", "it is one of sqlite, postgresql, mariadb, or all"),
    ],
)
def test_what_was_asked_for_and_is_not_here_is_no_success(
    monkeypatch: pytest.MonkeyPatch, choice: str, says: str
) -> None:
    monkeypatch.setenv(on.VARIABLE, choice)
    with pytest.raises(Missing, match=says):
        on.chosen()


def test_a_run_says_at_its_end_what_it_did_not_run_on() -> None:
    this_file = Path(__file__)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(this_file), "-k", "one_can_be_chosen"],
        env=os.environ | {on.VARIABLE: "sqlite"},
        cwd=this_file.parents[2],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    assert "run on: sqlite\n" in done.stdout
    assert "not run on mariadb: PLIMSOLL_TEST_DB=sqlite\n" in done.stdout


def test_databases_are_apart_and_a_kind_of_them_is_made_once(databases: Databases) -> None:
    made: list[str] = []

    def make(url: str) -> None:
        made.append(url)
        run_sql(url, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)")

    def count(url: str) -> int:
        with on.connected(url) as connection:
            return len(connection.exec_driver_sql("SELECT * FROM t").all())

    with databases.fresh("with a row", make) as first, databases.fresh("with a row", make) as second:
        run_sql(first, "INSERT INTO t VALUES (2)")
        assert (count(first), count(second)) == (2, 1)
    assert len(made) == 1
