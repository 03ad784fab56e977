# SPDX-License-Identifier: Apache-2.0

"""A database fault at a terminal is one line that names the database, on every engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import make_url

from plimsoll.cli import main

COMMANDS = ("db version", "db sync", "db verify")


def failure(monkeypatch: pytest.MonkeyPatch, url: str, command: str) -> str:
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__CONNECTION", url.replace("$", "$$"))
    done = CliRunner().invoke(main, command.split())
    assert isinstance(done.exception, SystemExit), done.exception
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.output
    return done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_user_without_access_and_a_database_that_is_not_there(
    url: str, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    parts = make_url(url)
    if parts.get_backend_name() == "sqlite":
        pytest.skip("SQLite has neither users nor names of databases")
    stranger = parts.set(username="stranger", password="hush").render_as_string(hide_password=False)
    said = failure(monkeypatch, stranger, command)
    assert "The database does not permit this. To the user 'stranger'" in said
    assert "hush" not in said
    elsewhere = parts.set(database="nowhere").render_as_string(hide_password=False)
    said = failure(monkeypatch, elsewhere, command)
    assert "/nowhere" in said.partition(": There")[0]
    assert "There is no such database." in said


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("sqlite:///{here}", "{here}: The database file cannot be opened."),
        ("sqlite:///{here}/text", "{here}/text: The database failed: (sqlite3.DatabaseError) file is not a database"),
        ("sqlite:////proc/none/x", "/proc/none: No such file or directory"),
        ("sqlite+nope:////x", "[placement_database] connection: sqlite+nope:// names a driver that is not here"),
        ("sqlite+pysqlcipher:////x", "sqlite+pysqlcipher:// names a driver that is not here"),
    ],
)  # fmt: skip
def test_a_file_or_a_driver_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str, says: str
) -> None:
    (tmp_path / "text").write_text("no database" * 1000)
    assert says.format(here=tmp_path) in failure(monkeypatch, name.format(here=tmp_path), command)
