# SPDX-License-Identifier: Apache-2.0

"""Every command has help with an example, options for settings, and errors in one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import plimsoll
from plimsoll.cli import main
from tests.unit.cli.conftest import Run


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(child, (*path, name))


def test_there_are_commands() -> None:
    assert {("serve",), ("db", "sync"), ("policy", "check"), ("status", "upgrade", "check")} <= {
        *commands(main)
    }


@pytest.mark.parametrize("path", list(commands(main)), ids=" ".join)
def test_every_command_has_help_with_an_example_that_names_it(run: Run, path: tuple[str, ...]) -> None:
    shown = run(*path, "--help")
    assert shown.exit_code == 0
    _, found, example = shown.stdout.partition("Example")
    assert found
    assert "plimsoll " + " ".join(path) in example


def test_the_version_is_the_package_s(run: Run) -> None:
    assert run("--version").stdout == f"plimsoll {plimsoll.__version__}\n"


@pytest.mark.parametrize("place", ["before", "after"])
def test_settings_may_be_named_before_and_after_the_command(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.delenv("OS_PLACEMENT_DATABASE__CONNECTION")
    settings = tmp_path / "placement.conf"
    settings.write_text(f"[placement_database]\nconnection = sqlite:///{file}\n")
    option = ("--config-file", str(settings))

    done = run(*option, "db", "sync") if place == "before" else run("db", "sync", *option)

    assert (done.exit_code, done.output) == (0, "")
    assert file.exists()


def test_later_files_override_earlier_ones(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OS_PLACEMENT_DATABASE__CONNECTION")
    first, second = tmp_path / "first.conf", tmp_path / "second.conf"
    first.write_text(f"[placement_database]\nconnection = sqlite:///{tmp_path}/first.sqlite\n")
    second.write_text(f"[placement_database]\nconnection = sqlite:///{tmp_path}/second.sqlite\n")
    run("--config-file", str(first), "db", "sync", "--config-file", str(second))
    assert not (tmp_path / "first.sqlite").exists()
    assert (tmp_path / "second.sqlite").exists()


def test_the_error_names_a_missing_file(run: Run) -> None:
    done = run("db", "sync", "--config-file", "nowhere.conf")
    assert done.exit_code == 2
    assert "'nowhere.conf' does not exist" in done.stderr


def test_an_invalid_setting_is_reported_with_its_place(run: Run, tmp_path: Path) -> None:
    settings = tmp_path / "placement.conf"
    settings.write_text("[placement_database]\nmax_retries = often\n")
    done = run("db", "version", "--config-file", str(settings))
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: ")
    assert str(settings) in done.stderr
    assert "[placement_database] max_retries" in done.stderr


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite://", "in memory"),
        ("oracle://x/y", "oracle databases are not supported"),
        ("sqlite:////proc/nothing/here.sqlite", "/proc/nothing"),
    ],
)
@pytest.mark.parametrize("command", ["sync", "version"])
def test_a_database_that_cannot_be_used_is_one_line_and_no_traceback(
    run: Run, monkeypatch: pytest.MonkeyPatch, url: str, expected: str, command: str
) -> None:
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__CONNECTION", url)
    done = run("db", command)
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: ")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_that_is_no_database_is_one_line_and_no_traceback(run: Run, file: Path) -> None:
    file.write_text("this is not a database, and long enough for SQLite to look at its first page" * 50)
    done = run("db", "sync")
    assert done.exit_code == 1
    assert (
        done.stderr == f"Error: {file}: The database failed: (sqlite3.DatabaseError) file is not a database\n"
    )
