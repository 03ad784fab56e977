# SPDX-License-Identifier: Apache-2.0

"""On every engine, commands print a database fault as one line that names the database."""

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
def test_a_user_without_access_and_a_missing_database(
    url: str, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    parts = make_url(url)
    if parts.get_backend_name() == "sqlite":
        pytest.skip("SQLite has neither users nor names of databases")
    unknown_user = parts.set(username="unknown_user", password="hush").render_as_string(hide_password=False)
    stderr = failure(monkeypatch, unknown_user, command)
    assert "The database does not permit this. To the user 'unknown_user'" in stderr
    assert "hush" not in stderr
    unknown_database = parts.set(database="nowhere").render_as_string(hide_password=False)
    stderr = failure(monkeypatch, unknown_database, command)
    assert "/nowhere" in stderr.partition(": There")[0]
    assert "There is no such database." in stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sqlite:///{here}", "{here}: The database file cannot be opened."),
        ("sqlite:///{here}/text", "{here}/text: The database failed: (sqlite3.DatabaseError) file is not a database"),
        ("sqlite:////proc/none/x", "/proc/none: No such file or directory"),
        ("sqlite+nope:////x", "[placement_database] connection: sqlite+nope:// names a driver that is not available"),
        ("sqlite+pysqlcipher:////x", "sqlite+pysqlcipher:// names a driver that is not available"),
    ],
)  # fmt: skip
def test_an_unusable_file_or_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str, message: str
) -> None:
    (tmp_path / "text").write_text("no database" * 1000)
    assert message.format(here=tmp_path) in failure(monkeypatch, name.format(here=tmp_path), command)
