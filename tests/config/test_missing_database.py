# SPDX-License-Identifier: Apache-2.0

"""Without `[placement_database] connection` nothing starts; the message has the files that were read and likely misspellings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli import main

ROOT = Path(__file__).parents[2]

COMMANDS = [
    "serve --port 0",
    "db sync",
    "db version",
    "db stamp head",
    "db verify",
    "db online_data_migrations",
]


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, without_settings: None) -> None:
    os.environ["OS_PLACEMENT_CONFIG_DIR"] = str(tmp_path)
    os.environ["OS_DEFAULT__STATE_PATH"] = str(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "placement.conf"
    file.write_text(
        f"[DEFAULT]\ndebug = false\n[placement_databse]\nconnection = sqlite:///{tmp_path}/mine.sqlite\n"
    )
    return file


def plimsoll(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def single_error(done: Result) -> str:
    assert done.exit_code == 1, done.output
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_misspelt_section_fails_every_command_with_a_hint(file: Path, command: str) -> None:
    error = single_error(plimsoll(*command.split()))
    assert error.startswith(
        f"Error: {file}: [placement_database] connection is required, and there is no section [placement_database]."
        f" {file}:3: did you mean [placement_database] by [placement_databse]?"
    )
    assert list(file.parent.glob("*sqlite*")) == [], "no database was made"


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_upgrade_check_does_not_succeed(file: Path, options: tuple[str, ...]) -> None:
    done = plimsoll("status", "upgrade", "check", *options)
    assert done.exit_code == 255
    assert "did you mean [placement_database] by [placement_databse]?" in done.output
    assert "Success" not in done.output


def test_the_configuration_check_reports_a_fault(file: Path) -> None:
    done = plimsoll("config", "check")
    assert done.exit_code == 2
    assert "fault    " in done.stdout
    assert "did you mean [placement_database] by [placement_databse]?" in done.stdout


@pytest.mark.parametrize("command", ["config show", "config sample", "policy list"])
def test_commands_that_need_no_database_run_without_one(file: Path, command: str) -> None:
    assert plimsoll(*command.split()).exit_code == 0


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("[placement_database]\n# connection =\n", "{file}: [placement_database] connection is required, and the section does not set it."),
        ("[placement_database]\nconnection =\n", "{file}: [placement_database] connection is required, and its value is empty."),
        ("[placement_database]\nconection = x\n", "{file}:2: did you mean connection by conection?"),
        ("[database]\nconnection = x\n", "{file}:1: did you mean [placement_database] by [database]?"),
    ],
)  # fmt: skip
def test_the_message_distinguishes_missing_section_option_and_value(
    file: Path, text: str, states: str
) -> None:
    file.write_text(text)
    assert states.format(file=file) in single_error(plimsoll("db", "version"))


def test_without_any_file_the_message_has_the_directories_searched(tmp_path: Path) -> None:
    del os.environ["OS_PLACEMENT_CONFIG_DIR"]
    os.environ["HOME"] = str(tmp_path)
    if Path("/etc/placement/placement.conf").exists():
        pytest.skip("this machine has a placement.conf")
    error = single_error(plimsoll("db", "version"))
    assert error.startswith(
        "Error: No configuration file was found, and [placement_database] connection is required."
    )
    assert "/etc/placement" in error


@pytest.mark.parametrize("name", ["OS_PLACEMENT_DATABASE_CONNECTION", "OS_PLACEMENT_DATABSE__CONNECTION"])
def test_a_misspelt_variable_gets_a_hint(file: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "sqlite:////srv/placement.sqlite")
    hint = f"Did you mean OS_PLACEMENT_DATABASE__CONNECTION by the environment variable {name}?"
    assert hint in single_error(plimsoll("db", "version"))


def test_other_variables_of_the_section_get_no_hint(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__SLAVE_CONNECTION", "sqlite:////srv/placement.sqlite")
    assert "by the environment variable" not in single_error(plimsoll("db", "version"))


def test_the_wsgi_entry_point_raises_the_same_message(file: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "from plimsoll import wsgi; wsgi.load_application()"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=120,
    )
    assert ran.returncode == 1
    assert f"ConfigError: {file}: [placement_database] connection is required" in ran.stdout + ran.stderr
    assert list(file.parent.glob("*sqlite*")) == []
